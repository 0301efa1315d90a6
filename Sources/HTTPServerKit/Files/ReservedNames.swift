/// Names in served directories that are the toolkit's own: files that are being written, and data
/// that is kept beside the files. No handler shows or serves them, even if another program made them.
package enum ReservedNames {
    /// The folder at the root of a directory; the names of files elsewhere begin like it.
    package static let folder = Array(".httpkit-dav".utf8)

    /// Whether a name is one of them, on volumes where case does not count as well.
    package static func contains(_ name: some Collection<UInt8>) -> Bool {
        guard name.first == folder[0] else { return false }
        if name.prefix(folder.count).elementsEqual(folder) { return true }
        // Other characters than those of ASCII may fold to one of these: U+212A to k.
        let text = String(decoding: name, as: UTF8.self).lowercased()
        return text.utf8.starts(with: folder)
    }

    /// Whether a segment of a path is one of them.
    /// - Parameter path: segments joined by slashes.
    package static func areIn(_ path: some Collection<UInt8>) -> Bool {
        var rest = path[...]
        while true {
            if rest.first == folder[0], contains(rest.prefix { $0 != 0x2F }) { return true }
            guard let slash = rest.firstIndex(of: 0x2F) else { return false }
            rest = rest[rest.index(after: slash)...]
        }
    }
}
