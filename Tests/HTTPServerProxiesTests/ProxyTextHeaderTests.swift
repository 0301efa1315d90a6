import HTTPParser
import HTTPServerCore
import HTTPServerProxies
import Testing

@Suite("PROXY protocol, 2.1: Version 1")
struct ProxyTextHeaderTests {
    private static let longest =
        "PROXY UNKNOWN " + String(repeating: "x", count: 107 - 16) + "\r\n"

    private static let lines: [(String, ProxyHeader)] = [
        ("PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n", ipv4Ends),
        ("PROXY TCP6 2001:db8::1 2001:DB8:0::2 0 65535\r\n", ipv6Ends),
        (
            "PROXY TCP6 ::ffff:192.0.2.1 ::1 1 2\r\n",
            ProxyHeader(
                .proxy, source: .ipv6("::ffff:192.0.2.1", port: 1),
                destination: .ipv6("::1", port: 2))
        ),
        ("PROXY UNKNOWN\r\n", ProxyHeader(.proxy)),
        ("PROXY UNKNOWN ffff:f...f:ffff 1.2.3.4 x\r\n", ProxyHeader(.proxy)),
        (longest, ProxyHeader(.proxy)),
    ]

    @Test("A line is read as a header, and no byte after it is taken", arguments: lines)
    func read(_ line: String, _ header: ProxyHeader) {
        let bytes = Array(line.utf8)
        #expect(outcome(of: bytes) == .header(header, bytes.count))
        let more = bytes + Array("PROXY GET / HTTP/1.1\r\n\r\n".utf8)
        #expect(outcome(of: more) == .header(header, bytes.count))
        for end in bytes.indices {
            #expect(outcome(of: [bytes[..<end]]) == .incomplete, "\(end) bytes")
        }
    }

    @Test(
        "A line is refused at its first wrong byte",
        arguments: [
            ("GET / HTTP/1.1\r\n", .noProxyHeader, 0),
            ("PRI * HTTP/2.0\r\n", .noProxyHeader, 2),
            ("PROXY\tTCP4 ", .noProxyHeader, 5),
            ("PROXY  TCP4 ", .invalidFamily, 6),
            ("PROXY TCP5 ", .invalidFamily, 9),
            ("PROXY TCP4\r\n", .invalidFamily, 10),
            ("PROXY UNKNOWN\n", .invalidFamily, 13),
            ("PROXY UNKNOWNS", .invalidFamily, 13),
            ("PROXY UNKNOWN a\n", .invalidLine, 15),
            ("PROXY UNKNOWN a\rb", .invalidLine, 16),
            ("PROXY TCP4 a", .invalidAddress, 11),
            ("PROXY TCP4 ::1 ", .invalidAddress, 11),
            ("PROXY TCP4  ", .invalidAddress, 11),
            ("PROXY TCP4 1.2.3 ", .invalidAddress, 16),
            ("PROXY TCP4 1.2.3.256 ", .invalidAddress, 20),
            ("PROXY TCP4 1.2.3.04 ", .invalidAddress, 19),
            ("PROXY TCP4 1111.1111.1111.1", .invalidAddress, 26),
            ("PROXY TCP4 1.2.3.4\r\n", .invalidAddress, 18),
            ("PROXY TCP6 1.2.3.4 ", .invalidAddress, 18),
            ("PROXY TCP6 [", .invalidAddress, 11),
            ("PROXY TCP6 fe80::1%", .invalidAddress, 18),
            ("PROXY TCP6 ::1::2 ", .invalidAddress, 17),
            ("PROXY TCP6 " + String(repeating: "0", count: 40), .invalidAddress, 50),
            ("PROXY TCP4 1.2.3.4 1.2.3.4 05", .invalidPort, 28),
            ("PROXY TCP4 1.2.3.4 1.2.3.4 65536", .invalidPort, 31),
            ("PROXY TCP4 1.2.3.4 1.2.3.4 +5", .invalidPort, 27),
            ("PROXY TCP4 1.2.3.4 1.2.3.4  5", .invalidPort, 27),
            ("PROXY TCP4 1.2.3.4 1.2.3.4 5\r\n", .invalidPort, 28),
            ("PROXY TCP4 1.2.3.4 1.2.3.4 5 6 ", .invalidPort, 30),
            ("PROXY TCP4 1.2.3.4 1.2.3.4 5 6\n", .invalidPort, 30),
            ("PROXY TCP4 1.2.3.4 1.2.3.4 5 \r\n", .invalidPort, 29),
            ("PROXY TCP4 1.2.3.4 1.2.3.4 5 6\r\r", .invalidLine, 31),
        ] as [(String, ProxyHeaderError.Kind, Int)])
    func refused(_ line: String, _ kind: ProxyHeaderError.Kind, _ offset: Int) {
        let bytes = Array(line.utf8)
        #expect(outcome(of: bytes) == .error(kind, offset))
        #expect(refusal(of: bytes) == offset)
    }

    @Test(
        "A line has at most 107 bytes",
        arguments: [(106, nil), (107, nil), (108, 105)] as [(Int, Int?)])
    func limit(_ length: Int, _ refused: Int?) {
        let line = "PROXY UNKNOWN " + String(repeating: "x", count: length - 16) + "\r\n"
        let bytes = Array(line.utf8)
        #expect(bytes.count == length)
        #expect(
            outcome(of: bytes)
                == (refused.map { .error(.tooLong, $0) } ?? .header(ProxyHeader(.proxy), length)))
    }

    @Test("The CR of the longest line is at byte 105")
    func lateEnd() {
        let bytes = Array(("PROXY UNKNOWN " + String(repeating: "x", count: 91)).utf8)
        #expect(outcome(of: bytes + [0x0D, 0x0D]) == .error(.invalidLine, 106))
        #expect(outcome(of: bytes + [0x78, 0x0D]) == .error(.tooLong, 105))
    }

    @Test("A version that is not accepted is refused at the first byte")
    func versions() {
        let text = Array("PROXY UNKNOWN\r\n".utf8)
        let binary = ProxyHeader(.local).bytes(in: .binary)
        #expect(
            outcome(of: text, ProxyHeaderParser(versions: [.binary]))
                == .error(.unsupportedVersion, 0))
        #expect(
            outcome(of: binary, ProxyHeaderParser(versions: [.text]))
                == .error(.unsupportedVersion, 0))
    }

    @Test("The end of the input inside a header is an error, which the parser repeats")
    func truncated() throws {
        var parser = ProxyHeaderParser()
        _ = try parser.append(Array("PROXY ".utf8).span)
        #expect(throws: ProxyHeaderError(.truncated, at: 6)) { try parser.finish() }
        #expect(throws: ProxyHeaderError(.truncated, at: 6)) {
            try parser.append(Array("UNKNOWN\r\n".utf8).span)
        }
        var whole = ProxyHeaderParser()
        _ = try whole.append(Array("PROXY UNKNOWN\r\n".utf8).span)
        try whole.finish()
        #expect(try whole.append([0x50].span) == 0)
        #expect("\(ProxyHeaderError(.invalidPort, at: 38))" == "invalid port at byte 38")
    }
}
