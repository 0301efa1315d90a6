internal import HTTPCodecs
internal import HTTPParser

/// The name and password of Basic: base64 of `name:password` (RFC 7617 section 2).
public struct BasicCredentials: Equatable, Sendable {
    /// The name, which is not empty and contains no colon.
    public let name: String
    /// The password.
    public let password: String

    /// Parses the token after the scheme.
    ///
    /// The first colon ends the name, so passwords may contain colons and names cannot. The charset
    /// is UTF-8, which the server announces (section 2.1). Octets that are not UTF-8 are decoded as
    /// ISO-8859-1, which clients send that ignore the announced charset.
    ///
    /// `nil` if the token is not base64, has no colon or an empty name, or contains a control
    /// character. RFC 7617 excludes these: some programs would end a text at NUL, others not.
    public init?(_ token: String) {
        guard let bytes = Base64.decode(Array(token.utf8)),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0,
            !bytes.contains(where: Self.isControl)
        else { return nil }
        name = Self.text(bytes[..<colon])
        password = Self.text(bytes[(colon + 1)...])
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        var text = String.UnicodeScalarView()
        for byte in bytes { text.append(Unicode.Scalar(byte)) }
        return String(text)
    }

    private static func isControl(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x7F
    }

    /// Whether names cannot contain the byte.
    static func isExcludedFromNames(_ byte: UInt8) -> Bool {
        isControl(byte) || byte == UInt8(ascii: ":")
    }
}
