#if os(Linux)
    import HTTPParser
    import TestSupport
    import Testing
    import ToolkitSystem
    import URLClient

    @Suite(
        "RFC 7616: password guesses from one address",
        .enabled("this user may not make networks") { await NetworkNamespace.isAllowed() })
    struct LockOutTests {
        /// Guesses from the loopback address are not delayed, because all programs of the machine
        /// share it.
        @Test(
            "The tests of guesses pass in a separate network namespace",
            .enabled(if: !NetworkNamespace.isInside))
        func inNamespace() async throws {
            let result = try await NetworkNamespace.run(
                "GuessingAddressTests", preparation: "ip addr add 192.0.2.1/32 dev lo")
            #expect(result.status == 0, "\(result.text)\(result.complaints)")
            #expect(result.complaints.contains("1 test in 1 suite passed"), "\(result.complaints)")
        }
    }

    @Suite(
        "Logins during password guesses",
        .enabled(if: NetworkNamespace.isInside), .timeLimit(.minutes(3)))
    struct GuessingAddressTests {
        private func login(
            _ server: ServeProcess, _ user: String, times: Int = 1
        ) async throws -> [Substring] {
            let url = "http://192.0.2.1:\(server.port)/f.txt"
            let result = try await Program.run(
                "curl",
                ["-sS", "-m", "110", "-Z", "--parallel-max", "50", "--digest", "-u", user]
                    + ["-w", "%{http_code}\\n"]
                    + Array(repeating: ["-o", "/dev/null", url], count: times).joined())
            return result.text.split(separator: "\n")
        }

        @Test("Digest: wrong guesses delay only later guesses for the same user, not known users")
        func digest() async throws {
            let folder = try Folder()
            try folder.write("content\n", to: "f.txt")
            let server = try await ServeProcess(
                folder,
                ["--host", "192.0.2.1", "--auth", "digest"]
                    + ["ann:a", "bob:b", "cleo:c"].flatMap { ["--user", $0] })
            // Each curl logs in again; this session keeps using the nonce of its login.
            let session = ClientSession()
            let known = "http://ann:a@192.0.2.1:\(server.port)/f.txt"
            #expect(try await session.get(known).status == .ok)
            for number in 0..<12 {
                #expect(try await login(server, "ann:wrong\(number)") == ["401"])
            }
            #expect(try await login(server, "bob:b") == ["200"])
            #expect(try await login(server, "ann:a") == ["200"])
            // So many at a time that ten wait, a second each, and no more may wait.
            let isOver = Locked(false)
            async let flood = {
                defer { isOver.withLock { $0 = true } }
                return try await login(server, "ann:wrong", times: 40)
            }()
            repeat {
                #expect(try await login(server, "cleo:c") == ["200"])
                #expect(try await session.get(known).status == .ok)
            } while !isOver.withLock { $0 }
            let answers = try await flood
            #expect(answers.count == 40 && Set(answers) == ["401", "429"])
        }
    }
#endif
