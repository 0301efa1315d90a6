import HTTPServerCore
import HTTPServerProxies
import Testing

@Suite("PROXY protocol, 2.2: Version 2")
struct ProxyBinaryHeaderTests {
    private static let signature: [UInt8] = [
        0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
    ]
    private static let ipv4: [UInt8] = [192, 0, 2, 1, 198, 51, 100, 1, 0xDC, 0x04, 0x01, 0xBB]

    private static func header(
        _ command: UInt8, _ family: UInt8, _ content: [UInt8], length: Int? = nil
    ) -> [UInt8] {
        let length = length ?? content.count
        return signature + [command, family, UInt8(length >> 8), UInt8(length & 0xFF)] + content
    }

    private static func value(_ type: UInt8, _ content: [UInt8]) -> [UInt8] {
        [type, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
    }

    private static func unix(_ path: String) -> [UInt8] {
        Array(path.utf8) + [UInt8](repeating: 0, count: 108 - path.utf8.count)
    }

    private static func changed(_ change: (inout ProxyHeader) -> Void) -> ProxyHeader {
        var header = ipv4Ends
        change(&header)
        return header
    }

    private static func tls(_ change: (inout ProxyHeader.TLS) -> Void) -> ProxyHeader {
        changed { header in
            var tls = ProxyHeader.TLS()
            change(&tls)
            header.tls = tls
        }
    }

    private static let headers: [([UInt8], ProxyHeader)] = [
        (header(0x21, 0x11, ipv4), ipv4Ends),
        (header(0x21, 0x12, ipv4), ipv4Ends),
        (
            header(
                0x21, 0x21,
                [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1]
                    + [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [2]
                    + [0, 0, 0xFF, 0xFF]), ipv6Ends
        ),
        (
            header(0x21, 0x31, unix("/a") + unix(String(repeating: "b", count: 108))),
            ProxyHeader(
                .proxy, source: .unix("/a"),
                destination: .unix(String(repeating: "b", count: 108)))
        ),
        // LOCAL and an unknown family: the rest is skipped, whatever it is.
        (header(0x20, 0x00, []), ProxyHeader(.local)),
        (header(0x20, 0x11, ipv4), ProxyHeader(.local)),
        (header(0x20, 0xFF, [1, 2, 3]), ProxyHeader(.local)),
        (header(0x21, 0x00, [3, 0, 9, 1]), ProxyHeader(.proxy)),
        // Values.
        (
            header(0x21, 0x11, ipv4 + value(0x01, Array("h2".utf8))),
            changed { $0.applicationProtocol = Array("h2".utf8) }
        ),
        (
            header(0x21, 0x11, ipv4 + value(0x02, Array("example.org".utf8))),
            changed { $0.authority = "example.org" }
        ),
        (
            header(0x21, 0x11, ipv4 + value(0x05, [1, 2, 3])),
            changed { $0.uniqueID = [1, 2, 3] }
        ),
        (header(0x21, 0x11, ipv4 + value(0x04, [0, 0]) + value(0x04, [])), ipv4Ends),
        (header(0x21, 0x11, ipv4 + value(0xE0, [9]) + value(0x30, [0xFF])), ipv4Ends),
        (
            header(
                0x21, 0x11,
                ipv4
                    + value(
                        0x20,
                        [7, 0, 0, 0, 0] + value(0x21, Array("TLSv1.3".utf8))
                            + value(0x22, Array("Zoë".utf8)) + value(0x23, Array("AES".utf8))
                            + value(0x24, [1]) + value(0x01, []))),
            tls {
                $0.version = "TLSv1.3"
                $0.commonName = "Zoë"
                $0.cipher = "AES"
                $0.hasCertificate = true
                $0.verifyResult = 0
            }
        ),
        (header(0x21, 0x11, ipv4 + value(0x20, [1, 0, 0, 0, 1])), tls { _ in }),
        (
            header(0x21, 0x11, ipv4 + value(0x20, [5, 0, 0, 1, 2])),
            tls { ($0.hasCertificate, $0.verifyResult) = (true, 258) }
        ),
        // Not over TLS.
        (header(0x21, 0x11, ipv4 + value(0x20, [0, 0, 0, 0, 1])), ipv4Ends),
    ]

    @Test("A header is read, and no byte after it is taken", arguments: headers)
    func read(_ bytes: [UInt8], _ header: ProxyHeader) {
        #expect(outcome(of: bytes) == .header(header, bytes.count))
        let more = bytes + Array("GET / HTTP/1.1\r\n\r\n".utf8)
        #expect(outcome(of: more) == .header(header, bytes.count))
        for end in bytes.indices {
            #expect(outcome(of: [bytes[..<end]]) == .incomplete, "\(end) bytes")
        }
    }

    private static let text256 = [UInt8](repeating: 0x61, count: 256)

    private static let wrongHeaders: [([UInt8], ProxyHeaderError.Kind, Int, Int)] = [
        (Array("\r\n\r\n\0\r\nQUIT\r".utf8), .noProxyHeader, 11, 11),
        (header(0x11, 0x11, ipv4), .unsupportedVersion, 12, 12),
        (header(0x22, 0x11, ipv4), .invalidCommand, 12, 12),
        (header(0x2F, 0x11, ipv4), .invalidCommand, 12, 12),
        (header(0x21, 0x10, ipv4), .invalidFamily, 13, 13),
        (header(0x21, 0x13, ipv4), .invalidFamily, 13, 13),
        (header(0x21, 0x41, ipv4), .invalidFamily, 13, 13),
        (header(0x21, 0x01, ipv4), .invalidFamily, 13, 13),
        (header(0x21, 0x11, Array(ipv4.dropLast())), .tooShort, 15, 15),
        (header(0x21, 0x21, ipv4), .tooShort, 15, 15),
        (header(0x21, 0x31, ipv4), .tooShort, 15, 15),
        // One or two bytes are too short for a value.
        (header(0x21, 0x11, ipv4 + [4]), .invalidValue, 28, 28),
        (header(0x21, 0x11, ipv4 + [4, 0]), .invalidValue, 28, 28),
        (header(0x21, 0x11, ipv4 + [4, 0, 0, 4]), .invalidValue, 31, 31),
        // A value longer than the rest of the header is refused at its length.
        (header(0x21, 0x11, ipv4 + [4, 0, 2, 0]), .invalidValue, 30, 30),
        (header(0x21, 0x11, ipv4 + [0xE0, 0xFF, 0xFF, 0]), .invalidValue, 30, 30),
        // Content that its type does not allow: the error has the place of the value, and comes at
        // its last byte.
        (header(0x21, 0x11, ipv4 + value(0x01, [])), .invalidValue, 28, 30),
        (header(0x21, 0x11, ipv4 + value(0x01, text256)), .invalidValue, 28, 286),
        (header(0x21, 0x11, ipv4 + value(0x02, [])), .invalidValue, 28, 30),
        (header(0x21, 0x11, ipv4 + value(0x02, text256)), .invalidValue, 28, 286),
        (header(0x21, 0x11, ipv4 + value(0x02, [0x61, 0xFF])), .invalidValue, 28, 32),
        (header(0x21, 0x11, ipv4 + value(0x02, [0x61, 0x0A])), .invalidValue, 28, 32),
        (header(0x21, 0x11, ipv4 + value(0x02, [0x61, 0x00])), .invalidValue, 28, 32),
        (header(0x21, 0x11, ipv4 + value(0x03, [1, 2, 3])), .invalidValue, 28, 33),
        (
            header(0x21, 0x11, ipv4 + value(0x05, Array(text256.prefix(129)))), .invalidValue, 28,
            159
        ),
        (header(0x21, 0x11, ipv4 + value(0x20, [1, 0, 0, 0])), .invalidValue, 28, 34),
        (header(0x21, 0x11, ipv4 + value(0x20, [1, 0, 0, 0, 0, 0x21])), .invalidValue, 36, 36),
        (
            header(0x21, 0x11, ipv4 + value(0x20, [1, 0, 0, 0, 0, 0x21, 0, 1])), .invalidValue,
            36, 38
        ),
        (
            header(0x21, 0x11, ipv4 + value(0x20, [1, 0, 0, 0, 0] + value(0x22, [0]))),
            .invalidValue, 36, 39
        ),
        (header(0x21, 0x11, ipv4 + value(0x22, [0x61])), .invalidValue, 28, 31),
        // Repeated values, and a wrong checksum.
        (
            header(0x21, 0x11, ipv4 + value(0x02, [0x61]) + value(0x02, [0x61])), .repeatedValue,
            32, 35
        ),
        (
            header(
                0x21, 0x11,
                ipv4
                    + value(0x20, [1, 0, 0, 0, 0] + value(0x22, [0x61]) + value(0x22, [0x62]))),
            .repeatedValue, 40, 43
        ),
        (
            header(0x21, 0x11, ipv4 + value(0x03, [0, 0, 0, 0])), .wrongChecksum, 31, 34
        ),
    ]

    @Test("A header is refused as soon as it is wrong", arguments: wrongHeaders)
    func refused(_ bytes: [UInt8], _ kind: ProxyHeaderError.Kind, _ offset: Int, _ refused: Int) {
        #expect(outcome(of: bytes) == .error(kind, offset))
        #expect(refusal(of: bytes) == refused)
    }

    @Test(
        "A value may be as long as its limit", arguments: [(0x01, 255), (0x02, 255), (0x05, 128)])
    func valueLimits(_ type: Int, _ length: Int) {
        let content = Array(Self.text256.prefix(length))
        let bytes = Self.header(0x21, 0x11, Self.ipv4 + Self.value(UInt8(type), content))
        guard case .header(let header, _) = outcome(of: [bytes[...]]) else {
            Issue.record("no header")
            return
        }
        let authority = header.authority.map { Array($0.utf8) }
        #expect((header.applicationProtocol ?? header.uniqueID ?? authority) == content)
    }

    @Test(
        "A header has at most 4,096 bytes after the first 16",
        arguments: [(4_095, nil), (4_096, nil), (4_097, 15), (65_535, 14)] as [(Int, Int?)])
    func lengthLimit(_ length: Int, _ refused: Int?) {
        let content = Self.ipv4 + Self.value(0x04, [UInt8](repeating: 0, count: length - 15))
        let bytes = Self.header(0x21, 0x11, content)
        #expect(content.count == length)
        let expected: HeaderOutcome =
            refused.map { .error(.tooLong, $0) } ?? .header(ipv4Ends, length + 16)
        #expect(outcome(of: [bytes[...]]) == expected)
        #expect(outcome(of: bytes.indices.map { bytes[$0...$0] }) == expected)
        #expect(refusal(of: bytes) == refused)
        let skipped = Self.header(0x20, 0x00, content)
        #expect(
            outcome(of: [skipped[...]])
                == (refused.map { .error(.tooLong, $0) }
                    ?? .header(ProxyHeader(.local), length + 16)))
    }

    @Test("RFC 9260, A: A wrong bit in the addresses or the checksum is refused")
    func checksum() {
        let bytes = ipv4Ends.bytes(in: .binary, hasChecksum: true)
        #expect(outcome(of: bytes) == .header(ipv4Ends, bytes.count))
        // The addresses and the checksum.
        for index in Array(16..<28) + Array(31..<35) {
            var wrong = bytes
            wrong[index] ^= 0x10
            #expect(outcome(of: [wrong[...]]) == .error(.wrongChecksum, 31), "byte \(index)")
        }
    }
}

@Suite("PROXY protocol: Writing")
struct ProxyHeaderWritingTests {
    private static let headers: [ProxyHeader] = {
        var full = ipv6Ends
        full.applicationProtocol = Array("http/1.1".utf8)
        full.authority = "example.org"
        full.uniqueID = []
        var tls = ProxyHeader.TLS()
        (tls.version, tls.cipher, tls.commonName) = ("TLSv1.2", "ECDHE-RSA-AES128-SHA", "a b")
        (tls.hasCertificate, tls.verifyResult) = (true, 0)
        full.tls = tls
        return [
            ipv4Ends, ipv6Ends, full, ProxyHeader(.local), ProxyHeader(.proxy),
            ProxyHeader(.proxy, source: .unix(""), destination: .unix("/run/a.sock")),
        ]
    }()

