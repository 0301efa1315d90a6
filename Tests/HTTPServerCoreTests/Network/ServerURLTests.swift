import HTTPServerAddresses
import HTTPServerCore
import HTTPServerKit
import Testing

@Suite("URLs of a server")
struct ServerURLTests {
    private static let linkLocal: [UInt8] = [
        0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
    ]
    private static let global: [UInt8] = [
        0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7,
    ]
    private let machine = [
        NetworkInterface(
            name: "lo", index: 1, flags: [.up, .loopback],
            addresses: [
                .init([127, 0, 0, 1], prefixLength: 8),
                .init(Array(repeating: 0, count: 15) + [1], prefixLength: 128),
            ]),
        NetworkInterface(
            name: "docker0", index: 2, flags: .up,
            addresses: [.init([172, 17, 0, 1], prefixLength: 16)]),
        NetworkInterface(
            name: "wlan0", index: 3, flags: .up,
            addresses: [
                .init(Self.linkLocal, prefixLength: 64), .init(Self.global, prefixLength: 64),
                .init([192, 168, 1, 7], prefixLength: 24),
            ]),
        NetworkInterface(
            name: "eth0", index: 4, flags: .up, addresses: [.init([10, 0, 0, 4], prefixLength: 8)]),
        NetworkInterface(
            name: "eth1", index: 5, flags: [], addresses: [.init([10, 1, 0, 4], prefixLength: 8)]),
    ]

    private func texts(_ bound: BoundAddress..., routed: [String] = []) -> [String] {
        ServerURL.list(bound, interfaces: machine, routed: routed).map(\.text)
    }

    @Test(
        "URLs are ordered by network, link-local and loopback; inactive interfaces have none"
    )
    func everywhere() {
        let urls = texts(
            BoundAddress(.ipv4("0.0.0.0", port: 8080)), BoundAddress(.ipv6("::", port: 8080)))
        #expect(
            urls == [
                "http://192.168.1.7:8080/", "http://10.0.0.4:8080/", "http://172.17.0.1:8080/",
                "http://[2001:db8::7]:8080/", "http://[fe80::1%25wlan0]:8080/",
                "http://127.0.0.1:8080/", "http://[::1]:8080/",
            ])
    }

    @Test("Of equal addresses the one of the routing table comes first")
    func routed() {
        let urls = texts(BoundAddress(.ipv4("0.0.0.0", port: 80)), routed: ["10.0.0.4"])
        #expect(urls.prefix(2) == ["http://10.0.0.4/", "http://192.168.1.7/"])
    }

    @Test("A server at one address has one URL, and at a Unix socket none")
    func oneAddress() {
        #expect(texts(BoundAddress(.ipv4("10.0.0.4", port: 81))) == ["http://10.0.0.4:81/"])
        #expect(texts(BoundAddress(.ipv6("::1", port: 80))) == ["http://[::1]/"])
        #expect(texts(BoundAddress(.unix("/a"))) == [])
        #expect(texts() == [])
    }

    @Test("An IPv6 socket for both families has the URLs of both")
    func dualStack() {
        let urls = texts(BoundAddress(.ipv6("::", port: 80), isDualStack: true))
        #expect(urls.contains("http://10.0.0.4/"))
        #expect(urls.contains("http://[2001:db8::7]/"))
        #expect(!texts(BoundAddress(.ipv6("::", port: 80))).contains("http://10.0.0.4/"))
    }

    @Test("Two listeners at one address have one URL")
    func duplicates() {
        let urls = texts(
            BoundAddress(.ipv4("10.0.0.4", port: 80)), BoundAddress(.ipv4("0.0.0.0", port: 80)))
        #expect(urls.filter { $0 == "http://10.0.0.4/" }.count == 1)
    }

    @Test(
        "A link-local address is shown with the name of its zone",
        arguments: [
            "fe80::1%3", "fe80::1%wlan0",
        ])
    func zone(_ host: String) throws {
        let urls = ServerURL.list(
            [BoundAddress(.ipv6(host, port: 8080))], interfaces: machine)
        let url = try #require(urls.first)
        #expect(url.text == "http://[fe80::1%25wlan0]:8080/")
        #expect(url.host == "fe80::1")
        #expect(url.zone == "wlan0")
        #expect(url.scope == .linkLocal)
        #expect(!url.worksInBrowsers)
    }

    @Test("A URL has its interface, family, scope and port")
    func parts() throws {
        let urls = ServerURL.list(
            [BoundAddress(.ipv4("0.0.0.0", port: 8080))], interfaces: machine)
        let url = try #require(urls.first)
        #expect(url.interface == "wlan0")
        #expect(url.family == .ipv4)
        #expect(url.scope == .private)
        #expect(url.port == 8080)
        #expect(url.worksInBrowsers)
        #expect(url.description == url.text)
    }

    @Test("An address without a listed interface has a URL, too")
    func unknownInterface() throws {
        let urls = ServerURL.list(
            [BoundAddress(.ipv4("203.0.113.9", port: 80))], interfaces: machine)
        let url = try #require(urls.first)
        #expect(url.text == "http://203.0.113.9/")
        #expect(url.interface == nil)
        #expect(url.scope == .global)
    }

    @Test("RFC 6874: Reserved characters of a zone are percent-encoded")
    func zoneEncoding() {
        let url = ServerURL(
            host: "fe80::1", zone: "br lan/0.é-_~", port: 80, family: .ipv6, scope: .linkLocal,
            interface: "br", kind: .bridge)
        #expect(url.text == "http://[fe80::1%25br%20lan%2F0.%C3%A9-_~]/")
    }

    // MARK: A server

    @Test("A running server has URLs, a stopped one none")
    func server() async throws {
        var configuration = ServerConfiguration(host: "localhost", port: 0)
        configuration.loops = 1
        let server = HTTPServer(configuration, handler: Router())
        #expect(server.reachableURLs.isEmpty)
        try await server.start()
        let port = try #require(server.addresses.first?.port)
        #expect(server.primaryURL?.text == "http://127.0.0.1:\(port)/")
        #expect(server.reachableURLs.allSatisfy { $0.kind == .loopback })
        var updates = server.reachableURLUpdates().makeAsyncIterator()
        #expect(await updates.next() == server.reachableURLs)
        await server.shutdown()
        #expect(server.reachableURLs.isEmpty)
    }

    @Test("A server at all addresses has URLs for those of this machine")
    func wildcard() async throws {
        var configuration = ServerConfiguration(host: "*", port: 0)
        configuration.loops = 1
        let server = HTTPServer(configuration, handler: Router())
        try await server.start()
        let port = try #require(server.addresses.first?.port)
        let texts = server.reachableURLs.map(\.text)
        #expect(texts.contains("http://127.0.0.1:\(port)/"))
        if let primary = NetworkInterface.primaryAddress() {
            #expect(texts.contains("http://\(primary.host):\(port)/"))
            #expect(server.primaryURL?.scope != .loopback)
        }
        await server.shutdown()
    }
}
