#if os(Linux)
    import Foundation
    import HTTPParser
    import TestSupport
    import Testing
    import URLClient

    /// XML that is meant to cost a server much. It must be refused or handled cheaply: the limits
    /// here are far above the real cost, and far below the cost without protection.
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

        /// The parser reports each escape as a separate piece of text.
        private static var pieces: String {
            propfind("<p>" + String(repeating: "&amp;", count: 200_000) + "</p>")
        }

        /// Each property could need all declarations of the elements around it.
        private static var declarations: String {
            let names = (0..<60).map { " xmlns:p\($0)=\"urn:\($0)\"" }.joined()
            let properties = String(repeating: "<p0:x/>", count: 9_000)
            return "<D:propertyupdate xmlns:D=\"DAV:\"\(names)><D:set\(names)><D:prop\(names)>"
                + properties + "</D:prop></D:set></D:propertyupdate>"
        }

        /// Without protection, each property needs a search in all prefixes around it, some 180 KB.
        private static var longDeclarations: String {
            func declarations(_ first: String) -> String {
                (0..<60).map { number in
                    let start = "\(first)\(number)"
                    let prefix = start + String(repeating: "x", count: 1_000 - start.count)
                    return " xmlns:\(prefix)=\"u:\""
                }.joined()
            }
            let properties = String(repeating: "<a/>", count: 9_900)
            return "<D:propertyupdate xmlns:D=\"DAV:\"\(declarations("p"))>"
                + "<D:set\(declarations("q"))><D:prop\(declarations("r"))>" + properties
                + "</D:prop></D:set></D:propertyupdate>"
        }

        /// Without protection, each condition needs a search for locks on all collections of a long
        /// path.
        private static var manyConditions: HTTPFields {
            let list = "(" + String(repeating: "Not<a>", count: 255) + "<b>)"
            return ["Lock-Token": "<urn:a>", "If": String(repeating: list, count: 5)]
        }

        private static var longPath: String { "/dav" + String(repeating: "/a", count: 2_000) }

        private static var lockInfo: String {
            "<lockinfo xmlns=\"DAV:\"><lockscope><exclusive/></lockscope><locktype><write/>"
                + "</locktype></lockinfo>"
        }

        private struct Attack {
            var name: String
            var method: HTTPMethod
            var path = "/dav/"
            var fields: HTTPFields = ["Depth": "0"]
            var content = ""
            var statuses: [Int]
            /// The limit of processor time.
            var seconds = 10.0
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
                Attack(
                    name: "expansion", method: .propfind, content: Self.expansion, statuses: [400]),
                Attack(
                    name: "external", method: .propfind,
                    content: external + Self.propfind("<p>&x;</p>"), statuses: [400]),
                Attack(name: "deep", method: .propfind, content: Self.deep, statuses: [413]),
                Attack(name: "pieces", method: .propfind, content: Self.pieces, statuses: [207]),
                Attack(
                    name: "attributes", method: .propfind, content: Self.attributes,
                    statuses: [413, 400]),
                Attack(
                    name: "declarations", method: .proppatch, content: Self.declarations,
                    statuses: [207, 507]),
                Attack(
                    name: "long declarations", method: .proppatch, content: Self.longDeclarations,
                    statuses: [207, 507], seconds: 2),
                Attack(
                    name: "conditions", method: .unlock, path: Self.longPath,
                    fields: Self.manyConditions, statuses: [412], seconds: 2),
            ]
            _ = try await server.get("/")
            // Without a lock there would be no search.
            #expect(try await server.status(.lock, "/dav/lock", body: .text(Self.lockInfo)) == 201)
            let start = try ProcessCost(server.pid)
            for attack in attacks {
                let before = try ProcessCost(server.pid)
                let answer = try await server.send(
                    attack.method, attack.path, attack.fields,
                    body: attack.content.isEmpty ? .none : .text(attack.content))
                #expect(
                    attack.statuses.contains(Int(answer.status.code)),
                    "\(attack.name): \(answer.status) \(answer.text.prefix(300))")
                #expect(!answer.text.contains("secret"))
                let after = try ProcessCost(server.pid)
                #expect(after.seconds - before.seconds < attack.seconds, "\(attack.name)")
                Self.report(attack.name, before, after)
            }
            let end = try ProcessCost(server.pid)
            #expect(end.kibibytes - start.kibibytes < (64 << 10) + Sanitizers.memory)
        }

        /// Without protection, each member needs a comparison with each name.
        @Test("Unknown property names in a PROPFIND cost little time")
        func unknownNamesCostALittle() async throws {
            let folder = try Folder()
            let script = "seq 20000 | xargs touch"
            #expect(try await Program.run("sh", ["-c", script], folder: folder.path).status == 0)
            let server = try await ServeProcess(folder, ["--webdav", "/dav"])
            let fields: HTTPFields = ["Depth": "1", "Prefer": "return=minimal"]
            func cost(_ count: Int) async throws -> Double {
                let content = Self.propfind((0..<count).map { "<n\($0)/>" }.joined())
                let before = try ProcessCost(server.pid)
                let answer = try await server.send(.propfind, "/dav/", fields, body: .text(content))
                #expect(answer.status.code == 207)
                return try ProcessCost(server.pid).seconds - before.seconds
            }
            _ = try await cost(1)
            let (few, many) = (try await cost(1), try await cost(9_900))
            #expect(many < 3 * few + 1.5, "\(few) s with one name, \(many) s with 9,900")
        }

        @Test("Memory of refused document types is released")
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

        /// With `WEBDAV_COSTS` in the environment, prints the cost of each.
        private static func report(_ name: String, _ before: ProcessCost, _ after: ProcessCost) {
            guard ProcessInfo.processInfo.environment["WEBDAV_COSTS"] != nil else { return }
            let seconds = after.seconds - before.seconds
            print("\(name): \(seconds) s, \(after.kibibytes - before.kibibytes) KiB")
        }
    }

    /// The cost of a process so far.
    struct ProcessCost {
        /// Processor time, on all processors.
        var seconds: Double
        /// Peak memory.
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
