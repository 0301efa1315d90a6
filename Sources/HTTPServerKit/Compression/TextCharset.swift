internal import HTTPCodecs

/// The supported charsets of text.
enum TextCharset {
    case utf8, ascii, latin1

    /// The charset of a `charset` parameter; UTF-8 for `nil`.
    /// - Throws: `.unsupportedCharset` for an unknown name.
    init(named name: String?) throws(CodecError) {
        guard let name, !name.isASCII("utf-8"), !name.isASCII("utf8") else {
            self = .utf8
            return
        }
        if name.isASCII("us-ascii") || name.isASCII("ascii") {
            self = .ascii
        } else if name.isASCII("iso-8859-1") || name.isASCII("latin1") {
            self = .latin1
        } else {
            throw CodecError(.unsupportedCharset, "expected UTF-8, US-ASCII or ISO-8859-1")
        }
    }

    func decode(_ bytes: [UInt8]) throws(CodecError) -> String {
        switch self {
        case .latin1:
            var text = String.UnicodeScalarView()
            for byte in bytes { text.append(Unicode.Scalar(byte)) }
            return String(text)
        case .ascii:
            if let offset = bytes.firstIndex(where: { $0 >= 0x80 }) {
                throw CodecError(.invalidText, at: Int64(offset), "US-ASCII")
            }
            return String(decoding: bytes, as: UTF8.self)
        case .utf8:
            let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
            let text = String(validating: bytes.dropFirst(hasMark ? 3 : 0), as: UTF8.self)
            guard let text else { throw .invalidUTF8(in: bytes, "UTF-8") }
            return text
        }
    }

    /// The same text in UTF-8. Only Latin-1 is converted; other bytes are returned unchecked.
    func utf8(_ bytes: [UInt8]) -> [UInt8] {
        guard self == .latin1 else { return bytes }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        for byte in bytes {
            // U+0080 to U+00FF take two bytes.
            if byte >= 0x80 { text.append(0xC0 | byte >> 6) }
            text.append(byte < 0x80 ? byte : 0x80 | byte & 0x3F)
        }
        return text
    }
}
