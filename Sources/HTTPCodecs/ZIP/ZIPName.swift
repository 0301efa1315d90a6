internal import HTTPParser

/// File names that are safe in archives.
public enum ZIPName {
    /// A safe name in an archive for a name from a file system.
    ///
    /// Most names stay unchanged. In other names, bytes that are not UTF-8 become U+FFFD; `/`, `\`,
    /// control characters and characters that change the direction of text become `_`. `.`, `..`
    /// and an empty name become `_`, too. A changed name gets a mark before its extension: the
    /// CRC-32 of all bytes of the original name, as in `a~1f2e3d4c.txt`. So two different names
    /// rarely become the same. Changed names are cut to 255 bytes, the limit of file systems.
    /// - Parameter name: one segment of a path.
    public static func safe(_ name: [UInt8]) -> [UInt8] {
        guard !isSafe(name) else { return name }
        var text = String.UnicodeScalarView()
        for scalar in String(decoding: name, as: UTF8.self).unicodeScalars {
            text.append(isAllowed(scalar) ? scalar : "_")
        }
        var safe = Array(String(text).utf8)
        if safe.allSatisfy({ $0 == 0x2E }) { safe = [0x5F] }
        let digits = String(ZIPWriter.checksum(name.span, after: 0), radix: 16)
        let mark = "~" + String(repeating: "0", count: 8 - digits.utf8.count) + digits
        var dot = safe.lastIndex(of: 0x2E) ?? safe.count
        // A longer suffix does not count as an extension.
        if dot == 0 || safe.count - dot > 32 { dot = safe.count }
        return cut(safe[..<dot], to: byteLimit - mark.utf8.count - (safe.count - dot))
            + Array(mark.utf8) + safe[dot...]
    }

    /// The longest name that file systems allow, in bytes.
    private static let byteLimit = 255

    /// The text, cut to at most `limit` bytes between two characters.
    private static func cut(_ text: ArraySlice<UInt8>, to limit: Int) -> [UInt8] {
        guard text.count > limit else { return Array(text) }
        var end = limit
        while end > 0, text[end] & 0xC0 == 0x80 { end -= 1 }
        return Array(text[..<end])
    }

    /// Whether a name is safe in an archive without a change.
    static func isSafe(_ name: [UInt8]) -> Bool {
        guard !name.isEmpty, name != [0x2E], name != [0x2E, 0x2E] else { return false }
        var isPlain = true
        for byte in name {
            guard byte >= 0x20, byte != 0x7F, byte != 0x5C, byte != 0x2F else { return false }
            if byte >= 0x80 { isPlain = false }
        }
        if isPlain { return true }
        guard let text = String(validating: name, as: UTF8.self) else { return false }
        return text.unicodeScalars.allSatisfy(isAllowed)
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x2F, 0x5C: false
        // Characters that change the direction of text (UAX 9 section 2).
        case 0x061C, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069: false
        default: true
        }
    }
}