    @Test(
        "A written header of version 2 is read with the same content",
        arguments: headers, [true, false])
    func binary(_ header: ProxyHeader, _ hasChecksum: Bool) {
        let bytes = header.bytes(in: .binary, hasChecksum: hasChecksum)
        #expect(outcome(of: bytes) == .header(header, bytes.count))
    }

    @Test(
        "Version 1 has only addresses of IPv4 or IPv6",
        arguments: [
            (ipv4Ends, "PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n"),
            (ipv6Ends, "PROXY TCP6 2001:db8::1 2001:db8::2 0 65535\r\n"),
            (ProxyHeader(.local), "PROXY UNKNOWN\r\n"),
            (
                ProxyHeader(.proxy, source: .unix("/a"), destination: .unix("/b")),
                "PROXY UNKNOWN\r\n"
            ),
            (
                ProxyHeader(
                    .proxy, source: .ipv4("192.0.2.1", port: 1),
                    destination: .ipv6("::1", port: 2)), "PROXY UNKNOWN\r\n"
            ),
            (
                ProxyHeader(
                    .proxy, source: .ipv4("host", port: 1),
                    destination: .ipv4("192.0.2.1", port: 2)), "PROXY UNKNOWN\r\n"
            ),
        ])
    func text(_ header: ProxyHeader, _ line: String) {
        #expect(String(decoding: header.bytes(in: .text), as: UTF8.self) == line)
    }
}
