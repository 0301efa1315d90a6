internal import HTTPParser

/// Names of files as archives can have them.
public enum ZIPName {
    /// A name that can stand in an archive, of a name that a disk may have.
    ///
    /// Most stay as they are. Bytes that are no UTF-8 become U+FFFD; `\`, control characters and
    /// those that turn the direction of text round become `_`. Such a name gets a mark before its
    /// extension that is made of all its bytes, as `a~1f2e3d4c.txt`, so that two names stay two.
    /// The same is done with `.`, `..` and an empty name. It is cut to the 255 bytes that file
    /// systems take.
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
        // A long one is no extension.
        if dot == 0 || safe.count - dot > 32 { dot = safe.count }
        return cut(safe[..<dot], to: byteLimit - mark.utf8.count - (safe.count - dot))
            + Array(mark.utf8) + safe[dot...]
    }

    /// The longest name that file systems take.
    private static let byteLimit = 255

    /// The text without the characters after a number of bytes.
    private static func cut(_ text: ArraySlice<UInt8>, to limit: Int) -> [UInt8] {
        guard text.count > limit else { return Array(text) }
        var end = limit
        while end > 0, text[end] & 0xC0 == 0x80 { end -= 1 }
        return Array(text[..<end])
    }

    /// Whether a name can stand in an archive as it is.
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
        // Marks that turn the direction of text round (UAX 9 section 2).
        case 0x061C, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069: false
        default: true
        }
    }
}
