internal import HTTPCodecs
internal import HTTPParser

/// Name and password as Basic sends them: base64 of `name:password` (RFC 7617 section 2).
public struct BasicCredentials: Equatable, Sendable {
    /// The name, which has no colon.
    public let name: String
    /// The password.
    public let password: String

    /// Reads what stands behind the scheme.
    ///
    /// The first colon ends the name, so passwords may have some and names none. The charset is
    /// UTF-8, which is the one the server announces (section 2.1); octets that are none are read as
    /// ISO-8859-1, which clients send that do not look at what is announced.
    ///
    /// `nil` for what is not base64, has no colon or no name, or holds a control character, which
    /// the section excludes: what ends at a NUL for one reader must not go on for another.
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

    /// Whether no name can have the byte in it.
    static func isExcludedFromNames(_ byte: UInt8) -> Bool {
        isControl(byte) || byte == UInt8(ascii: ":")
    }
}
