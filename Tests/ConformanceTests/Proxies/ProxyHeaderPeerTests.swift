import Foundation
import HTTPParser
import HTTPServerCore
import HTTPServerProxies
import TestSupport
import Testing
import ToolkitSystem

/// A proxy that names its client with the PROXY protocol.
enum HeaderProxy: String, CaseIterable, Sendable {
    case haproxy1 = "send-proxy"
    case haproxy2 = "send-proxy-v2"
    case nginx = "proxy_protocol on"

    func start(
        to port: UInt16, identity: TestCertificates.Identity? = nil
    ) async throws -> PeerServer {
        let site = PeerServer.ProxySite(to: port, identity: identity)
        if self == .nginx { return try await .nginxStream(site) }
        return try await .haproxy(site, mode: "tcp", flags: rawValue)
    }
}

@Suite(
    "PROXY protocol: HAProxy and nginx in front of the server", .fewAtOnce, .timeLimit(.minutes(3)))
struct ProxyHeaderPeerTests {
    @Test("Handlers and the access log get the client's address", arguments: HeaderProxy.allCases)
    func client(_ kind: HeaderProxy) async throws {
        let site = try await ProxiedServer(.proxyProtocol)
        let proxy = try await kind.start(to: site.port)
        let facts = try await ProxiedServer.facts(
            ["--local-port", "20000-59999", proxy.url("/facts")], from: 7)
        #expect(facts["client"] == "127.0.0.7")
        #expect(facts["local"] == "127.0.0.1:\(proxy.port)")
        #expect(facts["url"] == "http://127.0.0.1:\(proxy.port)/facts")
        #expect(facts["tls"] == "-")
        let record = try #require(await site.records.first())
        #expect(record.peer.host == "127.0.0.7")
        #expect(record.peer.port.map { "\($0)" } == facts["port"])
        #expect(site.complaints.entries.isEmpty)
        await site.server.shutdown()
    }

    @Test(
        "Content after the header is complete in both directions", arguments: HeaderProxy.allCases
    )
    func content(_ kind: HeaderProxy) async throws {
        let site = try await ProxiedServer(.proxyProtocol)
        let proxy = try await kind.start(to: site.port)
        let folder = try Folder()
        let content = [UInt8].noise(3 << 20, seed: 5)
        try folder.write(content, to: "f")
        let put = try await ProxiedServer.curl(
            ["-T", folder.file("f").path, "-w", "%{http_code}", proxy.url("/dav/f")])
        #expect(put.text.hasSuffix("201"))
        #expect(try await ProxiedServer.curl([proxy.url("/dav/f")]).output == content)
        await site.server.shutdown()
    }

    @Test("send-proxy-v2-ssl: handlers get the facts of the client's TLS")
    func tls() async throws {
        let certificates = try await TestCertificates()
        let identity = try await certificates.identity(for: "a.test")
        let client = try await certificates.identity(for: "client.test")
        let site = try await ProxiedServer(.proxyProtocol)
        let proxy = try await PeerServer.haproxy(
            .init(
                to: site.port, identity: identity,
                clientAuthority: certificates.authority.certificate),
            mode: "tcp",
            flags: "send-proxy-v2-ssl-cn proxy-v2-options ssl-cipher,authority,crc32c,unique-id")
        let curl = [
            "--cacert", certificates.authority.certificate, "--resolve",
            "a.test:\(proxy.port):127.0.0.1", "https://a.test:\(proxy.port)/facts",
        ]
        let facts = try await ProxiedServer.facts(["--tlsv1.3"] + curl, from: 7)
        #expect(facts["client"] == "127.0.0.7" && facts["scheme"] == "https")
        #expect(facts["url"] == "https://a.test:\(proxy.port)/facts")
        #expect(facts["tls"] == "TLSv1.3" && facts["cipher"]?.hasPrefix("TLS_AES_") == true)
        #expect(facts["name"] == "a.test" && facts["alpn"] == "http/1.1", "\(facts)")
        #expect(facts["certificate"] == "-")
        let known = try await ProxiedServer.facts(
            ["--tls-max", "1.2", "--cert", client.certificate, "--key", client.key] + curl)
        #expect(known["certificate"] == "client.test" && known["tls"] == "TLSv1.2")
        await site.server.shutdown()
    }

