import HTTPCodecs
import HTTPParser
import Testing

@Suite("RFC 4648, 4: Base64")
struct Base64Tests {
    private func encode(_ bytes: [UInt8]) -> String {
        Base64.text(of: bytes)
    }

    @Test(
        "10: The test vectors of the RFC, encoded and decoded",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
        ])
    func vectors(plain: String, text: String) {
        #expect(encode(Array(plain.utf8)) == text)
        #expect(Base64.decode(Array(text.utf8)) == Array(plain.utf8))
    }

    @Test("Every byte value survives a round trip at each position of a group", arguments: 0..<3)
    func roundTrip(shift: Int) {
        let bytes = [UInt8](repeating: 0xFB, count: shift) + (0...255).map { UInt8($0) }
        #expect(Base64.decode(Array(encode(bytes).utf8)) == bytes)
    }

    @Test(
        "3: Invalid and non-canonical text is refused",
        arguments: [
            "Z", "Zg", "Zg=", "Zm8", "Zg===", "Z===", "====", "=", "==", "Zm=v", "=m9v", "Zm9v\n",
            "Zm 9", "Zm9-", "Zm9_", "Zh==", "Zm9=", "Zg==Zg==", "Zm9\u{E9}",
        ])
    func refusal(text: String) {
        #expect(Base64.decode(Array(text.utf8)) == nil)
    }
}
