import Foundation
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("httpkit fetch: flags of curl", .fewAtOnce, .timeLimit(.minutes(3)))
struct FetchCurlFlagTests {
    private static func fetch(
        _ arguments: String..., environment: [String: String]? = nil, folder: String? = nil
    ) async throws -> Program.Result {
        try await Program.run(
            Program.httpkit, ["fetch", "--timeout", "110"] + arguments, environment: environment,
            folder: folder)
    }

    /// A server that records the methods of requests: `/busy/N` responds with 503 to N requests,
    /// `/seen` with some fields of the request, `/take` with the length of its content.
    private struct Site {
        let server: HTTPServer
        let base: String
        let requests = ServerLog<String>()

        init(host: String = "127.0.0.1") async throws {
            var router = Router()
            let requests = requests
            router.on(nil, "/busy/:count") { request in
                requests.add(request.method.name)
                let count = Int(request.parameters["count"] ?? "") ?? 0
                guard requests.entries.count > count else {
                    return Response(.serviceUnavailable, fields: ["Retry-After": "0"])
                }
                return .text("content\n")
            }
            router.on(nil, "/seen") { request in
                requests.add(request.method.name)
                let names: [HTTPFieldName] = [.userAgent, .cookie, .range, .acceptEncoding]
                return .text(names.map { "\($0)=\(request.fields[$0] ?? "-")\n" }.joined())
            }
            router.on(nil, "/take") { request in
                let content = try await request.body.collect(upTo: 16 << 20)
                return Response(.ok, body: .text("\(content.count)\n"))
            }
            router.get("/set") { _ in
                Response(.found, fields: [.location: "/seen", "Set-Cookie": "new=1"])
            }
            router.get("/away") { request in
                .redirect(to: "http://localhost:\(request.local.port ?? 0)/seen")
            }
            server = HTTPServer(ServerConfiguration(host: host, port: 0), handler: router)
            try await server.start()
            base = "http://127.0.0.1:\(try #require(server.addresses.first?.port))"
        }
    }

    @Test("-I sends HEAD and prints the head, with -o to a file")
    func head() async throws {
        let site = try await Site()
        let folder = try Folder()
        let head = try await Self.fetch("-vI", site.base + "/seen")
        #expect(head.status == 0 && head.complaints.contains("> HEAD /seen HTTP/1.1\n"))
        #expect(head.text.hasPrefix("HTTP/1.1 200 OK\r\n") && head.text.hasSuffix("\r\n\r\n"))
        let path = folder.file("head").path
        let file = try await Self.fetch("-sI", "-o", path, site.base + "/none")
        #expect(file.status == 22 && file.output.isEmpty && file.complaints.isEmpty)
        #expect(folder.text("head").hasPrefix("HTTP/1.1 404 Not Found\r\n"))
        await site.server.shutdown()
    }