    @Test(
        "RFC 4918: COPY and MOVE work behind a proxy that ends TLS",
        arguments: HeaderProxy.allCases)
    func destination(_ kind: HeaderProxy) async throws {
        let certificates = try await TestCertificates()
        let site = try await ProxiedServer(.proxyProtocol)
        let proxy = try await kind.start(
            to: site.port, identity: try await certificates.identity(for: "a.test"))
        try await WebDAVOverTLS(proxy, certificates).check()
        await site.server.shutdown()
    }

    @Test("WebSockets pass through the proxy", arguments: HeaderProxy.allCases)
    func webSocket(_ kind: HeaderProxy) async throws {
        let certificates = try await TestCertificates()
        let site = try await ProxiedServer(.proxyProtocol)
        let proxy = try await kind.start(
            to: site.port, identity: try await certificates.identity(for: "a.test"))
        let origin = "https://a.test:\(proxy.port)"
        #expect(try await WebSocketProbe.run(proxy.port, origin: origin) == "101 hello\n")
        await site.server.shutdown()
    }

    @Test("Requests of several clients through a proxy for HTTP have their own addresses")
    func clients() async throws {
        let site = try await ProxiedServer(.proxyProtocol)
        let proxy = try await PeerServer.haproxy(
            .init(to: site.port, more: "http-request set-src req.hdr(X-Client)"), mode: "http",
            flags: "send-proxy-v2")
        for _ in 0..<2 {
            for host in ["192.0.2.1", "192.0.2.2", "2001:db8::1"] {
                let facts = try await ProxiedServer.facts(
                    ["-H", "X-Client: \(host)", proxy.url("/facts")])
                #expect(facts["client"] == host)
            }
        }
        await site.server.shutdown()
    }

    @Test("Rate limits and login delays apply to each client")
    func limits() async throws {
        let site = try await ProxiedServer(.proxyProtocol)
        let proxy = try await PeerServer.haproxy(
            .init(to: site.port, more: "http-request set-src req.hdr(X-Client)"), mode: "http",
            flags: "send-proxy")
        try await ProxyLimits.check(proxy.url(""))
        await site.server.shutdown()
    }

