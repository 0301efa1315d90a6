/// Names in served directories that the toolkit reserves for files that are being written, and for
/// data about files. No handler lists or serves such a file, even if another program created it.
///
/// Listings check every name, so names are spans instead of generic collections: the compiler does
/// not specialize generic code for other modules.
package enum ReservedNames {
    /// The folder at the root of a served directory; reserved names elsewhere begin with this name.
    package static let folder = Array(".httpkit-dav".utf8)
    private static let dot = UInt8(ascii: ".")
    private static let slash = UInt8(ascii: "/")

    /// Whether a name is reserved. Case is ignored, because some volumes ignore it.
    package static func contains(_ name: Span<UInt8>) -> Bool {
        guard beginsWithDot(name) || mayHoldIgnored(name) else { return false }
        // Some characters outside of ASCII fold to ASCII letters, such as U+212A to k.
        return withoutIgnored(name).lowercased().utf8.starts(with: folder)
    }

    /// Whether a name is hidden: it begins with a dot, or with characters that HFS+ ignores and a
    /// dot.
    package static func isHidden(_ name: Span<UInt8>) -> Bool {
        if beginsWithDot(name) { return true }
        return mayHoldIgnored(name) && withoutIgnored(name).utf8.first == dot
    }

    /// Whether a segment of a path is hidden.
    /// - Parameter path: segments joined by slashes.
    package static func hidesIn(_ path: Span<UInt8>) -> Bool {
        hasSegment(in: path, where: isHidden)
    }

    /// Whether a segment of a path is reserved.
    /// - Parameter path: segments joined by slashes.
    package static func areIn(_ path: Span<UInt8>) -> Bool {
        hasSegment(in: path, where: contains)
    }

    private static func hasSegment(
        in path: Span<UInt8>, where isWanted: (Span<UInt8>) -> Bool
    ) -> Bool {
        var start = 0
        for end in 0...path.count where end == path.count || path[end] == slash {
            if isWanted(path.extracting(start..<end)) { return true }
            start = end + 1
        }
        return false
    }

    private static func beginsWithDot(_ name: Span<UInt8>) -> Bool {
        !name.isEmpty && name[0] == dot
    }

    /// Whether a name may contain a character that HFS+ ignores. In UTF-8, these all begin with one
    /// of two bytes.
    private static func mayHoldIgnored(_ name: Span<UInt8>) -> Bool {
        for index in name.indices where name[index] == 0xE2 || name[index] == 0xEF { return true }
        return false
    }

    /// The name without the characters that HFS+ ignores when it compares names.
    private static func withoutIgnored(_ name: Span<UInt8>) -> String {
        let text = unsafe name.withUnsafeBufferPointer {
            unsafe String(decoding: $0, as: UTF8.self)
        }
        var kept = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x200C...0x200F, 0x202A...0x202E, 0x206A...0x206F, 0xFEFF: break
            default: kept.append(scalar)
            }
        }
        return String(kept)
    }
}
