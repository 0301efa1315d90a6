internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit

/// Writes XML, and escapes the text of clients.
///
/// Characters that XML cannot contain, such as most control characters, become U+FFFD, so that the
/// document is always well-formed (XML 1.0 section 2.2).
package struct XMLWriter {
    private(set) var bytes: [UInt8] = []

    package init(reservingCapacity capacity: Int = 0) {
        if capacity > 0 { bytes.reserveCapacity(capacity) }
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Takes the bytes that were written so far.
    package mutating func take() -> [UInt8] {
        let taken = bytes
        bytes = []
        bytes.reserveCapacity(taken.count + 1024)
        return taken
    }

    /// Appends markup, or text without characters to escape.
    package mutating func markup(_ markup: String) {
        bytes += markup.utf8
    }

    /// Appends markup that was rendered before.
    mutating func raw(_ markup: [UInt8]) {
        bytes += markup
    }

    /// Appends text between tags.
    package mutating func text(_ text: String) {
        append(text.utf8, quotes: false)
    }

    /// Appends text between tags; bytes that are not UTF-8 become U+FFFD.
    mutating func text(_ text: [UInt8]) {
        if text.allSatisfy(Self.isPlain) {
            bytes += text
        } else {
            self.text(String(decoding: text, as: UTF8.self))
        }
    }

    /// Whether a byte is visible ASCII or a space, and needs no escape.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F && byte != 0x26 && byte != 0x3C && byte != 0x3E
    }

    /// Appends the value of an attribute; the double quotes around it are markup.
    package mutating func attribute(_ text: String) {
        append(text.utf8, quotes: true)
    }

    /// Appends an element that contains only text.
    package mutating func element(_ tag: String, _ content: String) {
        markup("<\(tag)>")
        text(content)
        markup("</\(tag)>")
    }

    private mutating func append(_ text: String.UTF8View, quotes: Bool) {
        let isPlain = unsafe text.withContiguousStorageIfAvailable { bytes in
            unsafe bytes.allSatisfy(Self.isPlain) && !(quotes && bytes.contains(0x22))
        }
        if isPlain == true {
            bytes += text
            return
        }
        for byte in text {
            switch byte {
            case 0x26: bytes += "&amp;".utf8
            case 0x3C: bytes += "&lt;".utf8
            case 0x3E: bytes += "&gt;".utf8
            case 0x22 where quotes: bytes += "&quot;".utf8
            // A parser would normalise these characters (sections 2.11 and 3.3.3).
            case 0x0D: bytes += "&#13;".utf8
            case 0x09 where quotes, 0x0A where quotes: bytes += "&#\(byte);".utf8
            case 0x00..<0x09, 0x0B, 0x0C, 0x0E..<0x20: bytes += "\u{FFFD}".utf8
            case 0xBE, 0xBF:
                bytes.append(byte)
                if isNoncharacter { bytes[bytes.count - 1] = 0xBD }
            default: bytes.append(byte)
            }
        }
    }

    /// Whether the last character is U+FFFE or U+FFFF.
    private var isNoncharacter: Bool {
        let last = bytes.suffix(3)
        return last.elementsEqual([0xEF, 0xBF, 0xBE]) || last.elementsEqual([0xEF, 0xBF, 0xBF])
    }
}

/// Values that need no escape, written without an intermediate `String`.
extension XMLWriter {
    /// Appends one byte of markup.
    mutating func byte(_ character: UInt8) {
        bytes.append(character)
    }

    /// Appends segments of a path with slashes between them, percent-encoded.
    mutating func path(_ path: [UInt8]) {
        PathEncoding.append(path: path, to: &bytes)
    }

    /// Appends a segment of a path, percent-encoded.
    mutating func pathSegment(_ name: [UInt8]) {
        PathEncoding.append(name, to: &bytes)
    }

    /// Appends a number in decimal digits.
    mutating func decimal(_ number: Int64) {
        bytes.append(decimal: number)
    }

    /// Appends a number in lower-case hexadecimal digits.
    mutating func hex(_ number: UInt64) {
        let count = (67 - number.leadingZeroBitCount) / 4
        bytes.append(hexadecimal: number, digits: max(count, 1))
    }

    /// Appends a time in the format of RFC 3339, without the fraction of a second.
    mutating func timestamp(_ time: InternetTimestamp) {
        // 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z.
        let seconds = min(max(time.secondsSinceEpoch, -62_167_219_200), 253_402_300_799)
        CivilTime(secondsSinceEpoch: seconds).appendRFC3339(to: &bytes)
    }

    /// Appends a date in the format of HTTP fields.
    mutating func date(_ date: HTTPDate) {
        bytes += date.description.utf8
    }
}

extension [UInt8] {
    /// Appends the last digits of a number in lower-case hexadecimal digits.
    mutating func append(hexadecimal number: UInt64, digits count: Int) {
        let digits = StaticString("0123456789abcdef")
        append(addingCapacity: count) { room in
            for index in 1...count {
                let digit = Int(truncatingIfNeeded: number >> UInt64(4 * (count - index)) & 0xF)
                unsafe room.append(digits.utf8Start[digit])
            }
        }
    }
}
