/// The name of a lock: a URI that nobody can guess (RFC 4918 section 6.5).
public struct LockToken: Hashable, Sendable, CustomStringConvertible {
    /// The URI.
    public let uri: String

    /// Takes over a token, as a store of locks does that kept it somewhere.
    /// - Parameter uri: an absolute URI.
    public init(uri: String) {
        self.uri = uri
    }

    /// A new one: `urn:uuid:` with 122 random bits (RFC 9562 section 5.4).
    public static func random() -> LockToken {
        var generator = SystemRandomNumberGenerator()
        let high = generator.next() & ~0xF000 | 0x4000
        let low = generator.next() & ~(0b11 << 62) | 0b10 << 62
        let digits = hex(high) + hex(low)
        var uri = "urn:uuid:"
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { uri += "-" }
            uri.append(digit)
        }
        return LockToken(uri: uri)
    }

    private static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// The token of a Lock-Token field: a URI in angle brackets (RFC 4918 section 10.5).
    package init?(field: String) {
        var text = field[...]
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        guard text.first == "<", text.last == ">", text.count > 2 else { return nil }
        let uri = text.dropFirst().dropLast()
        guard !uri.contains(where: { $0 == "<" || $0 == ">" || $0 == " " }) else { return nil }
        self.uri = String(uri)
    }

    /// The URI.
    public var description: String { uri }
}
