/// Names in served directories that the toolkit reserves for files that are being written, and for
/// data that is kept beside the files. No handler lists or serves such a file, even if another
/// program created it.
package enum ReservedNames {
    /// The folder at the root of a served directory; reserved names elsewhere begin with this name.
    package static let folder = Array(".httpkit-dav".utf8)

    /// Whether a name is reserved. Case is ignored, as some volumes ignore it.
    package static func contains(_ name: some Collection<UInt8>) -> Bool {
        guard name.first == folder[0] || mayHoldIgnored(name) else { return false }
        if name.prefix(folder.count).elementsEqual(folder) { return true }
        // Some characters outside of ASCII fold to these letters: U+212A to k.
        let text = withoutIgnored(name).lowercased()
        return text.utf8.starts(with: folder)
    }

    /// Whether a name is hidden: it begins with a dot, also behind characters that HFS+ ignores.
    package static func isHidden(_ name: some Collection<UInt8>) -> Bool {
        if name.first == folder[0] { return true }
        return mayHoldIgnored(name) && withoutIgnored(name).utf8.first == folder[0]
    }

    /// Whether a segment of a path is hidden.
    /// - Parameter path: segments joined by slashes.
    package static func hidesIn(_ path: some Collection<UInt8>) -> Bool {
        guard !mayHoldIgnored(path) else {
            return path.split(separator: 0x2F).contains { isHidden($0) }
        }
        var previous: UInt8 = 0x2F
        for byte in path {
            if byte == folder[0], previous == 0x2F { return true }
            previous = byte
        }
        return false
    }

    /// Whether it may hold such a character: in UTF-8 all of them begin with one of two bytes.
    private static func mayHoldIgnored(_ name: some Collection<UInt8>) -> Bool {
        name.contains { $0 == 0xE2 || $0 == 0xEF }
    }

    /// The name without the characters that HFS+ ignores when it compares names.
    private static func withoutIgnored(_ name: some Collection<UInt8>) -> String {
        var kept = String.UnicodeScalarView()
        for scalar in String(decoding: name, as: UTF8.self).unicodeScalars {
            switch scalar.value {
            case 0x200C...0x200F, 0x202A...0x202E, 0x206A...0x206F, 0xFEFF: break
            default: kept.append(scalar)
            }
        }
        return String(kept)
    }

    /// Whether a segment of a path is reserved.
    /// - Parameter path: segments joined by slashes.
    package static func areIn(_ path: some Collection<UInt8>) -> Bool {
        var rest = path[...]
        let mayHoldIgnored = mayHoldIgnored(path)
        while true {
            if rest.first == folder[0] || mayHoldIgnored, contains(rest.prefix { $0 != 0x2F }) {
                return true
            }
            guard let slash = rest.firstIndex(of: 0x2F) else { return false }
            rest = rest[rest.index(after: slash)...]
        }
    }
}
