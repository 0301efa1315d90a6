internal import HTTPParser

/// Writes the text of JSON scalars (RFC 8259).
extension [UInt8] {
    mutating func append(jsonWord word: StaticString) {
        unsafe append(
            contentsOf: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
    }

    /// - Parameter value: an integer of at most 64 bits.
    @inline(__always)
    mutating func append(json value: some FixedWidthInteger) {
        if let number = Int64(exactly: value) {
            append(decimal: number)
        } else {
            append(jsonAboveInt64: UInt64(value))
        }
    }

    // Not generic, so that the binary contains one copy.
    private mutating func append(jsonAboveInt64 value: UInt64) { self += String(value).utf8 }

    /// - Returns: `false`, with nothing appended, if the value is infinite or not a number.
    mutating func append(json value: some BinaryFloatingPoint & CustomStringConvertible) -> Bool {
        guard value.isFinite else { return false }
        let text = value.description.utf8
        self += text
        if text.count > 2, suffix(2).elementsEqual(".0".utf8) { removeLast(2) }
        return true
    }

    /// - Returns: whether all characters of the text are ASCII.
    @discardableResult
    mutating func append(json text: String) -> Bool {
        var text = text
        var isASCII = true
        append(UInt8(ascii: "\""))
        text.withUTF8 { room in
            let room = UnsafeRawBufferPointer(room)
            var (start, index) = (0, 0)
            while true {
                index = unsafe JSONGrammar.plainEnd(room, from: index)
                guard index < room.count else { break }
                let byte = unsafe room[index]
                index += 1
                if byte < 0x80 {
                    unsafe append(contentsOf: room[start..<index - 1])
                    append(jsonEscapeOf: byte)
                    start = index
                } else {
                    isASCII = false
                    while index < room.count, unsafe room[index] >= 0x80 { index += 1 }
                }
            }
            unsafe append(contentsOf: UnsafeRawBufferPointer(rebasing: room[start...]))
        }
        append(UInt8(ascii: "\""))
        return isASCII
    }

    private mutating func append(jsonEscapeOf byte: UInt8) {
        append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: append(UInt8(ascii: "b"))
        case 0x0C: append(UInt8(ascii: "f"))
        case 0x0A: append(UInt8(ascii: "n"))
        case 0x0D: append(UInt8(ascii: "r"))
        case 0x09: append(UInt8(ascii: "t"))
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(byte)
        default:
            let digits = String(byte, radix: 16)
            self += "u00".utf8
            if digits.utf8.count == 1 { append(0x30) }
            self += digits.utf8
        }
    }
}
