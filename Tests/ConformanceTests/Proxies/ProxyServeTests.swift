import HTTPServerProxies
import TestSupport
import Testing

@Suite("httpkit serve behind proxies", .fewAtOnce, .timeLimit(.minutes(3)))
struct ProxyServeTests {
    private func folder() throws -> Folder {
        let folder = try Folder()
        try folder.write("content\n", to: "f")
        return folder
    }

    /// Waits for the log's line about a request, and returns its first word.
    private func client(of target: String, _ server: ServeProcess) async -> Substring? {
        guard await server.waitForComplaint("GET \(target) ") else { return nil }
        return server.complaints.split(separator: "\n").first { $0.contains("GET \(target) ") }?
            .split(separator: " ").first
    }

    @Test(
        "--proxy-protocol: the access log has the client's address",
        arguments: HeaderProxy.allCases)
    func header(_ kind: HeaderProxy) async throws {
        let server = try await ServeProcess(
            try folder(), ["--access-log", "--proxy-protocol", "127.0.0.1"])
        let proxy = try await kind.start(to: server.port)
        let result = try await ProxiedServer.curl([proxy.url("/f?proxied")], from: 7)
        #expect(result.text == "content\n", "\(result.complaints)")
        #expect(await client(of: "/f?proxied", server) == "127.0.0.7")
        // A trusted proxy gets no response without a header; other peers need no header.
        #expect(try await ProxiedServer.curl([server.url("/f?bare")]).status != 0)
        #expect(try await ProxiedServer.curl([server.url("/f?direct")], from: 9).status == 0)
        #expect(await client(of: "/f?direct", server) == "127.0.0.9")
        #expect(!server.complaints.contains("/f?bare"))
    }

    @Test("--proxy-protocol works before TLS: the proxy forwards the client's encrypted bytes")
    func headerBeforeTLS() async throws {
        let certificates = try await TestCertificates()
        let identity = try await certificates.identity(for: "127.0.0.1")
        let server = try await ServeProcess(
            try folder(),
            [
                "--access-log", "--proxy-protocol", "127.0.0.1", "--tls-certificate",
                identity.certificate, "--tls-key", identity.key,
            ])
        let proxy = try await HeaderProxy.haproxy2.start(to: server.port)
        let result = try await ProxiedServer.curl(
            [
                "--cacert", certificates.authority.certificate,
                proxy.url("/f?secure", scheme: "https"),
            ], from: 7)
        #expect(result.text == "content\n", "\(result.complaints)")
        #expect(await client(of: "/f?secure", server) == "127.0.0.7")
    }

    @Test(
        "--trusted-proxy: the access log has the client's address", arguments: FieldProxy.allCases)
    func fields(_ kind: FieldProxy) async throws {
        let name = kind.names == .forwarded ? "forwarded" : "x-forwarded"
        let server = try await ServeProcess(
            try folder(),
            ["--access-log", "--trusted-proxy", "127.0.0.1", "--forwarded-fields", name])
        let proxy = try await kind.start(to: server.port)
        let result = try await ProxiedServer.curl([proxy.url("/f?proxied")], from: 7)
        #expect(result.text == "content\n", "\(result.complaints)")
        #expect(await client(of: "/f?proxied", server) == "127.0.0.7")
        let claim = ["-H", "X-Forwarded-For: 192.0.2.1", "-H", "Forwarded: for=192.0.2.1"]
        _ = try await ProxiedServer.curl(claim + [server.url("/f?direct")], from: 9)
        #expect(await client(of: "/f?direct", server) == "127.0.0.9")
    }

    @Test("WebDAV: Destination may be the https URL of the proxy", arguments: FieldProxy.allCases)
    func destination(_ kind: FieldProxy) async throws {
        let certificates = try await TestCertificates()
        let name = kind.names == .forwarded ? "forwarded" : "x-forwarded"
        let server = try await ServeProcess(
            try folder(),
            [
                "--webdav", "/dav", "--trusted-proxy", "127.0.0.1", "--forwarded-fields", name,
                "--allow-host", "a.test",
            ])
        let proxy = try await kind.start(
            to: server.port, identity: try await certificates.identity(for: "a.test"))
        try await WebDAVOverTLS(proxy, certificates).check()
    }

    @Test(
        "Values that are no addresses of proxies are refused",
        arguments: ["--proxy-protocol", "--trusted-proxy"])
    func wrongNames(_ flag: String) async throws {
        for name in ["example.org", "10.0.0.1/8", "::1/129", ""] {
            let result = try await Program.run(
                Program.httpkit, ["serve", "--port", "0", flag, name])
            #expect(result.status == 64 && result.complaints.contains("expected an address"))
        }
    }
}
