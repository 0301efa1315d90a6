import HTTPParser
import HTTPServerCore
import HTTPServerProxies
import Testing
import ToolkitSystem

@Suite("Trusted proxies")
struct TrustedProxiesTests {
    @Test(
        "An entry matches these addresses and no others",
        arguments: [
            ("192.0.2.1", ["192.0.2.1", "::ffff:192.0.2.1"], ["192.0.2.2", "::", "unix"]),
            ("10.0.0.0/8", ["10.0.0.0", "10.255.255.255", "::ffff:10.1.1.1"], ["11.0.0.0"]),
            ("10.0.0.1/32", ["10.0.0.1"], ["10.0.0.0", "10.0.0.2"]),
            ("0.0.0.0/0", ["0.0.0.0", "255.255.255.255"], ["::1", "2001:db8::1"]),
            ("::/0", ["::1", "255.255.255.255"], ["unix"]),
            ("2001:db8::/33", ["2001:db8:7fff::1"], ["2001:db8:8000::", "2001:db9::"]),
            ("fe80::1", ["fe80::1%3", "fe80::1"], ["fe80::2"]),
            (
                "loopback", ["127.0.0.1", "127.255.0.9", "::1", "::ffff:127.0.0.1"],
                ["128.0.0.1", "::2"]
            ),
            ("unix", ["unix"], ["0.0.0.0", "::", "127.0.0.1"]),
        ])
    func contains(_ name: String, _ inside: [String], _ outside: [String]) throws {
        let proxies = try TrustedProxies([name])
        for text in inside { #expect(proxies.contains(Self.address(text)), "\(text)") }
        for text in outside { #expect(!proxies.contains(Self.address(text)), "\(text)") }
        for text in inside { #expect(!TrustedProxies().contains(Self.address(text))) }
    }

    private static func address(_ text: String) -> SocketAddress {
        if text == "unix" { return .unix("/run/a.sock") }
        return text.contains(":") ? .ipv6(text, port: 7) : .ipv4(text, port: 7)
    }

    @Test(
        "An invalid entry is refused",
        arguments: [
            "", "localhost", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/", "10.0.0.0/+8",
            "10.0.0.0/8/8",
            "10.0.0", "010.0.0.1", "::/129", "2001:db8::1/64", "[::1]", "fe80::1%eth0", "::1\0",
            "/8",
            "10.0.0.0/08x", "0.0.0.1/0",
        ])
    func refused(_ text: String) {
        #expect(throws: TrustedProxyError.self) { try TrustedProxies([text]) }
    }
}

@Suite("RFC 7239, 6: Node identifiers")
struct ForwardedNodeTests {
    private static func ipv6(_ host: String, _ port: UInt16 = 0) -> ForwardedNode? {
        PeerAddress(host: host, port: port).map { .address($0) }
    }

    private static let nodes: [(String, ForwardedNode?)] = [
        ("192.0.2.43", ipv6("192.0.2.43")),
        ("192.0.2.43:47011", ipv6("192.0.2.43", 47_011)),
        ("192.0.2.43:_port", ipv6("192.0.2.43")),
        ("[2001:db8::1]", ipv6("2001:db8::1")),
        ("[2001:db8::1]:4711", ipv6("2001:db8::1", 4_711)),
        ("unknown", .hidden),
        ("Unknown", .hidden),
        ("unknown:80", .hidden),
        ("_hidden", .hidden),
        ("_SEVKISEK", .hidden),
        ("_a.b-c_d:_e", .hidden),
        ("", nil), ("_", nil), ("_a b", nil), ("_ä", nil), ("name", nil), ("1.2.3", nil),
        ("1.2.3.4:", nil), ("1.2.3.4:65536", nil), ("1.2.3.4:123456", nil), ("1.2.3.4:+1", nil),
        ("1.2.3.4:80:80", nil), ("[::1", nil), ("[::1]x", nil), ("[::1]:", nil), ("[1.2.3.4]", nil),
        ("[fe80::1%25eth0]", nil), ("[]", nil), ("1.2.3.4\0", nil),
        ("_" + String(repeating: "a", count: 127), .hidden),
        ("_" + String(repeating: "a", count: 128), nil),
    ]

    @Test("A node is an address, hidden, or malformed", arguments: nodes)
    func node(_ text: String, _ node: ForwardedNode?) {
        #expect(ForwardedNode(text, allowsBareIPv6: false) == node)
        #expect(ForwardedNode(text, allowsBareIPv6: true) == node)
    }

    @Test("IPv6 without brackets is accepted only where it is allowed")
    func bare() {
        #expect(ForwardedNode("2001:db8::1", allowsBareIPv6: false) == nil)
        #expect(ForwardedNode("2001:db8::1", allowsBareIPv6: true) == Self.ipv6("2001:db8::1"))
        #expect(ForwardedNode("::ffff:1.2.3.4", allowsBareIPv6: true) != nil)
        #expect(ForwardedNode("2001:db8::1::2", allowsBareIPv6: true) == nil)
    }
}

@Suite("RFC 7239, 4: Forwarded, and the fields that begin with X-Forwarded")
struct ForwardedFieldsTests {
    /// Field lines, and the expected address, scheme and host of the client.
    struct Case: Sendable, CustomStringConvertible {
        var lines: [String]
        var address: String?
        var scheme: String?
        var host: String?

        init(_ lines: String..., address: String?, scheme: String? = nil, host: String? = nil) {
            (self.lines, self.address, self.scheme, self.host) = (lines, address, scheme, host)
        }

        var description: String { lines.joined(separator: " | ") }
    }

    private static func fields(_ lines: [String]) -> HTTPFields {
        var fields = HTTPFields()
        for line in lines {
            let colon = line.firstIndex(of: ":") ?? line.endIndex
            guard let name = HTTPFieldName(String(line[..<colon])) else { continue }
            fields.append(name, line[colon...].dropFirst(2).description)
        }
        return fields
    }

    /// The client in fields of the trusted proxies 10.0.0.0/8 and fd00::/8.
    private static func client(
        _ lines: [String], names: ForwardedFields.Names = [.forwarded, .xForwarded],
        peer: String = "10.0.0.1"
    ) throws -> ForwardedClient? {
        let proxies = try TrustedProxies(["10.0.0.0/8", "fd00::/8"])
        let fields = fields(lines)
        let address = try #require(PeerAddress(host: peer, port: 9))
        return try ForwardedFields(proxies: proxies, names: names).client(of: address) {
            fields.values(of: $0)
        }
    }

    private static let clients: [Case] = [
        Case("Forwarded: for=192.0.2.43", address: "192.0.2.43:0"),
        Case(
            "Forwarded: for=192.0.2.43;proto=https;by=203.0.113.43;host=\"example.org:8443\"",
            address: "192.0.2.43:0", scheme: "https", host: "example.org:8443"),
        Case("Forwarded: For=\"[2001:db8:cafe::17]:4711\"", address: "[2001:db8:cafe::17]:4711"),
        Case("Forwarded: for=192.0.2.43;", address: "192.0.2.43:0"),
        Case("Forwarded: ;for=192.0.2.43;;proto=http", address: "192.0.2.43:0", scheme: "http"),
        Case("Forwarded: for=\"192.0.2.43\", ,", address: "192.0.2.43:0"),
        Case("Forwarded: for=192.0.2.43;extension=\"a,b;c\"", address: "192.0.2.43:0"),
        Case("Forwarded: proto=https", address: nil, scheme: "https"),
        Case("Forwarded: ", address: nil),
        // Elements are read from the right, up to the first that is not a proxy.
        Case("Forwarded: for=192.0.2.1, for=192.0.2.2", address: "192.0.2.2:0"),
        Case("Forwarded: for=192.0.2.1", "Forwarded: for=192.0.2.2", address: "192.0.2.2:0"),
        Case("Forwarded: for=192.0.2.1, for=10.0.0.2", address: "192.0.2.1:0"),
        Case(
            "Forwarded: for=192.0.2.1, for=192.0.2.2;proto=https;host=a",
            "Forwarded: for=\"[fd00::1]\", for=10.0.0.2;proto=http;host=b",
            address: "192.0.2.2:0", scheme: "https", host: "a"),
        Case("Forwarded: for=10.0.0.3, for=10.0.0.2", address: "10.0.0.3:0"),
        // An element without a scheme or host keeps that of the proxy after it.
        Case(
            "Forwarded: for=192.0.2.1, for=10.0.0.2;proto=https;host=b",
            address: "192.0.2.1:0", scheme: "https", host: "b"),
        // A hidden sender: the last known address is that of the proxy before it.
        Case("Forwarded: for=unknown;proto=https", address: nil, scheme: "https"),
        Case("Forwarded: for=192.0.2.1, for=_hidden", address: nil),
        Case("Forwarded: for=_hidden, for=10.0.0.2", address: "10.0.0.2:0"),
        Case("Forwarded: for=192.0.2.1, proto=http", address: nil, scheme: "http"),
        // Elements that a client wrote are not read.
        Case("Forwarded: for=\"broken", "Forwarded: for=192.0.2.2", address: "192.0.2.2:0"),
        Case("Forwarded: for=nobody;for=a, for=192.0.2.2", address: "192.0.2.2:0"),
        // X-Forwarded.
        Case("X-Forwarded-For: 192.0.2.43", address: "192.0.2.43:0"),
        Case("X-Forwarded-For: 192.0.2.43:80", address: "192.0.2.43:80"),
        Case("X-Forwarded-For: 2001:db8::1", address: "[2001:db8::1]:0"),
        Case("X-Forwarded-For: spoof, 192.0.2.43", address: "192.0.2.43:0"),
        Case("X-Forwarded-For: spoof", "X-Forwarded-For: 192.0.2.43", address: "192.0.2.43:0"),
        Case("X-Forwarded-For: spoof,\t192.0.2.43 , 10.0.0.2,", address: "192.0.2.43:0"),
        Case("X-Forwarded-For: 192.0.2.43, unknown", address: nil),
        Case("X-Forwarded-For: 192.0.2.43, unknown, 10.0.0.2", address: "10.0.0.2:0"),
        Case("X-Forwarded-For: 10.0.0.3, 10.0.0.2", address: "10.0.0.3:0"),
        Case(
            "X-Forwarded-For: 192.0.2.43", "X-Forwarded-Proto: https", "X-Forwarded-Host: a:81",
            address: "192.0.2.43:0", scheme: "https", host: "a:81"),
        Case("X-Forwarded-Proto: HTTPS", address: nil, scheme: "https"),
        Case("X-Forwarded-Proto: wss", address: nil, scheme: "https"),
        // Lists are read from the right as well; a shorter one applies to the client.
        Case(
            "X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https, http",
            address: "192.0.2.1:0", scheme: "http"),
        Case(
            "X-Forwarded-For: 192.0.2.1, 10.0.0.2", "X-Forwarded-Proto: spoof, https, http",
            "X-Forwarded-Host: a", address: "192.0.2.1:0", scheme: "https", host: "a"),
        // Forwarded is used if both agree.
        Case(
            "Forwarded: for=\"192.0.2.1:5\";proto=https", "X-Forwarded-For: 192.0.2.1",
            "X-Forwarded-Proto: http", "X-Forwarded-Host: b",
            address: "192.0.2.1:5", scheme: "https"),
    ]

    @Test("Address, scheme and host of the client are read", arguments: clients)
    func found(_ example: Case) throws {
        let client = try #require(try Self.client(example.lines))
        #expect(client.address?.description == example.address)
        #expect(client.scheme == example.scheme)
        #expect(client.host == example.host)
    }

    @Test("Fields of a peer that is not a trusted proxy are ignored", arguments: clients)
    func spoofed(_ example: Case) throws {
        #expect(try Self.client(example.lines, peer: "11.0.0.1") == nil)
        #expect(try Self.client(example.lines, peer: "2001:db8::1") == nil)
    }

    @Test("Only the named fields are read")
    func unnamedFields() throws {
        let lines = [
            "Forwarded: for=192.0.2.1;host=a", "X-Forwarded-For: 192.0.2.2",
            "X-Forwarded-Proto: https", "X-Forwarded-Host: b",
        ]
        let cases: [(ForwardedFields.Names, String?, String?, String?)] = [
            (.forwarded, "192.0.2.1", nil, "a"),
            (.xForwarded, "192.0.2.2", "https", "b"),
            ([.xForwardedFor, .xForwardedProto], "192.0.2.2", "https", nil),
            (.xForwardedHost, nil, nil, "b"),
        ]
        for (names, host, scheme, authority) in cases {
            let client = try #require(try Self.client(lines, names: names))
            #expect(client.address?.host == host)
            #expect(client.scheme == scheme)
            #expect(client.host == authority)
        }
        #expect(try Self.client(lines, names: []) == nil)
        #expect(try Self.client([]) == nil)
    }

    @Test(
        "Malformed and contradictory fields of a proxy are refused",
        arguments: [
            (["Forwarded: for"], .malformed, "Forwarded"),
            (["Forwarded: for=\"a, for=192.0.2.1"], .malformed, "Forwarded"),
            (["Forwarded: for=192.0.2.1;for=192.0.2.2"], .malformed, "Forwarded"),
            (["Forwarded: for=192.0.2.1;FOR=192.0.2.2"], .malformed, "Forwarded"),
            (["Forwarded: for=192.0.2.1:80"], .malformed, "Forwarded"),
            (["Forwarded: for=192.0.2.1; proto=http"], .malformed, "Forwarded"),
            (["Forwarded: for=192.0.2.1;proto=ftp"], .malformed, "Forwarded"),
            (["Forwarded: for=192.0.2.1;host=\"a b\""], .malformed, "Forwarded"),
            (["Forwarded: for=nobody"], .malformed, "Forwarded"),
            (["Forwarded: for=nobody, for=10.0.0.2"], .malformed, "Forwarded"),
            (["Forwarded: for=192.0.2.1;host=a:80"], .malformed, "Forwarded"),
            (["Forwarded: for=\"a", "Forwarded: for=10.0.0.2"], .malformed, "Forwarded"),
            (["X-Forwarded-For: nobody"], .malformed, "X-Forwarded-For"),
            (["X-Forwarded-For: nobody, 10.0.0.2"], .malformed, "X-Forwarded-For"),
            (["X-Forwarded-Proto: ftp"], .malformed, "X-Forwarded-Proto"),
            (["X-Forwarded-Host: a/b"], .malformed, "X-Forwarded-Host"),
            (["X-Forwarded-Host: user@a"], .malformed, "X-Forwarded-Host"),
            (
                ["Forwarded: for=192.0.2.1", "X-Forwarded-For: 192.0.2.2"], .contradiction,
                "Forwarded"
            ),
            (["Forwarded: proto=http", "X-Forwarded-For: 192.0.2.2"], .contradiction, "Forwarded"),
            (
                ["Forwarded: for=_hidden", "X-Forwarded-For: 192.0.2.2"], .contradiction,
                "Forwarded"
            ),
            (["Forwarded: ", "X-Forwarded-For: 192.0.2.2"], .contradiction, "Forwarded"),
        ] as [([String], ForwardedFieldError.Kind, HTTPFieldName)])
    func refused(_ lines: [String], _ kind: ForwardedFieldError.Kind, _ name: HTTPFieldName) {
        #expect {
            try Self.client(lines)
        } throws: { error in
            guard let error = error as? ForwardedFieldError else { return false }
            return error.kind == kind && error.field == name
        }
    }

    @Test(
        "More than 64 elements are refused, in one line or in many",
        arguments: ["X-Forwarded-For: ", "Forwarded: for="], [true, false])
    func elementLimit(_ start: String, _ isOneLine: Bool) throws {
        let separator = start.hasPrefix("X") ? ", " : ", for="
        for count in [63, 64, 65] {
            let nodes = ["192.0.2.1"] + [String](repeating: "10.0.0.2", count: count - 1)
            let lines =
                isOneLine ? [start + nodes.joined(separator: separator)] : nodes.map { start + $0 }
            if count <= 64 {
                #expect(try Self.client(lines)?.address?.host == "192.0.2.1")
            } else {
                #expect(throws: ForwardedFieldError.self) { try Self.client(lines) }
            }
        }
    }

    @Test("A host is at most 261 bytes long", arguments: [260, 261, 262])
    func hostLimit(_ length: Int) throws {
        let lines = ["X-Forwarded-Host: " + String(repeating: "a", count: length)]
        if length <= 261 {
            #expect(try Self.client(lines)?.host?.utf8.count == length)
        } else {
            #expect(throws: ForwardedFieldError.self) { try Self.client(lines) }
        }
    }
}
