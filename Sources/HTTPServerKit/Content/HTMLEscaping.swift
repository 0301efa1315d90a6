/// Escapes untrusted text, so that it cannot become markup.
package enum HTMLEscaping {
    /// Escapes text between tags.
    package static func text(_ text: String) -> String {
        escaped(text, table: textEscape)
    }

    /// Escapes text in an attribute value with quotes of either kind.
    package static func attribute(_ text: String) -> String {
        escaped(text, table: attributeEscape)
    }

    private static func escaped(_ text: String, table: (UInt8) -> String?) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        append(text, table: table, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    fileprivate static func append(
        _ text: String, table: (UInt8) -> String?, to bytes: inout [UInt8]
    ) {
        for byte in text.utf8 {
            if let escape = table(byte) {
                bytes += escape.utf8
            } else {
                bytes.append(byte)
            }
        }
    }

    fileprivate static func textEscape(_ byte: UInt8) -> String? {
        switch byte {
        case 0x26: "&amp;"
        case 0x3C: "&lt;"
        case 0x3E: "&gt;"
        // HTML allows no NUL, and some parsers treat NUL as the end of the page.
        case 0x00: "\u{FFFD}"
        default: nil
        }
    }

    fileprivate static func attributeEscape(_ byte: UInt8) -> String? {
        switch byte {
        case 0x22: "&quot;"
        case 0x27: "&#39;"
        default: textEscape(byte)
        }
    }
}

/// Builds a page from trusted markup and untrusted text, with a separate method for each.
package struct HTMLWriter {
    /// The page so far, in UTF-8.
    package private(set) var bytes: [UInt8] = []

    package init(reservingCapacity capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    /// Appends trusted markup, or text that is known to need no escapes.
    package mutating func markup(_ markup: String) {
        bytes += markup.utf8
    }

    /// Appends text between tags, escaped.
    package mutating func text(_ text: String) {
        HTMLEscaping.append(text, table: HTMLEscaping.textEscape, to: &bytes)
    }

    /// Appends the value of an attribute, escaped; append the quotes around it as markup.
    package mutating func attribute(_ text: String) {
        HTMLEscaping.append(text, table: HTMLEscaping.attributeEscape, to: &bytes)
    }
}
