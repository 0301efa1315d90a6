internal import HTTPServerCore
package import ToolkitSystem

#if os(Linux)
    // Unicode normal forms; volumes of other systems treat them as equal.
    @_spi(_Unicode) internal import Swift
#endif

/// Caches the canonical path of each file: several paths may lead to one file.
package final class CanonicalNameCache: Sendable {
    private static let slotCount = 1 << 12

    private let tree: FileTree
    /// Whether the directory at the root ignores the case of names.
    private let ignoresCase: Bool
    /// Whether a test has set `ignoresCase`.
    private let isSaid: Bool
    /// Directories whose paths were found to be canonical, by hash. An entry may become wrong
    /// later; then `FileTree.place` fails.
    private let seen = Locked(Seen())
    private let seed = UInt64.random(in: .min ... .max)

    private struct Seen {
        var hashes = [UInt64](repeating: 0, count: slotCount)
        /// Changes when entries are removed: a lookup that began before must not add its result.
        var generation = 0
    }

    /// - Parameter ignoresCase: whether names that differ only in case are the same; `nil` to ask
    ///   the file system.
    package init(_ tree: FileTree, ignoresCase: Bool? = nil) {
        self.tree = tree
        self.ignoresCase = ignoresCase ?? (try? tree.directory([]))?.ignoresCase ?? false
        isSaid = ignoresCase != nil
    }

    // MARK: Links and case

    /// Whether a path is cached as canonical; takes no system call.
    package func isKnown(_ path: ResourcePath) -> Bool {
        guard !ignoresCase else { return false }
        guard let slash = path.bytes.lastIndex(of: 0x2F) else { return true }
        let hash = hash(path.bytes[..<slash])
        return seen.withLock { $0.hashes[Self.slot(hash)] == hash }
    }

    /// The path without links, with the case of the stored names. Missing names are returned
    /// unchanged, and so is a path that leads out of the tree: opening it fails.
    /// - Throws: a temporary error, which may hide a link or a spelling.
    package func canonical(
        _ path: ResourcePath, followsLast: Bool
    ) throws(SystemError) -> ResourcePath {
        let place = isKnown(path) ? path : try withRealPlace(path)
        guard followsLast,
            try found({ () throws(SystemError) in try tree.isReal(place.bytes) }) == false,
            let real = try real(place, followsLast: true)
        else { return place }
        forget(place.bytes[...])
        let isRespelled = ignoresCase ? true : try caseIsIgnored(around: real)
        return isRespelled ? try spelled(real) : real
    }

    /// The result of a lookup on the disk; `nil` when the file is missing or not accessible.
    private func found<Result>(
        _ look: () throws(SystemError) -> Result
    ) throws(SystemError) -> Result? {
        do throws(SystemError) {
            return try look()
        } catch {
            guard !error.isTemporary else { throw error }
            return nil
        }
    }

    /// Whether the directory of a path ignores the case of names; it may be on another volume than
    /// the root.
    private func caseIsIgnored(around path: ResourcePath) throws(SystemError) -> Bool {
        guard !isSaid, let parent = path.parent else { return false }
        let directory = try found { () throws(SystemError) in try tree.directory(parent.bytes) }
        return directory?.ignoresCase ?? false
    }

    private func withRealPlace(_ path: ResourcePath) throws(SystemError) -> ResourcePath {
        let around = path.bytes[..<(path.bytes.lastIndex(of: 0x2F) ?? 0)]
        let generation = seen.withLock { $0.generation }
        var (found, ignoresCase) = (path, ignoresCase)
        do throws(SystemError) {
            if try !tree.isReal(Array(around)) {
                found = try real(path, followsLast: false) ?? path
                if !ignoresCase { ignoresCase = try caseIsIgnored(around: found) }
            } else if !isSaid, try tree.directory(Array(around)).ignoresCase {
                ignoresCase = true
            } else if !ignoresCase {
                note(around, seenIn: generation)
            }
        } catch {
            guard !error.isTemporary else { throw error }
            guard ignoresCase else { return path }
        }
        return ignoresCase ? try spelled(found) : found
    }

    private func real(
        _ path: ResourcePath, followsLast: Bool
    ) throws(SystemError) -> ResourcePath? {
        let bytes = try found { () throws(SystemError) in
            try tree.realPath(of: path.bytes, followsLast: followsLast)
        }
        guard let bytes else { return nil }
        return ResourcePath(segments: bytes.split(separator: 0x2F).map { Array($0) })
    }

    /// Empties the cache.
    package func forget() {
        seen.withLock { seen in
            seen.hashes = [UInt64](repeating: 0, count: Self.slotCount)
            seen.generation += 1
        }
    }

    /// Removes a directory that is a link now from the cache.
    private func forget(_ path: ArraySlice<UInt8>) {
        let hash = hash(path)
        seen.withLock { seen in
            guard seen.hashes[Self.slot(hash)] == hash else { return }
            seen.hashes[Self.slot(hash)] = 0
            seen.generation += 1
        }
    }

    private func note(_ path: ArraySlice<UInt8>, seenIn generation: Int) {
        let hash = hash(path)
        seen.withLock { seen in
            if seen.generation == generation { seen.hashes[Self.slot(hash)] = hash }
        }
    }

    private static func slot(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 52) }

    /// Fast rather than unpredictable: a collision of two paths only causes an error. Never 0.
    private func hash(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        var hash = seed
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x9E37_79B9_7F4A_7C15 }
        return hash ^ hash >> 32 | 1
    }

    /// The names as stored in the directories, on volumes that ignore case.
    private func spelled(_ path: ResourcePath) throws(SystemError) -> ResourcePath {
        var real = ResourcePath.root
        for name in path.segments {
            let folder = real
            let known = try found { () throws(SystemError) in try spelling(of: name, in: folder) }
            real = folder.appending((known ?? nil) ?? name)
        }
        return real
    }

    private func spelling(
        of name: [UInt8], in path: ResourcePath
    ) throws(SystemError) -> [UInt8]? {
        let directory = try tree.directory(path.bytes)
        if !isSaid { _ = try directory.status(of: name) }
        guard let text = String(validating: name, as: UTF8.self)?.lowercased() else { return nil }
        let reader = try DirectoryReader(directory)
        var found: [UInt8]?
        while let other = try reader.next() {
            if other == name { return name }
            // String comparison also matches other Unicode forms.
            if String(validating: other, as: UTF8.self)?.lowercased() == text { found = other }
        }
        return found
    }

    // MARK: Unicode

    /// The path with each name in the Unicode form that it has on the disk. Only the two usual
    /// forms are tried: reading all names of a folder for each new name would take quadratic time.
    /// - Throws: a temporary error, which may hide another form.
    package func resolved(_ path: ResourcePath) throws(SystemError) -> ResourcePath {
        let status = try found { () throws(SystemError) in try tree.status(of: path.bytes) }
        if status != nil { return path }
        var real = ResourcePath.root
        for name in path.segments { real = real.appending(try form(of: name, in: real) ?? name) }
        return real
    }

    private func form(
        of name: [UInt8], in path: ResourcePath
    ) throws(SystemError) -> [UInt8]? {
        #if os(Linux)
            // File systems allow no longer names, and normalising a long one is slow. Repaired text
            // would be a different name.
            guard name.count <= 255, name.contains(where: { $0 >= 0x80 }),
                let text = String(validating: name, as: UTF8.self),
                let directory = try found({ () throws(SystemError) in
                    try tree.directory(path.bytes)
                }),
                try !isThere(name, in: directory)
            else { return nil }
            for form in [Self.bytes(text._nfc), Self.bytes(text._nfd)] where form != name {
                if try isThere(form, in: directory) { return form }
            }
            return nil
        #else
            // Other systems find the name in any form.
            return nil
        #endif
    }

    private func isThere(
        _ name: [UInt8], in directory: OpenDirectory
    ) throws(SystemError) -> Bool {
        try found { () throws(SystemError) in try directory.status(of: name) } != nil
    }

    private static func bytes(_ scalars: some Sequence<Unicode.Scalar>) -> [UInt8] {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return Array(String(text).utf8)
    }
}
