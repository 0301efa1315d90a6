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
    /// Whether names at the root are the same if only their case differs.
    private let ignoresCase: Bool
    /// Whether a test has set `ignoresCase`.
    private let isSaid: Bool
    /// Directories whose paths were found to be canonical, by hash. An entry may become wrong
    /// later; then `FileTree.place` fails.
    private let seen = Locked([UInt64](repeating: 0, count: slotCount))
    private let seed = UInt64.random(in: .min ... .max)

    /// - Parameter ignoresCase: whether names that differ only in case are the same; `nil` to find
    ///   out.
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
        return seen.withLock { $0[Self.slot(hash)] == hash }
    }

    /// The path without links, and with the case that the names have. Missing names stay as they
    /// are, and so does a path that leads out of the tree: opening it fails.
    package func canonical(_ path: ResourcePath, followsLast: Bool) -> ResourcePath {
        let place = isKnown(path) ? path : withRealPlace(path)
        guard followsLast, (try? tree.isReal(place.bytes)) == false,
            let real = real(place, followsLast: true)
        else { return place }
        return ignoresCase || caseIsIgnored(around: real) ? spelled(real) : real
    }

    /// Whether the directory of a path ignores the case of names; it may be on another volume than
    /// the root.
    private func caseIsIgnored(around path: ResourcePath) -> Bool {
        guard !isSaid, let parent = path.parent else { return false }
        return (try? tree.directory(parent.bytes))?.ignoresCase ?? false
    }

    private func withRealPlace(_ path: ResourcePath) -> ResourcePath {
        let around = path.bytes[..<(path.bytes.lastIndex(of: 0x2F) ?? 0)]
        var (found, ignoresCase) = (path, ignoresCase)
        do throws(SystemError) {
            if try !tree.isReal(Array(around)) {
                found = real(path, followsLast: false) ?? path
                ignoresCase = ignoresCase || caseIsIgnored(around: found)
            } else if !isSaid, try tree.directory(Array(around)).ignoresCase {
                ignoresCase = true
            } else if !ignoresCase {
                note(around)
            }
        } catch {
            guard ignoresCase else { return path }
        }
        return ignoresCase ? spelled(found) : found
    }

    private func real(_ path: ResourcePath, followsLast: Bool) -> ResourcePath? {
        guard let bytes = try? tree.realPath(of: path.bytes, followsLast: followsLast) else {
            return nil
        }
        return ResourcePath(segments: bytes.split(separator: 0x2F).map { Array($0) })
    }

    /// Empties the cache.
    package func forget() {
        seen.withLock { $0 = [UInt64](repeating: 0, count: Self.slotCount) }
    }

    private func note(_ path: ArraySlice<UInt8>) {
        let hash = hash(path)
        seen.withLock { $0[Self.slot(hash)] = hash }
    }

    private static func slot(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 52) }

    /// Fast rather than unpredictable: a collision of two paths only causes an error. Never 0.
    private func hash(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        var hash = seed
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x9E37_79B9_7F4A_7C15 }
        return hash ^ hash >> 32 | 1
    }

    /// The names as stored in the directories, on volumes that ignore case.
    private func spelled(_ path: ResourcePath) -> ResourcePath {
        path.segments.reduce(ResourcePath.root) { found, name in
            found.appending(spelling(of: name, in: found) ?? name)
        }
    }

    private func spelling(of name: [UInt8], in path: ResourcePath) -> [UInt8]? {
        guard let directory = try? tree.directory(path.bytes),
            isSaid || (try? directory.status(of: name)) != nil,
            let reader = try? DirectoryReader(directory)
        else { return nil }
        guard let text = String(validating: name, as: UTF8.self)?.lowercased() else { return nil }
        var found: [UInt8]?
        while let other = try? reader.next() {
            if other == name { return name }
            // String comparison also matches other Unicode forms.
            if String(validating: other, as: UTF8.self)?.lowercased() == text { found = other }
        }
        return found
    }

    // MARK: Unicode

    /// The path with each name in the Unicode form that it has on the disk. Only the two usual
    /// forms are tried: reading all names of a folder for each new name would take quadratic time.
    package func resolved(_ path: ResourcePath) -> ResourcePath {
        if (try? tree.status(of: path.bytes)) != nil { return path }
        return path.segments.reduce(ResourcePath.root) { found, name in
            found.appending(form(of: name, in: found) ?? name)
        }
    }

    private func form(of name: [UInt8], in path: ResourcePath) -> [UInt8]? {
        #if os(Linux)
            // File systems allow no longer names, and normalising a long one is slow. Repaired text
            // would be a different name.
            guard name.count <= 255, name.contains(where: { $0 >= 0x80 }),
                let text = String(validating: name, as: UTF8.self),
                let directory = try? tree.directory(path.bytes),
                (try? directory.status(of: name)) == nil
            else { return nil }
            return [Self.bytes(text._nfc), Self.bytes(text._nfd)].first { form in
                form != name && (try? directory.status(of: form)) != nil
            }
        #else
            // These systems find the name in any form.
            return nil
        #endif
    }

    private static func bytes(_ scalars: some Sequence<Unicode.Scalar>) -> [UInt8] {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return Array(String(text).utf8)
    }
}
