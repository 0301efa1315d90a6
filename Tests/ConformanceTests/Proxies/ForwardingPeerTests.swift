import HTTPServerCore
import HTTPServerProxies
import TestSupport
import Testing
import ToolkitSystem

/// A proxy that names its client in fields of each request. It reads the client's address from
/// X-Client, if the request has that field.
enum FieldProxy: String, CaseIterable, Sendable {
    case haproxyXForwarded, haproxyForwarded, nginxXForwarded, nginxForwarded

    var names: ForwardedFields.Names {
        switch self {
        case .haproxyForwarded, .nginxForwarded: .forwarded
        case .haproxyXForwarded, .nginxXForwarded: .xForwarded
        }
    }

    private var isHAProxy: Bool { self == .haproxyXForwarded || self == .haproxyForwarded }

    func start(
        to port: UInt16, identity: TestCertificates.Identity? = nil
    ) async throws -> PeerServer {
        let site = PeerServer.ProxySite(
            to: port, identity: identity, more: configuration(identity == nil ? "http" : "https"))
        return isHAProxy
            ? try await .haproxy(site, mode: "http") : try await .nginxProxy(site)
    }

    private func configuration(_ scheme: String) -> String {
        switch self {
        case .haproxyXForwarded:
            """
            http-request set-src req.hdr(X-Client) if { req.hdr(X-Client) -m found }
            option forwardfor
            http-request set-header X-Forwarded-Proto \(scheme)
            http-request set-header X-Forwarded-Host %[req.hdr(Host)]
            """
        case .haproxyForwarded:
            """
            http-request set-src req.hdr(X-Client) if { req.hdr(X-Client) -m found }
            http-request deny if !{ req.hdr(Host) -m reg ^[][A-Za-z0-9._:-]+$ }
            http-request set-var-fmt(req.node) %[src]
            http-request set-var-fmt(req.node) [%[src]] if { src -m sub : }
            http-request set-header Forwarded for=\\"%[var(req.node)]\\";host=\\"%[req.hdr(Host)]\\";proto=\(scheme)
            """
        case .nginxXForwarded:
            """
            set_real_ip_from 127.0.0.0/8;
            real_ip_header X-Client;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
            proxy_set_header X-Forwarded-Proto $scheme;
            proxy_set_header X-Forwarded-Host $http_host;
            """
        case .nginxForwarded:
            """
            set_real_ip_from 127.0.0.0/8;
            real_ip_header X-Client;
            proxy_set_header Forwarded 'for="$forwarded_node";host="$forwarded_host";proto=$scheme';
            """
        }
    }
}

@Suite(
    "Forwarded and X-Forwarded: HAProxy and nginx in front of the server", .fewAtOnce,
    .timeLimit(.minutes(3)))
struct ForwardingPeerTests {
    @Test("Handlers and the access log get the client's address", arguments: FieldProxy.allCases)
    func client(_ kind: FieldProxy) async throws {
        let site = try await ProxiedServer(.fields(kind.names))
        let proxy = try await kind.start(to: site.port)
        let facts = try await ProxiedServer.facts([proxy.url("/facts")], from: 7)
        #expect(facts["client"] == "127.0.0.7" && facts["scheme"] == "http")
        #expect(facts["url"] == "http://127.0.0.1:\(proxy.port)/facts")
        #expect(await site.records.first()?.peer.host == "127.0.0.7")
        await site.server.shutdown()
    }

    @Test(
        "Forwarding fields that the client sends are ignored",
        arguments: FieldProxy.allCases)
    func spoofed(_ kind: FieldProxy) async throws {
        let site = try await ProxiedServer(.fields(kind.names))
        let proxy = try await kind.start(to: site.port)
        let claims = [
            "-H", "X-Forwarded-For: 192.0.2.66", "-H", "X-Forwarded-Proto: https", "-H",
            "X-Forwarded-Host: evil.example", "-H",
            "Forwarded: for=192.0.2.66;proto=https;host=evil.example",
        ]
        let facts = try await ProxiedServer.facts(claims + [proxy.url("/facts")], from: 7)
        #expect(facts["client"] == "127.0.0.7")
        #expect(facts["url"] == "http://127.0.0.1:\(proxy.port)/facts")
        let direct = try await ProxiedServer.facts(
            claims + ["http://127.0.0.1:\(site.port)/facts"], from: 9)
        #expect(direct["client"] == "127.0.0.9")
        #expect(direct["url"] == "http://127.0.0.1:\(site.port)/facts")
        // Quotes in Host must not begin an element of the proxy's field.
        for host in ["x\",for=\"192.0.2.66", "x\";for=\"192.0.2.66\";host=\"evil.example"] {
            let answer = try await ProxiedServer.curl(
                ["-H", "Host: \(host)", "-w", "%{http_code}", proxy.url("/facts")], from: 7)
            #expect(answer.text.hasSuffix("400") || answer.text.hasSuffix("403"), "\(answer.text)")
        }
        await site.server.shutdown()
    }

    @Test("Rate limits and login delays apply to each client", arguments: FieldProxy.allCases)
    func limits(_ kind: FieldProxy) async throws {
        let site = try await ProxiedServer(.fields(kind.names))
        let proxy = try await kind.start(to: site.port)
        try await ProxyLimits.check(proxy.url(""))
        await site.server.shutdown()
    }

