package import HTTPParser

/// Base64 with padding (RFC 4648 section 4).
package enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let none: UInt8 = 0xFF
    private static let values = alphabet.enumerated().reduce(
        into: [UInt8](repeating: none, count: 256)
    ) { values, letter in values[Int(letter.element)] = UInt8(letter.offset) }

    /// Adds the text of `bytes` to a buffer.
    package static func encode(_ bytes: [UInt8], into text: inout ByteBuffer) {
        let alphabet = alphabet
        text.reserve((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let left = bytes.count - index
            var bits = UInt32(bytes[index]) << 16
            if left > 1 { bits |= UInt32(bytes[index + 1]) << 8 }
            if left > 2 { bits |= UInt32(bytes[index + 2]) }
            text.append(alphabet[Int(bits >> 18)])
            text.append(alphabet[Int(bits >> 12 & 63)])
            text.append(left > 1 ? alphabet[Int(bits >> 6 & 63)] : UInt8(ascii: "="))
            text.append(left > 2 ? alphabet[Int(bits & 63)] : UInt8(ascii: "="))
            index += 3
        }
    }

    /// The text of `bytes`.
    package static func text(of bytes: [UInt8]) -> String {
        var text = ByteBuffer()
        encode(bytes, into: &text)
        return unsafe String(decoding: text.unsafeBytes, as: UTF8.self)
    }

    /// The decoded bytes; `nil` unless the text is their canonical encoding, without line breaks,
    /// with padding, and with unused bits of zero (RFC 4648 section 3).
    package static func decode(_ text: [UInt8]) -> [UInt8]? {
        guard text.count.isMultiple(of: 4) else { return nil }
        let padding = text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        let letters = text.count - padding
        let values = values
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var (bits, width): (UInt32, UInt32) = (0, 0)
        for index in 0..<letters {
            let value = values[Int(text[index])]
            guard value != none else { return nil }
            (bits, width) = (bits << 6 | UInt32(value), width + 6)
            guard width >= 8 else { continue }
            width -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> width))
            bits &= (1 << width) - 1
        }
        return bits == 0 ? bytes : nil
    }
}
