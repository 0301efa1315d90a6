/// Names in served directories that the toolkit reserves for files that are being written, and for
/// data that is kept beside the files. No handler lists or serves such a file, even if another
/// program created it.
package enum ReservedNames {
    /// The folder at the root of a served directory; reserved names elsewhere begin with this name.
    package static let folder = Array(".httpkit-dav".utf8)

    /// Whether a name is reserved. Case is ignored, as some volumes ignore it.
    package static func contains(_ name: some Collection<UInt8>) -> Bool {
        guard name.first == folder[0] else { return false }
        if name.prefix(folder.count).elementsEqual(folder) { return true }
        // Some characters outside of ASCII fold to these letters: U+212A to k.
        let text = String(decoding: name, as: UTF8.self).lowercased()
        return text.utf8.starts(with: folder)
    }

    /// Whether a segment of a path is reserved.
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
