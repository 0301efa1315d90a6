#if os(Linux)
    import HTTPParser
    import TestSupport
    import Testing
    import ToolkitSystem
    import URLClient

    @Suite(
        "RFC 7616: guesses from one address",
        .enabled("this user may not make networks") { await NetworkNamespace.isAllowed() })
    struct LockOutTests {
        /// On the loopback address, which all programs of the machine share, guesses are not slowed.
        @Test("In a network of their own", .enabled(if: !NetworkNamespace.isInside))
        func inNamespace() async throws {
            let result = try await NetworkNamespace.run(
                "GuessingAddressTests", preparation: "ip addr add 192.0.2.1/32 dev lo")
            #expect(result.status == 0, "\(result.text)\(result.complaints)")
            #expect(result.complaints.contains("1 test in 1 suite passed"), "\(result.complaints)")
        }
    }

    @Suite(
        "Logins beside guesses", .enabled(if: NetworkNamespace.isInside), .timeLimit(.minutes(3)))
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

        @Test("Digest: wrong answers hold up guesses for that user alone, and no known user")
        func digest() async throws {
            let folder = try Folder()
            try folder.write("content\n", to: "f.txt")
            let server = try await ServeProcess(
                folder,
                ["--host", "192.0.2.1", "--auth", "digest"]
                    + ["ann:a", "bob:b", "cleo:c"].flatMap { ["--user", $0] })
            // Each curl logs in anew; this session goes on with the nonce by which it has logged in.
            let session = ClientSession()
            let known = "http://ann:a@192.0.2.1:\(server.port)/f.txt"
            #expect(try await session.get(known).status == .ok)
            for number in 0..<12 {
                #expect(try await login(server, "ann:wrong\(number)") == ["401"])
            }
            #expect(try await login(server, "bob:b") == ["200"])
            #expect(try await login(server, "ann:a") == ["200"])
            // So many at a time that ten wait for their turn, a second each, and no more may.
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
