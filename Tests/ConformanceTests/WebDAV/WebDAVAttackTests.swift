#if os(Linux)
    import Foundation
    import HTTPParser
    import TestSupport
    import Testing
    import URLClient

    /// XML that is made to cost a server much. Each has to be refused for next to nothing: the
    /// bounds here are far above what it costs, and far below what it would.
    @Suite("httpkit serve --webdav against hostile XML", .fewAtOnce, .overTLSToo)
    struct WebDAVAttackTests {
        private static func propfind(_ content: String) -> String {
            "<propfind xmlns=\"DAV:\"><prop>\(content)</prop></propfind>"
        }

        private static var expansion: String {
            var text = "<!DOCTYPE a [<!ENTITY e0 \"0123456789\">"
            for level in 1...20 {
                text += "<!ENTITY e\(level) \"\(String(repeating: "&e\(level - 1);", count: 10))\">"
            }
            return text + "]>" + propfind("<p>&e20;</p>")
        }

        private static var deep: String {
            propfind(
                String(repeating: "<a>", count: 10_000) + String(repeating: "</a>", count: 10_000))
        }

        /// Each escape comes as a piece of text of its own.
        private static var pieces: String {
            propfind("<p>" + String(repeating: "&amp;", count: 200_000) + "</p>")
        }

        /// Each property could have to declare all that stands around it.
        private static var declarations: String {
            let names = (0..<60).map { " xmlns:p\($0)=\"urn:\($0)\"" }.joined()
            let properties = String(repeating: "<p0:x/>", count: 9_000)
            return "<D:propertyupdate xmlns:D=\"DAV:\"\(names)><D:set\(names)><D:prop\(names)>"
                + properties + "</D:prop></D:set></D:propertyupdate>"
        }

        private static var attributes: String {
            propfind("<p " + (0..<50_000).map { "a\($0)=\"\"" }.joined(separator: " ") + "/>")
        }

        @Test func eachIsRefusedCheaply() async throws {
            let folder = try Folder()
            try folder.write("secret", to: "secret")
            let server = try await ServeProcess(folder, ["--webdav", "/dav"])
            let external = "<!DOCTYPE a [<!ENTITY x SYSTEM \"file://\(folder.path)/secret\">]>"
            let attacks = [
                ("expansion", HTTPMethod.propfind, Self.expansion, [400]),
                ("external", .propfind, external + Self.propfind("<p>&x;</p>"), [400]),
                ("deep", .propfind, Self.deep, [413]),
                ("pieces", .propfind, Self.pieces, [207]),
                ("attributes", .propfind, Self.attributes, [413, 400]),
                ("declarations", .proppatch, Self.declarations, [207, 507]),
            ]
            _ = try await server.get("/")
            let start = try ProcessCost(server.pid)
            for (name, method, content, statuses) in attacks {
                let before = try ProcessCost(server.pid)
                let answer = try await server.send(
                    method, "/dav/", ["Depth": "0"], body: .text(content))
                #expect(
                    statuses.contains(Int(answer.status.code)),
                    "\(name): \(answer.text.prefix(300))")
                #expect(!answer.text.contains("secret"))
                let after = try ProcessCost(server.pid)
                #expect(after.seconds - before.seconds < 10, "\(name)")
                Self.report(name, before, after)
            }
            let end = try ProcessCost(server.pid)
            #expect(end.kibibytes - start.kibibytes < (64 << 10) + Sanitizers.memory)
        }

        @Test("Document types that are refused leave nothing behind")
        func documentTypesAreFreed() async throws {
            let server = try await ServeProcess(try Folder(), ["--webdav", "/dav"])
            let client = TestClient(port: server.port)
            let content = "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>"
            func refuse(_ times: Int) async throws {
                for _ in 0..<times {
                    let answer = try await client.send(
                        .propfind, "/dav/", body: .bytes(Array(content.utf8)))
                    #expect([400, 403].contains(answer.status.code))
                }
            }
            try await refuse(200)
            let start = try ProcessCost(server.pid)
            try await refuse(2_000)
            // A document of the library is 12 KiB.
            let end = try ProcessCost(server.pid)
            #expect(end.kibibytes - start.kibibytes < (8 << 10) + Sanitizers.memory)
        }

        @Test(arguments: [[], ["-H", "Expect:"], ["-H", "Transfer-Encoding: chunked"]])
        func ahundredMebibytesAreNotRead(_ fields: [String]) async throws {
            let place = try Folder()
            try place.write("", to: "large")
            let handle = try FileHandle(forWritingTo: place.file("large"))
            try handle.truncate(atOffset: 100 << 20)
            let server = try await ServeProcess(try Folder(), ["--webdav", "/dav"])
            _ = try await server.get("/")
            for method in ["PROPFIND", "PROPPATCH", "LOCK", "MKCOL"] {
                let before = try ProcessCost(server.pid)
                let answer = try await Program.run(
                    "curl",
                    ["-s", "-m", "110", "-X", method, "-T", place.path + "/large"] + fields
                        + ["-w", "%{http_code}", "-o", "/dev/null", server.url("/dav/x")])
                #expect(answer.text == "413", "\(method)")
                let after = try ProcessCost(server.pid)
                #expect(after.seconds - before.seconds < 5, "\(method)")
                #expect(after.kibibytes - before.kibibytes < 64 << 10, "\(method)")
                Self.report("100 MiB \(method) \(fields)", before, after)
            }
        }

        /// With `WEBDAV_COSTS` in the environment, what each has cost.
        private static func report(_ name: String, _ before: ProcessCost, _ after: ProcessCost) {
            guard ProcessInfo.processInfo.environment["WEBDAV_COSTS"] != nil else { return }
            let seconds = after.seconds - before.seconds
            print("\(name): \(seconds) s, \(after.kibibytes - before.kibibytes) KiB")
        }
    }

    /// What a process has cost so far.
    struct ProcessCost {
        /// Of all processors.
        var seconds: Double
        /// The most memory at one time.
        var kibibytes: Int

        init(_ pid: CInt) throws {
            let stat = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
            let numbers = stat.split(separator: ")").last?.split(separator: " ") ?? []
            let ticks = [11, 12].compactMap { numbers.count > $0 ? Double(numbers[$0]) : nil }
            seconds = ticks.reduce(0, +) / Double(sysconf(CInt(_SC_CLK_TCK)))
            let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
            let peak = status.firstMatch(of: /VmHWM:\s*([0-9]+)/).flatMap { Int($0.output.1) }
            kibibytes = peak ?? 0
        }
    }
#endif
