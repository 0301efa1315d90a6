internal import HTTPCodecs
internal import HTTPServerCore
internal import HTTPServerKit
package import ToolkitSystem

/// The journal entry that is written before a collection replaces another, because no system can
/// change three names in one step. If the process dies in between, the next start completes the
/// replacement.
///
/// If the file system can exchange two names, the old target gets the source's name. On other file
/// systems the old target first gets a third name, and for a moment the target's name is free.
package struct ReplacementJournal: Sendable {
    /// The prefix of the names of journal entries in the staging directory.
    package static let prefix = "replace-"

    /// The path of the new content; `nil` if clients cannot see it.
    package var source: ResourcePath?
    package var target: ResourcePath
    /// The identity of the old target.
    package var old: FileStatus
    /// The name that the old target gets: beside the journal or, on another volume, beside the
    /// target.
    package var aside: [UInt8]

    package init(source: ResourcePath?, target: ResourcePath, old: FileStatus, aside: [UInt8]) {
        (self.source, self.target, self.old, self.aside) = (source, target, old, aside)
    }

    /// Writes one line for each value, percent-encoded because a name may contain a line feed. If
    /// that fails, the entry is removed: the next start would complete a replacement that never
    /// began, and remove the old target if it has the source's name by then.
    /// - Parameter synchronize: waits until the entry is on the disk.
    package func write(
        to place: FilePlace, synchronize: () throws(SystemError) -> Void = {}
    ) throws(SystemError) {
        let lines = [
            Self.identity(of: old), source?.bytes ?? [], target.bytes, aside,
        ]
        let text = lines.map { PercentEncoding.encode(bytes: $0) }
            .joined(separator: "\n")
        let file = try place.directory.create(place.name)
        do throws(SystemError) {
            try file.write(Array(text.utf8))
            try synchronize()
        } catch {
            try? place.directory.remove(place.name, isDirectory: false)
            throw error
        }
    }

    /// Completes the replacements that the journal entries in the folder of a process record. That
    /// process is dead, or about to end.
    /// - Returns: whether the folder is no longer needed. Otherwise it may hold the only name of
    ///   the old content.
    static func finishAll(in folder: OpenDirectory, of tree: FileTree) -> Bool {
        do throws(SystemError) {
            let reader = try DirectoryReader(folder)
            var isFinished = true
            while let name = try reader.next() {
                guard name.starts(with: prefix.utf8) else { continue }
                let bytes = try folder.open(name).content(upTo: 64 << 10)
                let encoded = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
                // An incomplete entry was being written: the replacement had not begun.
                guard encoded.count >= 4 else { continue }
                let lines = encoded.compactMap { line in
                    unsafe Array(line).withUnsafeBytes { unsafe CanonicalPath.decode($0) }
                }
                // A complete entry that cannot be read may record a replacement.
                guard encoded.count == 4, lines.count == 4 else {
                    isFinished = false
                    continue
                }
                let isDone = (try? finish(lines, in: folder, of: tree)) ?? false
                if !isDone { isFinished = false }
            }
            return isFinished
        } catch {
            return false
        }
    }

    /// - Returns: `false` if the folder has the only name of the old content.
    /// - Throws: when a lookup or a rename fails.
    private static func finish(
        _ lines: [[UInt8]], in folder: OpenDirectory, of tree: FileTree
    ) throws(SystemError) -> Bool {
        let (old, source, target, aside) = (lines[0], lines[1], lines[2], lines[3])
        // If a lookup fails here, a surplus name stays, and nothing is lost.
        if !source.isEmpty, let place = try? tree.place(of: source),
            let status = try? place.directory.status(of: place.name), identity(of: status) == old
        {
            _ = place.directory.removeTree(place.name)
        }
        guard !target.isEmpty, !aside.isEmpty else { return true }
        let place: FilePlace
        do throws(SystemError) {
            place = try tree.place(of: target)
        } catch {
            guard error.isMissing else { throw error }
            // The old content stays where it is if its path no longer exists.
            return try folder.statusIfThere(of: aside) == nil
        }
        for around in [folder, place.directory] {
            // The entry under that name is the replaced file. Do not compare inodes: some file
            // systems invent them.
            guard try around.statusIfThere(of: aside) != nil,
                try place.directory.statusIfThere(of: place.name) == nil
            else { continue }
            do throws(SystemError) {
                try around.rename(aside, to: place, .creating)
            } catch {
                // The name is free, as far as two separate calls can tell.
                guard error.isUnsupported else { throw error }
                try around.rename(aside, to: place, .replacing)
            }
        }
        return true
    }

    private static func identity(of status: FileStatus) -> [UInt8] {
        let numbers = [Int64(bitPattern: status.inode), status.bornSeconds, status.bornNanoseconds]
        return Array(numbers.map { "\($0)" }.joined(separator: " ").utf8)
    }
}
