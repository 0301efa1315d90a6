import HTTPCodecs
import HTTPParser
import Testing

@Suite("RFC 3986, 2.1: Percent-Encoding")
struct PercentEncodingTests {
    private static let letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    private static let visible = String(
        decoding: (UInt8(0x21)...0x7E).map { $0 }, as: UTF8.self)

    private static func visible(without characters: String) -> String {
        visible.filter { !characters.contains($0) }
    }

    @Test("Each set contains the characters of its grammar, and no others", arguments: sets)
    func keeping(set: PercentEncoding.ByteSet, characters: String) {
        #expect(set == PercentEncoding.ByteSet(characters))
        for byte in UInt8.min...UInt8.max {
            let isNamed = characters.utf8.contains(byte)
            #expect(set.contains(byte) == isNamed, "byte \(byte)")
        }
    }

    static let sets: [(PercentEncoding.ByteSet, String)] = [
        (.unreserved, letters + "-._~"),
        (.pathSegment, letters + "-._~!$&'()*+,;=:@"),
        (.path, letters + "-._~!$&'()*+,;=:@/"),
        (.query, letters + "-._~!$&'()*+,;=:@/?"),
        (.userInfo, letters + "-._~!$&'()*+,;=:"),
        (.attribute, letters + "!#$&+-.^_`|~"),
        (.urlFragment, visible(without: "\"<>`")),
        (.urlQuery, visible(without: "\"#<>")),
        (.urlSpecialQuery, visible(without: "\"#<>'")),
        (.urlPath, visible(without: "\"#<>?^`{}")),
        (.urlUserInfo, visible(without: "\"#<>?^`{}/:;=@[\\]|")),
        (.urlComponent, visible(without: "\"#<>?^`{}/:;=@[\\]|$%&+,")),
        (.form, letters + "*-._"),
    ]

    @Test("Sets can be made and joined")
    func joining() {
        let set = PercentEncoding.ByteSet("ab").union(PercentEncoding.ByteSet("b?"))
        #expect(set == PercentEncoding.ByteSet("ab?"))
        #expect(PercentEncoding.encode("abc?", keeping: set) == "ab%63?")
    }

    @Test("A set with characters beyond ASCII traps")
    func badSet() async {
        await #expect(processExitsWith: .failure) { _ = PercentEncoding.ByteSet("ä") }
    }

    @Test(
        "Decoding returns the encoded text",
        arguments: [
            ("", ""), ("a b/ü", "a%20b%2F%C3%BC"), ("100%", "100%25"), ("\0\u{7F}", "%00%7F"),
            ("+&=", "%2B%26%3D"), ("🎈", "%F0%9F%8E%88"), ("~-._", "~-._"), ("%41", "%2541"),
        ])
    func roundTrip(text: String, encoded: String) throws {
        #expect(PercentEncoding.encode(text) == encoded)
        #expect(PercentEncoding.encode(bytes: text.utf8) == encoded)
        #expect(try PercentEncoding.decode(encoded) == text)
        #expect(try PercentEncoding.decode(encoded, .lenient) == text)
    }

    @Test("Decoding returns all byte values, and appends to existing output")
    func allBytes() throws {
        let bytes = Array(UInt8.min...UInt8.max)
        var encoded = Array("x".utf8)
        PercentEncoding.encode(bytes.span, into: &encoded)
        var decoded = Array("y".utf8)
        try PercentEncoding.decode(encoded.span, into: &decoded)
        #expect(decoded == Array("yx".utf8) + bytes)
    }

    @Test(
        "Invalid escapes are refused at their first byte, or kept when lenient",
        arguments: [
            ("%", 0), ("a%", 1), ("%4", 0), ("a%4", 1), ("%4g", 0), ("%g4", 0), ("%41%", 3),
            ("%%41", 0), ("%+1", 0), ("%-1", 0), ("% 1", 0), ("%0x", 0), ("%u0041", 0), ("%４1", 0),
        ])
    func illFormed(text: String, offset: Int64) throws {
        #expect(throws: CodecError(.invalidPercentEncoding, at: offset)) {
            try PercentEncoding.decode(text)
        }
        let lenient = try PercentEncoding.decode(text, .lenient)
        #expect(lenient == text.replacing("%41", with: "A"))
    }

    @Test("Hexadecimal digits may be in upper and lower case")
    func hexCase() throws {
        #expect(try PercentEncoding.decode("%c3%Bc%C3%bC") == "üü")
    }

    @Test(
        "Invalid UTF-8 is refused, or replaced when lenient",
        arguments: ["%FF", "%C3", "%ED%A0%80"])
    func notText(text: String) throws {
        #expect(throws: CodecError(.invalidText)) { try PercentEncoding.decode(text) }
        let lenient = try PercentEncoding.decode(text, .lenient)
        #expect(!lenient.isEmpty && lenient.allSatisfy { $0 == "\u{FFFD}" })
    }
}
