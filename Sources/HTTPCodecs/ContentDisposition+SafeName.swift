extension ContentDisposition {
    /// The file name in a form that is safe in a folder; see ``safeFileName(of:byteLimit:)``.
    public var safeFileName: String? {
        fileName.flatMap { Self.safeFileName(of: $0) }
    }

    /// Makes a name that can only name a file in a folder from a name that a peer sent.
    ///
    /// The result is the last component, after `/` and `\`, cut between two characters to at most
    /// `byteLimit` bytes of UTF-8. Nil if the result is empty, `.` or `..`, or if the uncut
    /// component contains a control character: then the peer's intention is unknown.
    ///
    /// A file of that name may already exist, and the name may begin with a dot.
    /// - Parameters:
    ///   - text: the name as the peer sent it.
    ///   - byteLimit: at least 4; the default is the limit of file systems.
    ///
    /// RFC 6266, section 4.3, and RFC 7578, section 4.2.
    public static func safeFileName(of text: String, byteLimit: Int = 255) -> String? {
        precondition(byteLimit >= 4, "a file name needs room for a character")
        // Split by bytes: a separator and a combining mark after it are one `Character`.
        let bytes =
            text.utf8.split(omittingEmptySubsequences: false) { $0 == 0x2F || $0 == 0x5C }
            .last ?? text.utf8[...]
        let whole = String(decoding: bytes, as: UTF8.self)
        guard !whole.unicodeScalars.contains(where: isControl) else { return nil }
        // Check after the cut, which may leave only dots.
        let name = cut(whole, to: byteLimit)
        let isDots = name.utf8.count <= 2 && name.utf8.allSatisfy { $0 == 0x2E }
        return isDots ? nil : name
    }

    /// The control characters of ASCII and of ISO-8859-1.
    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || 0x7F...0x9F ~= scalar.value
    }

    private static func cut(_ name: String, to byteLimit: Int) -> String {
        guard name.utf8.count > byteLimit else { return name }
        var count = 0
        let whole = name.prefix { character in
            count += character.utf8.count
            return count <= byteLimit
        }
        guard whole.isEmpty else { return String(whole) }
        // The first character alone is too long: cut its marks.
        count = 0
        let scalars = name.unicodeScalars.prefix { scalar in
            count += UTF8.width(scalar)
            return count <= byteLimit
        }
        return String(scalars)
    }
}
