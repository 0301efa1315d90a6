import HTTPParser
import TestSupport
import Testing

@Suite("RFC 9110, 5.6 and RFC 9112, 3: Allowed bytes at each place")
struct ByteClassTests {
    private static let letters = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
    private static let digits = Set("0123456789".utf8)
    private static let token = letters.union(digits).union("!#$%&'*+-.^_`|~".utf8)
    private static let fieldContent = Set(UInt8(0x20)...0x7E).union(0x80...0xFF).union([9])
    private static let target = Set(UInt8(0x21)...0x7E).subtracting("#".utf8)
    private static let regName = letters.union(digits).union("-._~!$&'()*+,;=".utf8)

    /// A place in a message, and the bytes that are allowed there between two letters.
    struct Place: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var before: String
        var after: String
        var allowed: Set<UInt8>
        var role = WireSetup.Role.request
    }

    private static let chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

    static let places = [
        Place(
            testDescription: "method", before: "M", after: "T / HTTP/1.1\r\nHost: a\r\n\r\n",
            allowed: token),
        Place(
            testDescription: "target", before: "GET /a", after: "b HTTP/1.1\r\nHost: a\r\n\r\n",
            allowed: target),
        Place(
            testDescription: "target of an uncommon method", before: "COPY /a",
            after: "b HTTP/1.1\r\nHost: a\r\n\r\n", allowed: target),
        Place(
            testDescription: "field name", before: "GET / HTTP/1.1\r\nHost: a\r\nN",
            after: "m: v\r\n\r\n", allowed: token.union(":".utf8)),
        Place(
            testDescription: "field value", before: "GET / HTTP/1.1\r\nHost: a\r\nN: v",
            after: "w\r\n\r\n", allowed: fieldContent),
        Place(
            testDescription: "long field value",
            before: "GET / HTTP/1.1\r\nHost: a\r\nN: " + String(repeating: "v", count: 77),
            after: "w\r\n\r\n", allowed: fieldContent),
        Place(
            testDescription: "short host", before: "GET / HTTP/1.1\r\nHost: a", after: "b\r\n\r\n",
            allowed: regName),
        Place(
            testDescription: "long host",
            before: "GET / HTTP/1.1\r\nHost: a.very.long.example", after: "b\r\n\r\n",
            allowed: regName),
        Place(
            testDescription: "escape in a host", before: "GET / HTTP/1.1\r\nHost: a%4",
            after: "b\r\n\r\n", allowed: digits.union("abcdefABCDEF".utf8)),
        Place(
            testDescription: "address in brackets", before: "GET / HTTP/1.1\r\nHost: [1::",
            after: "b]\r\n\r\n", allowed: digits.union("abcdefABCDEF".utf8)),
        Place(
            testDescription: "address of a later version",
            before: "GET / HTTP/1.1\r\nHost: [v1.a", after: "b]\r\n\r\n",
            allowed: regName.union(":".utf8)),
        Place(
            testDescription: "port", before: "GET / HTTP/1.1\r\nHost: a:1", after: "2\r\n\r\n",
            allowed: digits),
        Place(
            testDescription: "Content-Length",
            before: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1", after: "2\r\n\r\n",
            allowed: digits),
        Place(
            testDescription: "chunk size", before: chunked + "1", after: "\r\n",
            allowed: digits.union("abcdefABCDEF".utf8)),
        Place(
            testDescription: "name of a chunk extension", before: chunked + "1;n", after: "m\r\n",
            allowed: token.union(";=".utf8)),
        Place(
            testDescription: "value of a chunk extension", before: chunked + "1;n=v",
            after: "w\r\n", allowed: token.union(";".utf8)),
        Place(
            testDescription: "quoted value of a chunk extension", before: chunked + "1;n=\"v",
            after: "w\"\r\n", allowed: fieldContent.subtracting("\"".utf8)),
        Place(
            testDescription: "trailer value", before: chunked + "0\r\nN: v", after: "w\r\n\r\n",
            allowed: fieldContent),
        Place(
            testDescription: "reason phrase", before: "HTTP/1.1 204 N", after: "o\r\n\r\n",
            allowed: fieldContent, role: .response(to: nil)),
        Place(
            testDescription: "status code", before: "HTTP/1.1 2", after: "0 OK\r\n\r\n",
            allowed: digits, role: .response(to: nil)),
    ]

    @Test("At every place, exactly the allowed bytes are accepted", arguments: places)
    func everyByte(place: Place) {
        for byte in UInt8.min...UInt8.max {
            let bytes = Array(place.before.utf8) + [byte] + Array(place.after.utf8)
            let events = WireSetup(place.role).events(bytes)
            let isRefused = events.contains { event in
                if case .failure = event { true } else { false }
            }
            #expect(isRefused != place.allowed.contains(byte), "byte \(byte)")
        }
    }

    @Test("Only ASCII letters are converted to lower case")
    func lowercase() {
        for byte in UInt8.min...UInt8.max {
            let isUpper = (0x41...0x5A).contains(byte)
            #expect(ByteClass.lowercased(byte) == (isUpper ? byte + 0x20 : byte))
        }
    }
}