    @Test("The address of an IPv6 client is known", arguments: FieldProxy.allCases)
    func ipv6(_ kind: FieldProxy) async throws {
        let site = try await ProxiedServer(.fields(kind.names))
        let proxy = try await kind.start(to: site.port)
        let facts = try await ProxiedServer.facts(
            ["-H", "X-Client: 2001:db8::7", proxy.url("/facts")])
        #expect(facts["client"] == "2001:db8::7")
        await site.server.shutdown()
    }

    @Test(
        "RFC 4918: COPY and MOVE accept the https URL of the proxy as Destination",
        arguments: FieldProxy.allCases)
    func destination(_ kind: FieldProxy) async throws {
        let certificates = try await TestCertificates()
        let site = try await ProxiedServer(.fields(kind.names))
        let proxy = try await kind.start(
            to: site.port, identity: try await certificates.identity(for: "a.test"))
        let dav = WebDAVOverTLS(proxy, certificates)
        try await dav.check()
        await site.server.shutdown()
    }

    @Test("Content is forwarded while the client still sends", arguments: FieldProxy.allCases)
    func unbuffered(_ kind: FieldProxy) async throws {
        let site = try await ProxiedServer(.fields(kind.names))
        let proxy = try await kind.start(to: site.port)
        let socket = try PlainSocket(port: proxy.port)
        let length = 1 << 20
        try await socket.send(
            "PUT /count HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\nfirst")
        try await waitUntil { site.counted.withLock { $0 } == 5 }
        try await socket.send([UInt8](repeating: 0x61, count: length - 5))
        #expect(try await socket.response().text == "\(length)")
        let chunked = try PlainSocket(port: proxy.port)
        try await chunked.send(
            "PUT /count HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")
        try await waitUntil { site.counted.withLock { $0 } == length + 5 }
        try await chunked.send("0\r\n\r\n")
        #expect(try await chunked.response().text == "\(length + 5)")
        await site.server.shutdown()
    }

    @Test(
        "WebSockets pass through the proxy, but only for pages of the same origin",
        arguments: FieldProxy.allCases)
    func webSocket(_ kind: FieldProxy) async throws {
        let certificates = try await TestCertificates()
        let site = try await ProxiedServer(.fields(kind.names))
        let proxy = try await kind.start(
            to: site.port, identity: try await certificates.identity(for: "a.test"))
        let own = "https://a.test:\(proxy.port)"
        #expect(try await WebSocketProbe.run(proxy.port, origin: own) == "101 hello\n")
        let other = "https://b.test:\(proxy.port)"
        #expect(try await WebSocketProbe.run(proxy.port, origin: other).hasPrefix("403"))
        await site.server.shutdown()
    }
}

/// A WebDAV client of `/dav` behind a proxy that ends TLS.
struct WebDAVOverTLS {
    private let proxy: PeerServer
    private let flags: [String]

    init(_ proxy: PeerServer, _ certificates: TestCertificates) {
        self.proxy = proxy
        flags = [
            "--cacert", certificates.authority.certificate, "--resolve",
            "a.test:\(proxy.port):127.0.0.1",
        ]
    }

    func url(_ path: String) -> String { "https://a.test:\(proxy.port)\(path)" }

    private func status(_ arguments: [String], _ path: String) async throws -> String {
        try await ProxiedServer.curl(
            flags + ["-o", "/dev/null", "-w", "%{http_code}"] + arguments + [url(path)]
        ).text
    }

    func check() async throws {
        #expect(try await status(["-X", "PUT", "-d", "content"], "/dav/a") == "201")
        for (method, from, to) in [("COPY", "a", "b"), ("MOVE", "b", "c")] {
            let destination = "Destination: \(url("/dav/\(to)"))"
            #expect(try await status(["-X", method, "-H", destination], "/dav/\(from)") == "201")
        }
        #expect(try await ProxiedServer.curl(flags + [url("/dav/c")]).text == "content")
        let other = "Destination: https://b.test:\(proxy.port)/dav/d"
        #expect(try await status(["-X", "COPY", "-H", other], "/dav/a") == "502")
    }
}

/// A client that opens a WebSocket over TLS at `/chat`, and sends `hello`.
enum WebSocketProbe {
    private static let script = """
        import socket, ssl, sys
        port, origin = int(sys.argv[1]), sys.argv[2]
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        raw = socket.create_connection(("127.0.0.1", port), timeout=110)
        peer = context.wrap_socket(raw, server_hostname="a.test")
        peer.sendall((f"GET /chat HTTP/1.1\\r\\nHost: a.test:{port}\\r\\nConnection: Upgrade\\r\\n"
            "Upgrade: websocket\\r\\nSec-WebSocket-Version: 13\\r\\n"
            f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\nOrigin: {origin}\\r\\n\\r\\n").encode())
        stream = peer.makefile("rb")
        status = stream.readline().split()[1].decode()
        while stream.readline() != b"\\r\\n": pass
        if status != "101": sys.exit(print(status))
        peer.sendall(b"\\x81\\x85\\0\\0\\0\\0hello")
        head = stream.read(2)
        print(status, stream.read(head[1]).decode())
        """

    /// - Returns: the status, and the received message.
    static func run(_ port: UInt16, origin: String) async throws -> String {
        let result = try await Program.run("python3", ["-c", script, "\(port)", origin])
        return result.text + result.complaints
    }
}
