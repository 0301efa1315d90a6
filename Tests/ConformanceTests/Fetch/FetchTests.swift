import Foundation
import TestSupport
import Testing

@Suite("httpkit fetch", .fewAtOnce)
struct FetchTests {
    private static func fetch(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.httpkit, ["fetch", "--timeout", "110"] + arguments)
    }

    @Test("Content is written to standard output, without other output")
    func content() async throws {
        let server = try await BinProcess()
        let result = try await Self.fetch(server.base + "/bytes/100000?seed=1")
        let curl = try await server.curl(path: "/bytes/100000?seed=1")
        #expect(result.status == 0 && result.output == curl.output && result.complaints.isEmpty)
        let head = try await Self.fetch("-i", server.base + "/etag/abc")
        #expect(head.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(head.text.contains("\r\nETag: \"abc\"\r\n") && head.text.contains("\r\n\r\n{\n"))
    }

    @Test("Method and every kind of content are sent as curl sends them")
    func requests() async throws {
        let server = try await BinProcess()
        let folder = try Folder()
        try folder.write("file content", to: "f.txt")
        let file = folder.file("f.txt").path
        let cases: [[String]] = [
            ["-X", "PURGE", "-H", "X-A: b"], ["-d", "a=1", "-d", "b=2"], ["-d", "@\(file)"],
            ["-F", "a=1", "-F", "f=@\(file)"], ["-T", file, "-X", "PUT"],
        ]
        for arguments in cases {
            let url = server.base + "/anything"
            let ours = try await Program.run(Program.httpkit, ["fetch", url] + arguments)
            let curl = try await Program.run("curl", ["-sS", "-m", "110", url] + arguments)
            let (mine, theirs) = (try Self.echo(ours.output), try Self.echo(curl.output))
            #expect(ours.status == 0 && mine == theirs, "\(arguments): \(ours.text)")
        }
        let json = try await Self.fetch("--json", "-d", "{\"a\": 1}", server.base + "/post")
        #expect(json.text.contains("\"Content-Type\": \"application/json\""))
        #expect(json.text.contains("\"Accept\": \"application/json\""))
    }

    /// The parts on which both programs must agree.
    private static func echo(_ json: [UInt8]) throws -> Data {
        let object = try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any] ?? [:]
        let parts = object.filter { ["method", "data", "form", "files"].contains($0.key) }
        return try JSONSerialization.data(withJSONObject: parts, options: .sortedKeys)
    }

    @Test("4xx and 5xx are reported with exit status 22 and one line")
    func statuses() async throws {
        let server = try await BinProcess()
        for code in [404, 503] {
            let result = try await Self.fetch("\(server.base)/status/\(code)")
            #expect(result.status == 22)
            #expect(result.complaints.hasPrefix("httpkit: the server answered \(code)"))
            #expect(result.complaints.split(separator: "\n").count == 1)
        }
        #expect(try await Self.fetch(server.base + "/status/204").status == 0)
    }

    @Test("An error page does not replace a file")
    func errorPage() async throws {
        let server = try await BinProcess()
        let folder = try Folder()
        try folder.write("old", to: "f")
        let path = folder.file("f").path
        let refused = try await Self.fetch("-o", path, server.base + "/status/418")
        #expect(refused.status == 22 && folder.bytes("f") == Array("old".utf8))
        let reasoned = try await Self.fetch("-o", path, server.base + "/no/such/page")
        #expect(reasoned.status == 22 && folder.bytes("f") == Array("old".utf8))
        #expect(reasoned.complaints == "httpkit: the server answered 404 Not Found\n")
        let good = try await Self.fetch("-o", path, server.base + "/range/100000")
        #expect(good.status == 0 && good.output.isEmpty && folder.bytes("f").count == 100_000)
    }

    @Test("A file that cannot be written is reported before a connection is opened")
    func noPlace() async throws {
        let folder = try Folder()
        try folder.write("old", to: "f")
        for (path, fault) in [
            (folder.path, "is a directory"), (folder.path + "/none/f", "no such directory"),
            (folder.path + "/f/g", "is not a directory"),
        ] {
            // No server listens at this port; a connection would be reported with 7.
            let result = try await Self.fetch("-o", path, "http://127.0.0.1:1/")
            #expect(
                result.status == 23 && result.complaints.contains(fault), "\(result.complaints)")
        }
    }

    @Test(
        "Failures have the exit statuses of curl",
        arguments: [
            ("close", [52]), ("reset", [56]), ("short", [18]), ("truncated-chunk", [18]),
            ("no-last-chunk", [18]), ("bad-chunk", [56]), ("gzip-garbage", [61]),
            ("gzip-bad-check", [61]), ("nul", [8]), ("bad-length", [8]),
        ] as [(String, [CInt])])
    func failures(name: String, statuses: [CInt]) async throws {
        let server = try await BinProcess()
        let ours = try await Self.fetch("\(server.torture)/\(name)")
        let curl = try await server.torture("--compressed", path: name)
        #expect(statuses.contains(ours.status) && ours.status == curl.status)
        #expect(ours.complaints.hasPrefix("httpkit: "))
        #expect(ours.complaints.split(separator: "\n").count == 1)
    }

    @Test("Incomplete and invalid responses that curl accepts are reported")
    func stricter() async throws {
        let server = try await BinProcess()
        for name in ["close-in-head", "gzip-truncated", "two-lengths", "gzip-bomb", "endless-head"]
        {
            let result = try await Self.fetch("\(server.torture)/\(name)")
            #expect(result.status != 0 && result.status != 22, "\(name)")
        }
    }

    @Test("Errors of host, port, timeout, scheme and certificate have the exit statuses of curl")
    func network() async throws {
        #expect(try await Self.fetch("http://nothing.invalid/").status == 6)
        let port = PeerServer.deadPort
        #expect(try await Self.fetch("http://127.0.0.1:\(port)/").status == 7)
        #expect(try await Self.fetch("gopher://127.0.0.1/").status == 1)
        let server = try await BinProcess()
        let late = try await Program.run(
            Program.httpkit, ["fetch", "--timeout", "0.2", "\(server.torture)/silence"])
        #expect(late.status == 28)
        let certificates = try await TestCertificates()
        let secure = try await PeerServer.nginx(
            .init(at: "127.0.0.1", identity: try await certificates.identity(for: "a.test")))
        let url = secure.url("/who", scheme: "https", host: "a.test")
        let target = ["--connect-to", "127.0.0.1"]
        #expect(
            try await Program.run(Program.httpkit, ["fetch", url] + target).status == 60)
        #expect(
            try await Program.run(
                Program.httpkit, ["fetch", url, "--insecure"] + target
            ).status == 0)
        let trusted = try await Program.run(
            Program.httpkit,
            ["fetch", url, "--cacert", certificates.authority.certificate] + target)
        #expect(trusted.status == 0 && trusted.text.contains("sni=a.test\n"))
    }

    @Test("--connect-to sets the address and keeps the name")
    func connectTo() async throws {
        let server = try await BinProcess()
        let port = server.base.split(separator: ":").last ?? ""
        for target in ["127.0.0.1:\(port)", ":\(port)"] {
            let host = target.hasPrefix(":") ? "127.0.0.1" : "name.test"
            let result = try await Self.fetch(
                "--connect-to", target, "http://\(host):1/headers")
            #expect(result.text.contains("\"Host\": \"\(host):1\""), "\(result.complaints)")
        }
    }

    @Test("--metrics prints the metrics of a transaction as JSON")
    func metrics() async throws {
        let server = try await BinProcess()
        let result = try await Self.fetch("--metrics", server.base + "/get")
        let line = try #require(result.complaints.split(separator: "\n").first)
        let json = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        #expect(json?["url"] as? String == server.base + "/get")
        #expect(json?["version"] as? String == "HTTP/1.1" && json?["responseEnd"] is Double)
    }

    @Test("--http1 and --http2 select the version of HTTP")
    func versions() async throws {
        let certificates = try await TestCertificates()
        let server = try await PeerServer.nginx(
            .init(
                at: "127.0.0.1", identity: try await certificates.identity(for: "a.test"),
                speaksHTTP2: true))
        let url = server.url("/who", scheme: "https", host: "a.test")
        for (flag, version) in [("--http1", "1.1"), ("--http2", "2.0")] {
            let result = try await Self.fetch(
                "--cacert", certificates.authority.certificate, "--connect-to", "127.0.0.1", flag,
                url)
            #expect(result.text.contains("version=HTTP/\(version)\n"), "\(result.complaints)")
        }
    }

    @Test("Redirects are followed up to --max-redirects")
    func redirects() async throws {
        let server = try await BinProcess()
        let url = server.base + "/redirect/3"
        #expect(try await Self.fetch(url).text.contains("\"url\": \"\(server.base)/get\""))
        #expect(try await Self.fetch("--max-redirects", "3", url).status == 0)
        #expect(try await Self.fetch("--max-redirects", "2", url).status == 47)
        let first = try await Self.fetch("--max-redirects", "0", "-i", url)
        #expect(first.status == 0 && first.text.hasPrefix("HTTP/1.1 302 Found\r\n"))
        let kept = try await Self.fetch(
            "-d", "a=b", server.base + "/redirect-to?url=/anything&status_code=307")
        #expect(kept.text.contains("\"method\": \"POST\"") && kept.text.contains("\"a\": \"b\""))
    }

    @Test("--user logs in with Basic and Digest", arguments: ["basic-auth", "digest-auth/auth"])
    func logins(path: String) async throws {
        let server = try await BinProcess()
        let url = "\(server.base)/\(path)/ada/lovelace"
        let right = try await Self.fetch("--user", "ada:lovelace", url)
        #expect(right.status == 0 && right.text.contains("\"authenticated\": true"))
        #expect(try await Self.fetch("--user", "ada:x", url).status == 22)
        #expect(try await Self.fetch(url).status == 22)
    }

    @Test("--cookie-jar keeps cookies between calls, in a format that curl reads")
    func cookies() async throws {
        let server = try await BinProcess()
        let folder = try Folder()
        let jar = folder.file("jar.txt").path
        let url = server.base + "/cookies"
        let set = try await Self.fetch(
            "--cookie-jar", jar,
            server.base + "/response-headers?Set-Cookie=color%3Dred%3BMax-Age%3D999")
        #expect(set.status == 0)
        let again = try await Self.fetch("--cookie-jar", jar, url)
        #expect(again.text.contains("\"color\": \"red\""))
        let curl = try await Program.run("curl", ["-sS", "-m", "110", "-b", jar, url])
        #expect(curl.text.contains("\"color\": \"red\""))
    }
}
