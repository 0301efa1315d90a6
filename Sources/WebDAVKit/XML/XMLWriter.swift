/// Writes XML: markup of ours and text of others, which are never mixed up.
///
/// What XML cannot hold, as most control characters, becomes U+FFFD: a document of ours is always
/// well-formed (XML 1.0 section 2.2).
package struct XMLWriter {
    private(set) var bytes: [UInt8] = []

    package init(reservingCapacity capacity: Int = 0) {
        if capacity > 0 { bytes.reserveCapacity(capacity) }
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Takes what was written so far.
    package mutating func take() -> [UInt8] {
        let taken = bytes
        bytes = []
        bytes.reserveCapacity(taken.count + 1024)
        return taken
    }

    /// Appends markup, or text that is known to hold nothing to escape.
    package mutating func markup(_ markup: String) {
        bytes += markup.utf8
    }

    /// Appends text that stands between tags.
    package mutating func text(_ text: String) {
        append(text.utf8, quotes: false)
    }

    /// Appends the value of an attribute; the double quotes around it are markup.
    package mutating func attribute(_ text: String) {
        append(text.utf8, quotes: true)
    }

    /// Appends a text between tags without content of other kinds.
    package mutating func element(_ tag: String, _ content: String) {
        markup("<\(tag)>")
        text(content)
        markup("</\(tag)>")
    }

    private mutating func append(_ text: some Collection<UInt8>, quotes: Bool) {
        for byte in text {
            switch byte {
            case 0x26: bytes += "&amp;".utf8
            case 0x3C: bytes += "&lt;".utf8
            case 0x3E: bytes += "&gt;".utf8
            case 0x22 where quotes: bytes += "&quot;".utf8
            // A reader would make another character of these (sections 2.11 and 3.3.3).
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
