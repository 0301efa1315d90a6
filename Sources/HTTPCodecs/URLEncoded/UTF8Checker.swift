/// Checks whether a stream of bytes is UTF-8, and finds the first byte that is not.
///
/// The states follow the table of well-formed byte sequences: how many bytes of the character are
/// missing, and the bounds of the next byte. RFC 3629, section 4.
package struct UTF8Checker: Hashable, Sendable {
    private var missing: UInt8 = 0
    private var lowest: UInt8 = 0x80
    private var highest: UInt8 = 0xBF

    /// Whether the last character is complete.
    package var isComplete: Bool { missing == 0 }

    /// Creates a checker for the beginning of a text.
    package init() {}

    /// Takes the next byte; false if it is not valid at this position.
    @inline(__always)
    package mutating func take(_ byte: UInt8) -> Bool {
        if byte < 0x80, missing == 0 { return true }
        return takeInCharacter(byte)
    }

    /// Takes bytes; false if one of them is not valid at its position. The checker cannot be used
    /// again then.
    package mutating func take(_ bytes: Span<UInt8>) -> Bool {
        var index = 0
        while index < bytes.count {
            if missing == 0 {
                index = Self.endOfASCII(in: bytes, from: index)
                guard index < bytes.count else { return true }
            }
            guard takeInCharacter(bytes[index]) else { return false }
            index += 1
        }
        return true
    }

    /// Skips ASCII, 32 bytes at a time while that many are left.
    @inline(__always)
    private static func endOfASCII(in bytes: Span<UInt8>, from start: Int) -> Int {
        unsafe bytes.withUnsafeBytes { bytes in
            var index = start
            while bytes.count - index >= 32 {
                let words = unsafe bytes.loadUnaligned(
                    fromByteOffset: index, as: SIMD4<UInt64>.self)
                let all = (words[0] | words[1]) | (words[2] | words[3])
                guard all & 0x8080_8080_8080_8080 == 0 else { break }
                index += 32
            }
            while index < bytes.count, unsafe bytes[index] < 0x80 { index += 1 }
            return index
        }
    }

    private mutating func takeInCharacter(_ byte: UInt8) -> Bool {
        guard missing > 0 else { return begin(with: byte) }
        guard lowest...highest ~= byte else { return false }
        (lowest, highest) = (0x80, 0xBF)
        missing -= 1
        return true
    }

    /// Begins a character. The bounds exclude overlong forms, surrogates and values beyond
    /// U+10FFFF.
    private mutating func begin(with byte: UInt8) -> Bool {
        switch byte {
        case 0xC2...0xDF: missing = 1
        case 0xE0: (missing, lowest) = (2, 0xA0)
        case 0xED: (missing, highest) = (2, 0x9F)
        case 0xE1...0xEF: missing = 2
        case 0xF0: (missing, lowest) = (3, 0x90)
        case 0xF4: (missing, highest) = (3, 0x8F)
        case 0xF1...0xF3: missing = 3
        default: return false
        }
        return true
    }
}
