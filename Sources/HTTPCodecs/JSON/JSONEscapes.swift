internal import HTTPParser

/// The escapes of strings (RFC 8259 section 7).
enum JSONEscapes {
    /// The characters of a string in valid JSON; `nil` if it contains half of a surrogate pair.
    static func decoded(_ text: Span<UInt8>) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        let isWhole = decode(text) { byte in
            bytes.append(byte)
            return true
        }
        return isWhole ? String(decoding: bytes, as: UTF8.self) : nil
    }

    /// Whether a string in valid JSON has these characters, in UTF-8.
    static func isSame(_ text: Span<UInt8>, as wanted: UnsafeBufferPointer<UInt8>) -> Bool {
        var count = 0
        let isPrefix = decode(text) { byte in
            guard count < wanted.count, unsafe wanted[count] == byte else { return false }
            count += 1
            return true
        }
        return isPrefix && count == wanted.count
    }

    /// Calls `body` with each byte of the characters, until it returns `false`.
    /// - Returns: whether `body` accepted all bytes; `false` also for half of a surrogate pair.
    @inline(__always)
    private static func decode(_ text: Span<UInt8>, _ body: (UInt8) -> Bool) -> Bool {
        var index = 0
        while index < text.count {
            guard text[index] == UInt8(ascii: "\\") else {
                guard body(text[index]) else { return false }
                index += 1
                continue
            }
            index += 2
            let decoded: UInt8
            switch text[index - 1] {
            case UInt8(ascii: "b"): decoded = 0x08
            case UInt8(ascii: "f"): decoded = 0x0C
            case UInt8(ascii: "n"): decoded = 0x0A
            case UInt8(ascii: "r"): decoded = 0x0D
            case UInt8(ascii: "t"): decoded = 0x09
            case UInt8(ascii: "u"):
                guard let scalar = scalar(text, &index), scalar.utf8.allSatisfy(body) else {
                    return false
                }
                continue
            case let other: decoded = other
            }
            guard body(decoded) else { return false }
        }
        return true
    }

    /// Moves the index past an escape.
    /// - Returns: the scalar of a `\u` escape; 0 for other escapes and half of a surrogate pair.
    static func skip(_ text: Span<UInt8>, _ index: inout Int) -> UInt32 {
        index += 2
        guard text[index - 1] == UInt8(ascii: "u") else { return 0 }
        return scalar(text, &index)?.value ?? 0
    }

    private static func scalar(_ text: Span<UInt8>, _ index: inout Int) -> Unicode.Scalar? {
        let first = unit(text, &index)
        guard first & 0xFC00 == 0xD800 else { return Unicode.Scalar(first) }
        guard text.count - index >= 6, text[index] == UInt8(ascii: "\\"),
            text[index + 1] == UInt8(ascii: "u")
        else { return nil }
        index += 2
        let second = unit(text, &index)
        guard second & 0xFC00 == 0xDC00 else { return nil }
        return Unicode.Scalar(0x1_0000 + (first & 0x3FF) << 10 + second & 0x3FF)
    }

    /// Four hexadecimal digits.
    private static func unit(_ text: Span<UInt8>, _ index: inout Int) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            let byte = text[index]
            value = value << 4 | UInt32(byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57)
            index += 1
        }
        return value
    }
}