    @Test("--limit-rate limits downloads and uploads; 0 means no limit")
    func rate() async throws {
        let (bin, site) = (try await BinProcess(), try await Site())
        let folder = try Folder()
        // At 40k the short content takes more than four seconds. The long content would take longer
        // than a program may run in this test, so with 0 it arrives only without a limit.
        for (rate, size, seconds) in [("40k", 200_000, 2.5), ("0", 6_000_000, nil)]
            as [(String, Int, Double?)]
        {
            try folder.write([UInt8](repeating: 0x61, count: size), to: "f")
            // The response to an upload is short, so its rate does not matter.
            let sending = ["-T", folder.file("f").path, "\(site.base)/take"]
            for arguments in [["\(bin.base)/bytes/\(size)"], sending] {
                let start = ContinuousClock.now
                let result = try await Program.run(
                    Program.httpkit, ["fetch", "--limit-rate", rate] + arguments)
                let time = start.duration(to: .now)
                #expect(result.status == 0, "\(rate) \(arguments): \(result.complaints)")
                if arguments == sending {
                    #expect(result.text == "\(size)\n")
                } else {
                    #expect(result.output.count == size)
                }
                if let seconds { #expect(time >= .seconds(seconds), "\(arguments)") }
            }
        }
        let wrong = try await Self.fetch("--limit-rate", "1x", bin.base)
        #expect(wrong.status == 64)
        await site.server.shutdown()
    }

    @Test("-v shows the heads of requests and responses, but not their content")
    func verbose() async throws {
        let site = try await Site()
        let result = try await Self.fetch("-v", site.base + "/seen")
        #expect(result.status == 0 && result.text.hasPrefix("User-Agent=httpkit/"))
        for line in ["> GET /seen HTTP/1.1\n", "< HTTP/1.1 200 OK\n", "* "] {
            #expect(result.complaints.contains(line), "\(result.complaints)")
        }
        #expect(
            result.complaints.split(separator: "\n").allSatisfy { line in
                ["* ", "> ", "< "].contains { line.hasPrefix($0) }
            })
        let redirected = try await Self.fetch("-v", site.base + "/set")
        #expect(
            redirected.complaints.contains("> GET /set ")
                && redirected.complaints.contains("> GET /seen "))
        let post = try await Self.fetch("-v", "-d", "secret content", site.base + "/seen")
        #expect(post.complaints.contains("> POST /seen "))
        #expect(!post.complaints.contains("secret content"))
        await site.server.shutdown()
    }

    @Test("-s hides messages, and -sS shows them")
    func silent() async throws {
        let refused = "http://127.0.0.1:1/"
        for (flags, isShown) in [(["-s"], false), (["-sS"], true), ([], true)] {
            let result = try await Program.run(
                Program.httpkit, ["fetch", refused] + flags)
            #expect(result.status == 7 && result.complaints.isEmpty == !isShown)
        }
    }

    @Test("Short flags can be joined as in curl: -sSLo FILE, -XPOST, -HName:value")
    func joined() async throws {
        let site = try await Site()
        let folder = try Folder()
        let path = folder.file("f").path
        let result = try await Self.fetch(
            "-sSLo", path, "-XPUT", "-HUser-Agent: own", "-bk=v", "-r0-9", site.base + "/seen")
        #expect(result.status == 0, "\(result.complaints)")
        #expect(folder.text("f").hasPrefix("User-Agent=own\nCookie=k=v\nRange=bytes=0-9\n"))
        #expect(site.requests.entries == ["PUT"])
        await site.server.shutdown()
    }

    @Test("-A and -r set fields of the request")
    func fields() async throws {
        let site = try await Site()
        let named = try await Self.fetch("-A", "own/1", "-r", "0-3,-5", site.base + "/seen")
        #expect(
            named.text == "User-Agent=own/1\nCookie=-\nRange=bytes=0-3,-5\nAccept-Encoding=-\n")
        let nameless = try await Self.fetch("-A", "", site.base + "/seen")
        #expect(nameless.text.hasPrefix("User-Agent=-\n"))
        for range in ["", "a-b", "1", "-", "1-2-3", "1-2,", "0x1-2"] {
            #expect(try await Self.fetch("-r", range, site.base).status == 64)
        }
        await site.server.shutdown()
    }

    @Test("-b: cookies of the command line are sent only to the URL's host, with the server's")
    func cookies() async throws {
        let site = try await Site(host: "localhost")
        let folder = try Folder()
        let jar = folder.file("jar").path
        let sent = try await Self.fetch("-b", "a=1; b=2", "-c", jar, site.base + "/set")
        #expect(sent.text.contains("Cookie=a=1; b=2; new=1\n"), "\(sent.text)\(sent.complaints)")
        let kept = folder.text("jar")
        #expect(kept.contains("\tnew\t1") && !kept.contains("\ta\t"), "\(kept)")
        let away = try await Self.fetch("-b", "a=1", site.base + "/away")
        #expect(away.text.contains("Cookie=-\n"), "\(away.text)")
        let file = try await Self.fetch("-b", jar, site.base + "/seen")
        #expect(file.text.contains("Cookie=new=1\n"))
        #expect(folder.text("jar") == kept)
        // A folder cannot be read as a file of cookies.
        for flag in ["-b", "-c"] {
            let unreadable = try await Self.fetch(flag, folder.path, site.base + "/seen")
            #expect(unreadable.status == 26 && unreadable.text.isEmpty)
            #expect(unreadable.complaints.contains("cookies: the file could not be read"))
        }
        await site.server.shutdown()
    }

    @Test("-O writes to the last name of the URL, also after a redirect")
    func remoteName() async throws {
        let site = try await Site()
        let folder = try Folder()
        let result = try await Self.fetch("-O", site.base + "/set?x=/y", folder: folder.path)
        #expect(result.status == 0 && result.output.isEmpty, "\(result.complaints)")
        #expect(folder.text("set").contains("Cookie=new=1"))
        #expect(try await Self.fetch("-O", site.base + "/", folder: folder.path).status == 64)
        let both = try await Self.fetch("-O", "-o", "f", site.base + "/seen", folder: folder.path)
        #expect(both.status == 64)
        await site.server.shutdown()
    }

    @Test("A URL without a scheme is http, also for localhost")
    func scheme() async throws {
        let site = try await Site(host: "localhost")
        let port = try #require(site.server.addresses.first?.port)
        for host in ["localhost", "127.0.0.1"] {
            #expect(try await Self.fetch("\(host):\(port)/seen").status == 0)
        }
        await site.server.shutdown()
    }

    @Test("--retry repeats up to its number, but not a request that must not be repeated")
    func retry() async throws {
        for (flags, path, status, count) in [
            (["--retry", "3"], "/busy/2", 0, 3), (["--retry", "1"], "/busy/2", 22, 2),
            (["--retry", "0"], "/busy/1", 22, 1), ([], "/busy/1", 22, 1),
            (["--retry", "3", "-X", "POST"], "/busy/2", 22, 1),
        ] as [([String], String, CInt, Int)] {
            let site = try await Site()
            let result = try await Program.run(
                Program.httpkit, ["fetch", site.base + path] + flags)
            #expect(result.status == status && site.requests.entries.count == count, "\(flags)")
            await site.server.shutdown()
        }
    }

    @Test("-x sends the request through the proxy")
    func proxy() async throws {
        let proxy = try await PeerServer.apache()
        let site = try await Site()
        let address = "127.0.0.1:\(proxy.secondPort)"
        let result = try await Self.fetch("-x", address, site.base + "/seen")
        #expect(result.status == 0, "\(result.complaints)")
        #expect(await proxy.waitForLog("GET \(site.base)/seen HTTP/1.1 200"))
        await site.server.shutdown()
    }

    @Test("-n and --netrc-file read users of hosts, unless -u or the URL names one")
    func netrc() async throws {
        let folder = try Folder()
        try folder.write("content\n", to: "f")
        let server = try await ServeProcess(
            folder,
            ["--auth", "digest", "--user", "ann:one", "--user", "bob:two", "--user", "cleo:three"])
        let home = try Folder()
        try home.write(
            "machine 127.0.0.1 login ann password one\nmachine 127.0.0.1 login bob password two\n",
            to: ".netrc")
        let environment = ["HOME": home.path]
        func status(_ flags: [String], user: String = "") async throws -> CInt {
            try await Program.run(
                Program.httpkit,
                ["fetch", "http://\(user)127.0.0.1:\(server.port)/f"] + flags,
                environment: environment
            ).status
        }
        #expect(try await status([]) == 22)
        #expect(try await status(["-n"]) == 0)
        #expect(try await status(["--netrc-file", home.path + "/.netrc"]) == 0)
        #expect(try await status(["--netrc-file", home.path + "/none"]) == 22)
        #expect(try await status(["-n"], user: "bob@") == 0)
        #expect(try await status(["-n"], user: "eve@") == 22)
        #expect(try await status(["-n"], user: "cleo:three@") == 0)
        #expect(try await status(["-n", "-u", "cleo:three"]) == 0)
        #expect(try await status(["-n", "-u", "cleo:wrong"]) == 22)
        try home.write("machine 127.0.0.1 login eve password wrong\n", to: ".netrc")
        #expect(try await status(["-n"]) == 22)
        try home.write("nonsense\n", to: ".netrc")
        let fault = try await Program.run(
            Program.httpkit, ["fetch", "-n", server.url("/f")], environment: environment)
        #expect(fault.status == 2 && fault.complaints.split(separator: "\n").count == 1)
        #expect(fault.complaints.contains("/.netrc: expected machine"))
    }

    @Test(
        "Invalid flags and invalid combinations are refused with status 64",
        arguments: [
            ["-I", "-d", "x"], ["-I", "-X", "GET"], ["--retry", "-1"], ["-x", "ftp://p"],
            ["-r", "0-1", "--resume", "-o", "f"], ["-A", "a\nb"],
        ])
    func wrong(_ flags: [String]) async throws {
        let result = try await Program.run(
            Program.httpkit, ["fetch", "http://127.0.0.1:1/x"] + flags)
        #expect(result.status == 64 && result.output.isEmpty)
    }
}
