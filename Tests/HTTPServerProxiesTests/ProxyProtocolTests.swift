import HTTPServerCore
import HTTPServerKit
import HTTPServerProxies
import TestSupport
import Testing
import ToolkitSystem

@Suite("PROXY protocol: the header before a connection's bytes")
struct ProxyProtocolTests {
    private static let header = "PROXY TCP4 192.0.2.7 198.51.100.1 40000 443\r\n"
    private static let request = "GET / HTTP/1.1\r\nHost: test\r\n\r\n"

    /// Responds with the addresses of the request.
    private static let handler = SyncHandler { request in
        .text("peer \(request.peer), local \(request.local)")
    }

    private static func connection(
        from address: String, _ pieces: [[UInt8]], _ handler: SyncHandler = Self.handler
    ) throws -> MemoryConnection {
        let layer = ProxyProtocol(from: try TrustedProxies(["10.0.0.1"]))
        let peer = try #require(PeerAddress(.ipv4(address, port: 1)))
        return MemoryConnection(
            handler, address: peer, layers: [layer], input: pieces.map { .bytes($0) })
    }

    @Test("The handler sees the client, wherever header and request are split")
    func splits() async throws {
        let bytes = Array((Self.header + Self.request).utf8)
        for index in 1..<bytes.count {
            let connection = try Self.connection(
                from: "10.0.0.1", [Array(bytes[..<index]), Array(bytes[index...])])
            let record = try await connection.output("198.51.100.1:443")
            #expect(record.text.hasSuffix("peer 192.0.2.7:40000, local 198.51.100.1:443"))
        }
        let single = try Self.connection(from: "10.0.0.1", bytes.map { [$0] })
        try await single.output("peer 192.0.2.7:40000, local 198.51.100.1:443")
    }

    @Test("A trusted proxy that sends a request without a header is disconnected")
    func required() async throws {
        let connection = try Self.connection(from: "10.0.0.1", [Array(Self.request.utf8)])
        #expect(try await connection.closed().output.isEmpty)
    }

    @Test("A peer that is not a proxy gets 400 for a header, and may send plain HTTP")
    func unnamed() async throws {
        let spoofing = try Self.connection(
            from: "10.0.0.2", [Array((Self.header + Self.request).utf8)])
        #expect(try await spoofing.output("\r\n\r\n").text.hasPrefix("HTTP/1.1 400 "))
        let plain = try Self.connection(from: "10.0.0.2", [Array(Self.request.utf8)])
        try await plain.output("peer 10.0.0.2:1")
    }

    @Test("A header that does not end in time closes the connection")
    func slow() async throws {
        let before = await MemoryConnection.now()
        let connection = try Self.connection(from: "10.0.0.1", [Array("PROXY TCP4 ".utf8)])
        await connection.settle()
        let deadline = await connection.onLoop { $0?.deadline ?? 0 }
        let after = await MemoryConnection.now()
        #expect(deadline > before && deadline <= after + 10_000_000_000)
        await connection.expire()
        #expect(try await connection.closed().output.isEmpty)
    }

    @Test("LOCAL keeps the peer address of the socket")
    func local() async throws {
        let header = ProxyHeader(.local).bytes(in: .binary)
        let connection = try Self.connection(
            from: "10.0.0.1", [header + Array(Self.request.utf8)])
        try await connection.output("peer 10.0.0.1:1")
    }

    @Test(
        "The common name of a client is escaped in its subject (RFC 4514 section 2.4)",
        arguments: [
            ("alice", "CN=alice"), ("a b", "CN=a b"), (" a ", "CN=\\ a\\ "), (" ", "CN=\\ "),
            ("#a#", "CN=\\#a#"), ("a,O=b", "CN=a\\,O=b"), ("a+OU=b", "CN=a\\+OU=b"),
            ("\"a\"", "CN=\\\"a\\\""), ("a\\", "CN=a\\\\"), ("<a;b>", "CN=\\<a\\;b\\>"),
            ("Zoë", "CN=Zoë"),
        ])
    func subject(_ commonName: String, _ subject: String) async throws {
        var tls = ProxyHeader.TLS()
        tls.commonName = commonName
        tls.hasCertificate = true
        tls.verifyResult = 0
        var header = ProxyHeader(
            .proxy, source: .ipv4("192.0.2.7", port: 40_000),
            destination: .ipv4("198.51.100.1", port: 443))
        header.tls = tls
        let handler = SyncHandler { request in
            let certificate = request.connection.security?.peerCertificate
            let isSame =
                certificate?.subject == subject && certificate?.commonName == commonName
            return .text("same: \(isSame)")
        }
        let connection = try Self.connection(
            from: "10.0.0.1", [header.bytes(in: .binary) + Array(Self.request.utf8)], handler)
        try await connection.output("same: true")
    }

    @Test("An endpoint behind proxies has the PROXY layer, and differs from one without it")
    func order() throws {
        let layer = ProxyProtocol(from: try TrustedProxies(["10.0.0.1"]))
        let plain = ServerConfiguration.Endpoint.tcp(host: "127.0.0.1", port: 0)
        #expect(plain.behindProxies(layer).layers.first === layer)
        #expect(plain != plain.behindProxies(layer))
        #expect(plain.behindProxies(layer) == plain.behindProxies(layer))
    }
}
