import TestSupport
import Testing

/// The servers that clients are tested with behave as those tests assume.
@Suite("Servers of other projects", .fewAtOnce)
struct PeerServerTests {
    private static func curl(_ arguments: String...) async throws -> Program.Result {
        try await Program.run("curl", ["-sS", "-m", "110"] + arguments)
    }

    @Test("nginx serves files and ranges, stores uploads, and reports facts of a request")
    func nginx() async throws {
        let server = try await PeerServer.nginx(.init(at: "127.0.0.1"))
        let content = [UInt8].noise(100_000, seed: 1)
        try server.write(content, to: "f.bin")
        #expect(try await Self.curl(server.url("/f.bin")).output == content)
        #expect(
            try await Self.curl("-r", "5-9", server.url("/f.bin")).output == Array(content[5..<10]))
        let put = try await Self.curl(
            "-T", server.file("f.bin"), "-o", "/dev/null", "-w", "%{http_code}",
            server.url("/dav/copy.bin"))
        #expect(put.text == "201" && server.content(of: "dav/copy.bin") == content)
        let who = try await Self.curl("-b", "a=b", server.url("/who")).text
        #expect(who.contains("host=127.0.0.1:\(server.port)\n") && who.contains("cookie=a=b\n"))
        #expect(await server.waitForLog("GET /f.bin HTTP/1.1 206"))
    }

    @Test("nginx serves two addresses with separate certificates, and HTTP/2")
    func nginxTLS() async throws {
        let certificates = try await TestCertificates()
        let server = try await PeerServer.nginx(
            .init(
                at: "127.0.0.2", identity: try await certificates.identity(for: "a.test"),
                speaksHTTP2: true),
            .init(at: "[::1]", identity: try await certificates.identity(for: "b.test")))
        let authority = certificates.authority.certificate
        for (name, address, version) in [("a.test", "127.0.0.2", "2.0"), ("b.test", "::1", "1.1")] {
            let who = try await Self.curl(
                "--cacert", authority, "--resolve", "\(name):\(server.port):\(address)",
                server.url("/who", scheme: "https", host: name))
            #expect(who.text.contains("sni=\(name)\n") && who.text.contains("address=\(address)\n"))
            #expect(who.text.contains("version=HTTP/\(version)\n"), "\(who.text)\(who.complaints)")
            let wrong = try await Self.curl(
                "--cacert", authority, "--resolve", "c.test:\(server.port):\(address)",
                server.url("/who", scheme: "https", host: "c.test"))
            #expect(wrong.status == 60)
        }
        let old = try await certificates.identity(for: "old.test", days: -1)
        let expired = try await PeerServer.nginx(.init(at: "127.0.0.1", identity: old))
        let refused = try await Self.curl(
            "--cacert", authority, "--resolve", "old.test:\(expired.port):127.0.0.1",
            expired.url("/who", scheme: "https", host: "old.test"))
        #expect(refused.status == 60 && refused.complaints.contains("expired"))
    }

    @Test("nginx serves HTTP/2 without TLS")
    func priorKnowledge() async throws {
        let server = try await PeerServer.nginx(.init(at: "127.0.0.1", speaksHTTP2: true))
        let who = try await Self.curl("--http2-prior-knowledge", server.url("/who"))
        #expect(who.text.contains("version=HTTP/2.0\n"))
    }

    @Test("Apache serves files, logins and WebDAV")
    func apache() async throws {
        let server = try await PeerServer.apache()
        try server.write(Array("content".utf8), to: "f.txt")
        #expect(try await Self.curl(server.url("/f.txt")).text == "content")
        let user = "\(PeerServer.user.name):\(PeerServer.user.password)"
        for scheme in ["basic", "digest"] {
            let right = try await Self.curl(
                "--\(scheme)", "-u", user, server.url("/\(scheme)/f.txt"))
            #expect(right.text == "content")
            let wrong = try await Self.curl(
                "--\(scheme)", "-u", "ada:x", "-o", "/dev/null", "-w", "%{http_code}",
                server.url("/\(scheme)/f.txt"))
            #expect(wrong.text == "401")
        }
        let put = try await Self.curl(
            "-T", server.file("f.txt"), "-o", "/dev/null", "-w", "%{http_code}",
            server.url("/dav/g.txt"))
        #expect(put.text == "201" && server.content(of: "dav/g.txt") == Array("content".utf8))
    }

    @Test("Apache is a proxy by absolute targets and by tunnels")
    func proxy() async throws {
        let origin = try await PeerServer.nginx(.init(at: "127.0.0.1"))
        let proxy = try await PeerServer.apache()
        let address = "127.0.0.1:\(proxy.secondPort)"
        let plain = try await Self.curl("-x", address, origin.url("/who"))
        #expect(plain.text.contains("host=127.0.0.1:\(origin.port)\n"))
        let tunnel = try await Self.curl("-p", "-x", address, origin.url("/who"))
        #expect(tunnel.text.contains("host=127.0.0.1:\(origin.port)\n"))
        #expect(
            await proxy.waitForLog("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1 200"))
        let closed = try await PeerServer.apache(proxyLogin: .basic)
        let refused = try await Self.curl(
            "-o", "/dev/null", "-w", "%{http_code}", "-x", "127.0.0.1:\(closed.secondPort)",
            origin.url("/who"))
        #expect(refused.text == "407")
    }

    @Test("Python's http.server serves files")
    func python() async throws {
        let server = try await PeerServer.python()
        try server.write(Array("content".utf8), to: "f.txt")
        #expect(try await Self.curl(server.url("/f.txt")).text == "content")
    }
}
