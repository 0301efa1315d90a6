package import HTTPServerCore

/// What is written down before a collection takes the place of another, because no system can give
/// three names at once: if the process dies between two of them, the next one ends it.
///
/// With the exchange of two names done, what was replaced has the name of the source. Where names
/// cannot be exchanged, what is to be replaced waits aside while its name is free.
package struct ReplacementNote: Sendable {
    /// What of its folder's names it begins with.
    package static let prefix = "replace-"

    /// Where the new content comes from; `nil` where nobody sees it anyway.
    package var source: ResourcePath?
    package var target: ResourcePath
    /// What was at the target.
    package var old: FileStatus
    /// The name that it gets beside the note or, on other volumes, beside the target.
    package var aside: [UInt8]

    package init(source: ResourcePath?, target: ResourcePath, old: FileStatus, aside: [UInt8]) {
        (self.source, self.target, self.old, self.aside) = (source, target, old, aside)
    }

    /// A line each. No name has control characters.
    package func write(to place: FilePlace) throws(SystemError) {
        let lines = [
            Self.identity(of: old), source?.bytes ?? [], target.bytes, aside,
        ]
        try place.directory.create(place.name).write(Array(lines.joined(separator: [0x0A])))
    }

    /// Ends what the notes of a dead process tell of.
    static func finishAll(in folder: OpenDirectory, of tree: FileTree) {
        guard let reader = try? DirectoryReader(folder) else { return }
        var names: [[UInt8]] = []
        while let name = try? reader.next() { names.append(name) }
        for name in names where name.starts(with: prefix.utf8) {
            guard let bytes = try? folder.open(name).content(upTo: 64 << 10) else { continue }
            let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
            if lines.count == 4 { finish(lines.map { Array($0) }, in: folder, of: tree) }
        }
    }

    private static func finish(_ lines: [[UInt8]], in folder: OpenDirectory, of tree: FileTree) {
        let (old, source, target, aside) = (lines[0], lines[1], lines[2], lines[3])
        if !source.isEmpty, let place = try? tree.place(of: source),
            let status = try? place.directory.status(of: place.name), identity(of: status) == old
        {
            _ = place.directory.removeTree(place.name)
        }
        guard let place = try? tree.place(of: target), !target.isEmpty, !aside.isEmpty else {
            return
        }
        for around in [folder, place.directory] {
            // Whatever waits under that name is what was at the target; its inode may be another
            // one now, for some file systems make these up.
            guard (try? around.status(of: aside)) != nil,
                (try? place.directory.status(of: place.name)) == nil
            else { continue }
            do throws(SystemError) {
                try around.rename(aside, to: place, .creating)
            } catch {
                // Nothing has the name, as far as can be told where both cannot be one call.
                if error.isUnsupported { try? around.rename(aside, to: place, .replacing) }
            }
        }
    }

    private static func identity(of status: FileStatus) -> [UInt8] {
        let numbers = [Int64(bitPattern: status.inode), status.bornSeconds, status.bornNanoseconds]
        return Array(numbers.map { "\($0)" }.joined(separator: " ").utf8)
    }
}
