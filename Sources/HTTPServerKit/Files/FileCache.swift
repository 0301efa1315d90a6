internal import Dispatch
internal import HTTPParser
internal import Synchronization
package import ToolkitSystem

/// Files that were asked for lately, with what their answers say of them: the bytes of small ones
/// and, for a moment, the descriptors of larger ones. The next answer takes one look at the file's
/// status instead of opening, reading and closing it, and requests that arrive together share it.
///
/// A file counts as unchanged while it has the same device, inode, size and times, the inputs of
/// its strong entity tag. The next write to a file that has just been written may leave its times
/// as they are, so the bytes are cached only of files that were left alone for a while; a cached
/// file is read again now and then, because writes through a mapping do not change times. From a
/// descriptor the file is sent as it is now.
///
/// That a path led to a file says nothing of where it leads now. No link leads to what is kept,
/// and each folder on the way is looked at again: none has become a link.
final class FileCache: Sendable {
    /// A file that was kept.
    final class Entry: Sendable {
        let status: FileStatus
        let content: RangeSource
        let mediaType: String
        let validators: Validators
        /// Whether clients that accept gzip may be sent another file.
        let varies: Bool
        /// The fields of an answer with the whole file.
        let fields: HTTPFields
        /// The folders on the way to it.
        fileprivate let parents: [FilePath]
        /// When it was read, in nanoseconds of the monotonic clock.
        fileprivate let readAt = Syscalls.monotonic()
        /// When the last look began that found it unchanged, by the same clock; 0 before the first.
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
        /// The small files used since the last change of generations, and those used before: what
        /// was not asked for during a whole generation is forgotten.
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

    /// The bytes of larger files are sent from the system's own cache.
    static let largestFile = 16 << 10
    /// To open a larger file costs little beside sending it; and what the system reads ahead, it
    /// decides for each descriptor, which many readers at different places should not share.
    static let largestOpenFile: Int64 = 1 << 20
    /// Nanoseconds after which a file is read again.
    private static let longestLife: UInt64 = 5_000_000_000
    /// The estimated size of an entry beside the file's bytes.
    private static let entryBytes = 1 << 10

    private let byteLimit: Int
    private let openFileLimit: Int
    private let settlingSeconds: Int64
    private let openSeconds: Int
    private let kept = Locked(Kept())

    /// - Parameters:
    ///   - byteLimit: what all entries of small files may need, in bytes.
    ///   - openFileLimit: how many larger files may be open.
    ///   - settlingSeconds: for how long a small file must have been left alone.
    ///   - openSeconds: for how long a larger file may stay open.
    init(byteLimit: Int, openFileLimit: Int, settlingSeconds: Int64, openSeconds: Int) {
        self.byteLimit = byteLimit
        self.openFileLimit = openFileLimit
        self.settlingSeconds = settlingSeconds
        self.openSeconds = openSeconds
    }

    /// How many small files are kept, and how many larger ones are open.
    var counts: (small: Int, open: Int) {
        kept.withLock { ($0.young.count + $0.old.count, $0.open.count) }
    }

    /// The file at `path` if it was kept and has not changed since.
    /// - Parameter arrival: a time by which the request had begun to arrive, as `Request` has it.
    func entry(at path: FilePath, in root: RootDirectory, arrival: UInt64) -> Entry? {
        let found = kept.withLock { $0.entry(at: path, byteLimit: byteLimit) }
        guard let found else { return nil }
        // Its client has sent the request before that look, and may get what was there then.
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

    /// Whether the path leads to that file, unchanged and by no link.
    private func leads(
        _ path: FilePath, _ parents: [FilePath], to status: FileStatus, in root: RootDirectory
    ) -> Bool {
        parents.allSatisfy { $0.status(in: root)?.kind == .directory }
            && path.status(in: root)?.isUnchanged(from: status) == true
    }

    /// The whole content of an open file, if it is one to be kept.
    func content(
        of file: OpenFile, _ status: FileStatus, at path: FilePath, in root: RootDirectory
    ) -> RangeSource? {
        let isSmall = status.size <= Self.largestFile
        guard isSmall ? isSettled(status) : mayStayOpen(status),
            leads(path, path.parents, to: status, in: root)
        else { return nil }
        guard isSmall else { return .file(file, offset: 0, length: status.size) }
        // One that cannot be read is left to the error of sending it.
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
            // Another thread may have taken the last place, or have opened the same file.
            guard kept.open.count < openFileLimit, kept.open[path] == nil else { return false }
            kept.open[path] = entry
            defer { kept.isDropScheduled = true }
            return !kept.isDropScheduled
        }
        guard schedulesDrop else { return }
        // An open file takes room on its volume after it was deleted, and a descriptor. A serial queue
        // has a thread even while tasks have all of the others.
        DispatchQueue(label: "http.files").asyncAfter(deadline: .now() + .seconds(openSeconds)) {
            [weak self] in self?.dropOpenFiles()
        }
    }

    /// A file that is being sent is closed when all of it is sent.
    private func dropOpenFiles() {
        // They are returned so that none is closed under the lock.
        _ = kept.withLock { kept in
            kept.isDropScheduled = false
            defer { kept.open = [:] }
            return kept.open
        }
    }
}

extension FileStatus {
    /// Whether it was left alone for that many seconds. Volumes of other machines may have any
    /// times, whose differences may overflow.
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