    @Test(
        "Health checks succeed, and log no warning",
        arguments: [
            ("send-proxy-v2 check", "", "L4OK"), ("send-proxy check", "", "L4OK"),
            // With a separate port, checks send no header, and close at once.
            ("send-proxy-v2 check port PORT", "", "L4OK"),
            ("send-proxy-v2 check", "option httpchk GET /facts", "L7OK"),
            ("send-proxy check", "option httpchk GET /facts", "L7OK"),
            ("send-proxy-v2 check check-send-proxy", "option httpchk GET /facts", "L7OK"),
        ])
    func health(_ flags: String, _ option: String, _ status: String) async throws {
        let site = try await ProxiedServer(.proxyProtocol)
        let proxy = try await PeerServer.haproxy(
            .init(to: site.port, more: option), mode: "http",
            flags: flags.replacing("PORT", with: "\(site.port)")
                + " inter 50ms fall 100000 rise 1")
        let state = "http://127.0.0.1:\(proxy.secondPort)/;csv"
        try await waitUntil {
            let table = try await ProxiedServer.curl([state]).text
            let line = table.split(separator: "\n").first { $0.hasPrefix("site,one,") } ?? ""
            // A check in progress has a star before its last result.
            return line.contains(",UP,") && line.contains(status)
        }
        if status == "L7OK" {
            let record = try #require(await site.records.first())
            // The client of a check is the proxy.
            #expect(record.peer.host == "127.0.0.1" && record.status == .ok)
        }
        #expect(
            try await ProxiedServer.facts([proxy.url("/facts")], from: 7)["client"] == "127.0.0.7")
        #expect(site.complaints.entries.isEmpty, "\(site.complaints.entries)")
        await site.server.shutdown()
    }

    @Test("A header of either version from an untrusted peer is refused")
    func spoofed() async throws {
        let site = try await ProxiedServer(.proxyProtocol)
        let url = "http://127.0.0.1:\(site.port)/facts"
        let text = try await ProxiedServer.curl(
            ["--haproxy-protocol", "-o", "/dev/null", "-w", "%{http_code}", url], from: 9)
        #expect(text.text == "400")
        // Version 2 begins with empty lines, which the parser of HTTP allows before a request.
        let socket = try PlainSocket(port: site.port, from: 9)
        let header = ProxyHeader(
            .proxy, source: .ipv4("192.0.2.1", port: 1), destination: .ipv4("192.0.2.2", port: 80))
        try await socket.send(header.bytes(in: .binary))
        try await socket.send("GET /facts HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(PlainResponse(head: try await socket.receive(through: "\r\n\r\n")).status == 400)
        let plain = try await ProxiedServer.facts([url], from: 9)
        #expect(plain["client"] == "127.0.0.9")
        await site.server.shutdown()
    }

    @Test("A trusted proxy that sends no complete header is disconnected")
    func silent() async throws {
        let site = try await ProxiedServer(.proxyProtocol) { $0.headTimeout = .milliseconds(300) }
        let plain = try await ProxiedServer.curl(["http://127.0.0.1:\(site.port)/facts"])
        #expect(plain.status == 52 || plain.status == 56, "\(plain.complaints)")
        for start in ["", "PROXY TCP4 192.0.2.1 ", "\r\n\r\n"] {
            let socket = try PlainSocket(port: site.port)
            try await socket.send(start)
            #expect(try await socket.receiveAll().isEmpty)
        }
        // The timeout for the head starts at the accept, so a header does not extend it.
        let socket = try PlainSocket(port: site.port)
        try await socket.send("PROXY TCP4 192.0.2.1 192.0.2.2 1 80\r\nGET / HTTP/1.1\r\n")
        let answer = try await socket.receiveAll()
        #expect(String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 408 "))
        await site.server.shutdown()
    }
}

/// Checks limits per client through a proxy that reads the client's address from X-Client.
enum ProxyLimits {
    private static func status(_ client: String, _ url: String, _ more: [String] = []) async throws
        -> String
    {
        try await ProxiedServer.curl(
            ["-o", "/dev/null", "-w", "%{http_code}", "-H", "X-Client: \(client)"] + more + [url]
        ).text
    }

    static func check(_ base: String) async throws {
        for client in ["192.0.2.1", "192.0.2.2"] {
            #expect(try await status(client, base + "/limited") == "200")
            #expect(try await status(client, base + "/limited") == "429")
        }
        // After the allowed guesses each one waits a second; if ten are waiting, others get 429.
        try await waitUntil {
            let guesses = try await Program.run(
                "curl",
                [
                    "-sS", "-m", "110", "-Z", "--parallel-immediate", "--parallel-max", "50", "-u",
                    "ann:wrong", "-H", "X-Client: 192.0.2.1", "-w", "%{http_code}\\n",
                ] + Array(repeating: ["-o", "/dev/null", base + "/login"], count: 40).joined())
            let answers = guesses.text.split(separator: "\n")
            #expect(answers.count == 40 && answers.contains("401"), "\(guesses.complaints)")
            return answers.contains("429")
        }
        #expect(try await status("192.0.2.2", base + "/login", ["-u", "ann:wrong"]) == "401")
        #expect(try await status("192.0.2.2", base + "/login", ["-u", "ann:right"]) == "200")
    }
}
