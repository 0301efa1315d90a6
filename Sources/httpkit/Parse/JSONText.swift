import HTTPCodecs
import HTTPParser

/// Writes JSON (RFC 8259) in pure ASCII, so that it does not depend on a terminal or locale.
extension ByteBuffer {
    /// Adds a text as a JSON string.
    mutating func append(json text: String) {
        append(UInt8(ascii: "\""))
        if text.utf8.allSatisfy(isPlain) {
            append(text)
        } else {
            for scalar in text.unicodeScalars { append(json: scalar) }
        }
        append(UInt8(ascii: "\""))
    }

    private mutating func append(json scalar: Unicode.Scalar) {
        switch scalar {
        case "\"": append(literal: "\\\"")
        case "\\": append(literal: "\\\\")
        case "\t": append(literal: "\\t")
        case "\n": append(literal: "\\n")
        case "\r": append(literal: "\\r")
        case _ where scalar.isASCII && isPlain(UInt8(scalar.value)): append(UInt8(scalar.value))
        default: for unit in String(scalar).utf16 { append(escape: unit) }
        }
    }

    private mutating func append(escape unit: UInt16) {
        append(literal: "\\u")
        for shift in [12, 8, 4, 0] { append(hexadecimal: UInt64(unit >> shift & 15)) }
    }

    /// Adds bytes as a JSON string in base64.
    mutating func append(base64 bytes: [UInt8]) {
        append(UInt8(ascii: "\""))
        Base64.encode(bytes, into: &self)
        append(UInt8(ascii: "\""))
    }

    /// Adds `true` or `false`.
    mutating func append(json flag: Bool) {
        append(literal: flag ? "true" : "false")
    }

    /// Adds an array, each element by `write`.
    mutating func append<Element>(
        array elements: [Element], _ write: (inout ByteBuffer, Element) -> Void
    ) {
        append(UInt8(ascii: "["))
        for index in elements.indices {
            if index > 0 { append(UInt8(ascii: ",")) }
            write(&self, elements[index])
        }
        append(UInt8(ascii: "]"))
    }
}

/// Whether a byte is written unescaped in a JSON string.
private func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
}
