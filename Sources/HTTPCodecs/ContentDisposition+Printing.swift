internal import HTTPParser

extension ContentDisposition: CustomStringConvertible {
    /// The value in the grammar of its place.
    ///
    /// In the field of a message, a file name that is not plain ASCII is written twice: in
    /// `filename` with `_` for all other characters, and complete in `filename*` (RFC 6266, section
    /// 4.3). Control characters are `_` in both.
    ///
    /// In the head of a form's part, names are written in UTF-8, with `%22`, `%0D` and `%0A` for
    /// quote, CR and LF, as in the HTML standard, and other control characters percent-encoded. A
    /// backslash is doubled where a reader would read it as an escape: next to another backslash,
    /// and at the end.
    ///
    /// A parameter that has no printed form is left out.
    public var description: String {
        var pieces = [type]
        switch place {
        case .field:
            if let name { pieces += Self.printed("name", name) }
            if let fileName { pieces += Self.printed("filename", fileName) }
        case .formData:
            if let name { pieces.append("name=\"\(Self.escaped(name))\"") }
            if let fileName { pieces.append("filename=\"\(Self.escaped(fileName))\"") }
        }
        return (pieces + parameters.compactMap(\.fieldValue)).joined(separator: "; ")
    }

    private static func printed(_ name: String, _ value: String) -> [String] {
        let value = String(String.UnicodeScalarView(value.unicodeScalars.map(withoutControl)))
        let fallback = String(decoding: value.map(plainByte), as: UTF8.self)
        let plain = "\(name)=\"\(fallback)\""
        return fallback.utf8.elementsEqual(value.utf8)
            ? [plain] : [plain, "\(name)*=\(ExtendedValue(text: value))"]
    }

    private static func withoutControl(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        isControl(scalar) ? "_" : scalar
    }

    /// Characters that all readers understand in the same way. Some readers percent-decode, and
    /// some do not know escapes (RFC 6266, appendix D).
    private static func plainByte(_ character: Character) -> UInt8 {
        switch character {
        case "\"", "\\", "%": UInt8(ascii: "_")
        default: character.asciiValue ?? UInt8(ascii: "_")
        }
    }

    private static func escaped(_ name: String) -> String {
        var output: [UInt8] = []
        let bytes = Array(name.utf8)
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "\""):
                output += "%22".utf8
            case UInt8(ascii: "\\"):
                let isBefore = index + 1 == bytes.count || bytes[index + 1] == byte
                let isBehind = index > 0 && bytes[index - 1] == byte
                output += isBefore || isBehind ? [byte, byte] : [byte]
            case 0x09:
                output.append(byte)
            case 0..<0x20, 0x7F:
                output += PercentEncoding.encode(bytes: CollectionOfOne(byte)).utf8
            default:
                output.append(byte)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}
