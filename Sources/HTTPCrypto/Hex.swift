internal import HTTPParser

/// Hexadecimal digits.
package enum Hex {
    /// Two digits a byte, letters in lower case.
    package static func text(of bytes: [UInt8]) -> String {
        let digits = StaticString("0123456789abcdef")
        return unsafe String(unsafeUninitializedCapacity: bytes.count * 2) { room in
            for (index, byte) in bytes.enumerated() {
                unsafe room[index * 2] = digits.utf8Start[Int(byte >> 4)]
                unsafe room[index * 2 + 1] = digits.utf8Start[Int(byte & 15)]
            }
            return bytes.count * 2
        }
    }

    /// `nil` for anything but an even number of digits.
    package static func bytes(of text: String) -> [UInt8]? {
        guard text.utf8.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        var high: UInt8?
        for digit in text.utf8 {
            guard let value = ByteClass.hexValue(digit) else { return nil }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return bytes
    }
}
