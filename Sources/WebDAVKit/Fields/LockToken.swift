internal import HTTPCodecs
internal import ToolkitSystem

/// The name of a lock: an unpredictable URI (RFC 4918 section 6.5).
public struct LockToken: Hashable, Sendable, CustomStringConvertible {
    /// The URI.
    public let uri: String

    /// Restores a token that a lock store has saved.
    /// - Parameter uri: an absolute URI.
    public init(uri: String) {
        self.uri = uri
    }

    /// A new token: `urn:uuid:` with 122 random bits (RFC 9562 section 5.4).
    public static func random() -> LockToken {
        let random = Syscalls.randomWords()
        let high = random.0 & ~0xF000 | 0x4000
        let low = random.1 & ~(0b11 << 62) | 0b10 << 62
        var text: [UInt8] = []
        text.reserveCapacity(45)
        text += "urn:uuid:".utf8
        text.append(hexadecimal: high >> 32, digits: 8)
        text.append(0x2D)
        text.append(hexadecimal: high >> 16, digits: 4)
        text.append(0x2D)
        text.append(hexadecimal: high, digits: 4)
        text.append(0x2D)
        text.append(hexadecimal: low >> 48, digits: 4)
        text.append(0x2D)
        text.append(hexadecimal: low, digits: 12)
        return LockToken(uri: String(decoding: text, as: UTF8.self))
    }

    /// The token of a Lock-Token field: a URI in angle brackets (RFC 4918 section 10.5).
    package init?(field: String) {
        var text = Array(field.utf8)[...]
        while text.first == 0x20 || text.first == 0x09 { text.removeFirst() }
        while text.last == 0x20 || text.last == 0x09 { text.removeLast() }
        guard text.first == UInt8(ascii: "<"), text.last == UInt8(ascii: ">"), text.count > 2 else {
            return nil
        }
        let uri = text.dropFirst().dropLast()
        guard
            !uri.contains(where: {
                $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: ">") || $0 == 0x20
            })
        else { return nil }
        self.uri = String(decoding: uri, as: UTF8.self)
    }

    /// Compares the characters (RFC 3986 section 6.2.1).
    public static func == (left: LockToken, right: LockToken) -> Bool {
        left.uri.hasBytes(of: right.uri)
    }

    /// Hashes the bytes of the URI.
    public func hash(into hasher: inout Hasher) {
        uri.hashBytes(into: &hasher)
    }

    /// The URI.
    public var description: String { uri }
}
