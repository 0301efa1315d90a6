internal import Dispatch
internal import HTTPParser
internal import Synchronization
package import ToolkitSystem

/// A cache of recently requested files: the bytes of small files and, during a short time, the open
/// descriptors of larger ones, with the fields of their answers. The next answer checks the file's
/// status instead of opening, reading and closing it. Requests that arrive together can share a
/// check.
///
/// A file counts as unchanged if its device, inode, size and times are the same; its strong entity
/// tag is computed from these. A write soon after another one may leave the times the same, so only
/// files that were not changed for a while have their bytes cached. A cached file is read again
/// from time to time, because writes through a mapping do not change the times. An open file is
/// sent with its current content.
///
/// Files that a link leads to are not cached. Each check also covers the folders of the path, in
/// case one has become a link.
final class FileCache: Sendable {
    /// A cached file.
    final class Entry: Sendable {
        let status: FileStatus
        let content: RangeSource
        let mediaType: String
        let validators: Validators
        /// Whether clients that accept gzip may get the precompressed file instead.
        let varies: Bool
        /// The fields of an answer with the whole file.
        let fields: HTTPFields
        /// The folders of the path below the root.
        fileprivate let parents: [FilePath]
        /// The time at which the file was read, in nanoseconds of the monotonic clock.
        fileprivate let readAt = Syscalls.monotonic()
        /// The time at which the last successful check began, by the same clock; 0 before the
        /// first.
        fileprivate let lookedAt = Atomic<UInt64>(0)

        init(
            status: FileStatus, content: RangeSource, mediaType: String, validators: Validators,
            varies: Bool, fields: HTTPFields, parents: [FilePath]
        ) {
            self.status = status
            self.content = content
            self.mediaType = mediaType
            self.validators = validators
            self.varies = varies
            self.fields = fields
            self.parents = parents
        }

        /// The estimated size in memory, in bytes.
        fileprivate var cost: Int {
            if case .bytes(let bytes) = content { bytes.count + entryBytes } else { entryBytes }
        }
    }

    private struct Kept {
        /// The small files used since the last change of generations, and those used before. An
        /// entry that was not used during a whole generation is dropped.
        var young: [FilePath: Entry] = [:]
        var old: [FilePath: Entry] = [:]
        var youngBytes = 0
        /// The files that are open, all of which are dropped at the same time.
        var open: [FilePath: Entry] = [:]
        var isDropScheduled = false

        mutating func keep(_ entry: Entry, at path: FilePath, byteLimit: Int) {
            if youngBytes + entry.cost > byteLimit / 2 {
                old = young
                young = [:]
                youngBytes = 0
            }
            // Another thread may have kept the file before it changed.
            let replaced = young.updateValue(entry, forKey: path)
            youngBytes += entry.cost - (replaced?.cost ?? 0)
        }

        mutating func entry(at path: FilePath, byteLimit: Int) -> Entry? {
            if let entry = young[path] ?? open[path] { return entry }
            guard let entry = old.removeValue(forKey: path) else { return nil }
            keep(entry, at: path, byteLimit: byteLimit)
            return entry
        }

        /// - Returns: the entry, so that its file is not closed under the lock.
        mutating func remove(at path: FilePath) -> Entry? {
            if let entry = open.removeValue(forKey: path) { return entry }
            guard let entry = young.removeValue(forKey: path) else { return nil }
            youngBytes -= entry.cost
            return entry
        }
    }

    /// The size of the largest file whose bytes are cached. The bytes of larger files are in the
    /// system's cache.
    static let largestFile = 16 << 10
    /// The size of the largest file that stays open. Opening a larger file costs little compared
    /// with sending it. The system also decides about read-ahead per descriptor, so readers at many
    /// different offsets should not share one.
    static let largestOpenFile: Int64 = 1 << 20
    /// The nanoseconds after which a file is read again.
    private static let longestLife: UInt64 = 5_000_000_000
    /// The estimated size of an entry without the file's bytes, in bytes.
    private static let entryBytes = 1 << 10

    private let byteLimit: Int
    private let openFileLimit: Int
    private let settlingSeconds: Int64
    private let openSeconds: Int
    private let kept = Locked(Kept())

    /// - Parameters:
    ///   - byteLimit: the most bytes of all entries of small files.
    ///   - openFileLimit: the most larger files that are open.
    ///   - settlingSeconds: how long a small file must have been unchanged.
    ///   - openSeconds: how long a larger file may stay open.
    init(byteLimit: Int, openFileLimit: Int, settlingSeconds: Int64, openSeconds: Int) {
        self.byteLimit = byteLimit
        self.openFileLimit = openFileLimit
        self.settlingSeconds = settlingSeconds
        self.openSeconds = openSeconds
    }

