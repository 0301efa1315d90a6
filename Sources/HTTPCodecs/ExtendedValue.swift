internal import HTTPParser

/// The value of a parameter whose name ends with `*`: text of any script in ASCII, such as
/// `UTF-8'en'%C2%A3%20rates`.
///
/// ```swift
/// ExtendedValue("UTF-8''na%C3%AFve")?.text          // "naïve"
/// ExtendedValue(text: "naïve").description          // "UTF-8''na%C3%AFve"
/// ```
///
/// RFC 8187, section 3.2.
public struct ExtendedValue: Hashable, Sendable {
    /// The text.
    public var text: String
    /// The language tag, which consists of ASCII letters, digits and hyphens; empty without one.
    public let language: String

    /// Makes a value without a language.
    public init(text: String) {
        self.text = text
        language = ""
    }

    /// Parses a value.
    ///
    /// Nil if the value is malformed, if its bytes are not valid in its charset, or if the charset
    /// is neither UTF-8 nor ISO-8859-1, the only ones that the specifications name. The RFC advises
    /// to ignore such a parameter.
    public init?(_ value: String) {
        let bytes = Array(value.utf8)
        let pieces = bytes.split(
            separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard pieces.count == 3, pieces[1].allSatisfy(Self.isLanguageByte),
            let decoded = Self.decode(Array(pieces[2])),
            let text = Self.text(decoded, charset: String(decoding: pieces[0], as: UTF8.self))
        else { return nil }
        self.text = text
        language = String(decoding: pieces[1], as: UTF8.self)
    }

    /// Decodes value-chars, which are attr-char and escapes.
    private static func decode(_ bytes: [UInt8]) -> [UInt8]? {
        let kept = PercentEncoding.ByteSet.attribute
        guard bytes.allSatisfy({ kept.contains($0) || $0 == UInt8(ascii: "%") }) else {
            return nil
        }
        var decoded: [UInt8] = []
        let fault = PercentEncoding.decode(bytes.span, keepsInvalid: false, into: &decoded)
        return fault == nil ? decoded : nil
    }

    private static func text(_ bytes: [UInt8], charset: String) -> String? {
        if charset.isASCII("utf-8") { return String(validating: bytes, as: UTF8.self) }
        return charset.isASCII("iso-8859-1") ? latin1(bytes) : nil
    }

    /// Each byte of ISO-8859-1 is the character of the same number.
    static func latin1(_ bytes: [UInt8]) -> String {
        var text = String.UnicodeScalarView()
        for byte in bytes { text.append(Unicode.Scalar(byte)) }
        return String(text)
    }

    private static func isLanguageByte(_ byte: UInt8) -> Bool {
        ByteClass.isAlpha(byte) || ByteClass.isDigit(byte) || byte == UInt8(ascii: "-")
    }
}

extension ExtendedValue: CustomStringConvertible {
    /// The value for a parameter, in UTF-8.
    public var description: String {
        "UTF-8'\(language)'" + PercentEncoding.encode(text, keeping: .attribute)
    }
}