    /// The number of cached small files, and of open larger files.
    var counts: (small: Int, open: Int) {
        kept.withLock { ($0.young.count + $0.old.count, $0.open.count) }
    }

    /// The file at `path`, if it is cached and unchanged.
    /// - Parameter arrival: a time at which the request had already begun to arrive, in nanoseconds
    ///   of the monotonic clock. A check that began then or later is not repeated.
    func entry(at path: FilePath, in root: RootDirectory, arrival: UInt64) -> Entry? {
        let found = kept.withLock { $0.entry(at: path, byteLimit: byteLimit) }
        guard let found else { return nil }
        // The last check began after the request arrived, so its result is recent enough.
        if found.lookedAt.load(ordering: .relaxed) >= arrival { return found }
        let now = Syscalls.monotonic()
        if now &- found.readAt < Self.longestLife,
            leads(path, found.parents, to: found.status, in: root)
        {
            found.lookedAt.store(now, ordering: .relaxed)
            return found
        }
        _ = kept.withLock { $0.remove(at: path) }
        return nil
    }

    /// Whether the path leads to the same file, unchanged and without links.
    private func leads(
        _ path: FilePath, _ parents: [FilePath], to status: FileStatus, in root: RootDirectory
    ) -> Bool {
        parents.allSatisfy { $0.status(in: root)?.kind == .directory }
            && path.status(in: root)?.isUnchanged(from: status) == true
    }

    /// The whole content of an open file, if the file may be cached; else `nil`.
    func content(
        of file: OpenFile, _ status: FileStatus, at path: FilePath, in root: RootDirectory
    ) -> RangeSource? {
        let isSmall = status.size <= Self.largestFile
        guard isSmall ? isSettled(status) : mayStayOpen(status),
            leads(path, path.parents, to: status, in: root)
        else { return nil }
        guard isSmall else { return .file(file, offset: 0, length: status.size) }
        // A file that cannot be read is not cached, and sending it reports the error.
        let bytes = try? file.content(at: 0, count: Int(status.size))
        return bytes.flatMap { $0.count == Int(status.size) ? .bytes($0) : nil }
    }

    private func isSettled(_ status: FileStatus) -> Bool {
        Int(status.size) + Self.entryBytes <= byteLimit / 2
            && status.isUntouched(for: settlingSeconds)
    }

    private func mayStayOpen(_ status: FileStatus) -> Bool {
        status.size <= Self.largestOpenFile && kept.withLock { $0.open.count < openFileLimit }
    }

    func keep(_ entry: Entry, at path: FilePath) {
        let schedulesDrop = kept.withLock { kept in
            guard case .file = entry.content else {
                kept.keep(entry, at: path, byteLimit: byteLimit)
                return false
            }
            // Another thread may have reached the limit, or may have kept the same file.
            guard kept.open.count < openFileLimit, kept.open[path] == nil else { return false }
            kept.open[path] = entry
            defer { kept.isDropScheduled = true }
            return !kept.isDropScheduled
        }
        guard schedulesDrop else { return }
        // An open file uses a descriptor, and disk space even after it was deleted, so it must be
        // closed on time. A serial queue gets a thread even while tasks occupy all others.
        DispatchQueue(label: "http.files").asyncAfter(deadline: .now() + .seconds(openSeconds)) {
            [weak self] in self?.dropOpenFiles()
        }
    }

    /// Drops all open files. A file that is being sent is closed when it was sent.
    private func dropOpenFiles() {
        // The files are returned so that none is closed under the lock.
        _ = kept.withLock { kept in
            kept.isDropScheduled = false
            defer { kept.open = [:] }
            return kept.open
        }
    }
}

extension FileStatus {
    /// Whether the file was unchanged for that many seconds. Times on remote volumes may be
    /// arbitrary, and subtracting them could overflow.
    package func isUntouched(for seconds: Int64) -> Bool {
        max(modifiedSeconds, changedSeconds) <= Syscalls.realtime().seconds - seconds
    }

    fileprivate func isUnchanged(from other: FileStatus) -> Bool {
        kind == .regular && inode == other.inode && device == other.device && size == other.size
            && modifiedSeconds == other.modifiedSeconds
            && modifiedNanoseconds == other.modifiedNanoseconds
            && changedSeconds == other.changedSeconds
            && changedNanoseconds == other.changedNanoseconds
    }
}
