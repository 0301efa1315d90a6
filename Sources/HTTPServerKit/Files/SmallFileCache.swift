internal import HTTPParser
internal import ToolkitSystem

/// Small files that were asked for lately, kept in memory with what their answers say of them, so
/// that the next answer takes one look at the file's status instead of opening, reading and
/// closing it.
///
/// A file counts as unchanged while it has the same device, inode, size and times, the inputs of
/// its strong entity tag. The next write to a file that has just been written may leave its times
/// as they are, so only files that were left alone for a while are cached; a cached file is read
/// again now and then, because writes through a mapping do not change times.
///
/// That a path led to a file says nothing of where it leads now. No link leads to what is kept,
/// and each folder on the way is looked at again: none has become a link.
final class SmallFileCache: Sendable {
    /// A file that was kept.
    final class Entry: Sendable {
        let status: FileStatus
        let bytes: [UInt8]
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

        init(
            status: FileStatus, bytes: [UInt8], mediaType: String, validators: Validators,
            varies: Bool, fields: HTTPFields, parents: [FilePath]
        ) {
            self.status = status
            self.bytes = bytes
            self.mediaType = mediaType
            self.validators = validators
            self.varies = varies
            self.fields = fields
            self.parents = parents
        }
    }

    /// The entries used since the last change of generations, and those used before: what was not
    /// asked for during a whole generation is forgotten.
    private struct Generations {
        var young: [FilePath: Entry] = [:]
        var old: [FilePath: Entry] = [:]
        var youngBytes = 0

        mutating func keep(_ entry: Entry, at path: FilePath, byteLimit: Int) {
            let cost = entry.bytes.count + SmallFileCache.entryBytes
            if youngBytes + cost > byteLimit / 2 {
                old = young
                young = [:]
                youngBytes = 0
            }
            if young.updateValue(entry, forKey: path) == nil { youngBytes += cost }
        }

        mutating func entry(at path: FilePath, byteLimit: Int) -> Entry? {
            if let entry = young[path] { return entry }
            guard let entry = old.removeValue(forKey: path) else { return nil }
            keep(entry, at: path, byteLimit: byteLimit)
            return entry
        }
    }

    /// Larger files are sent from the system's own cache.
    static let largestFile = 16 << 10
    /// Nanoseconds after which a file is read again.
    private static let longestLife: UInt64 = 5_000_000_000
    /// The estimated size of an entry beside the file's bytes.
    private static let entryBytes = 1 << 10

    private let byteLimit: Int
    private let settlingSeconds: Int64
    private let generations = Locked(Generations())

    /// - Parameters:
    ///   - byteLimit: what all entries may need, in bytes.
    ///   - settlingSeconds: for how long a file must have been left alone.
    init(byteLimit: Int, settlingSeconds: Int64) {
        self.byteLimit = byteLimit
        self.settlingSeconds = settlingSeconds
    }

    /// How many files are kept.
    var count: Int { generations.withLock { $0.young.count + $0.old.count } }

    /// The file at `path` if it was kept and has not changed since.
    func entry(at path: FilePath, in root: RootDirectory) -> Entry? {
        let found = generations.withLock { $0.entry(at: path, byteLimit: byteLimit) }
        guard let found else { return nil }
        if Syscalls.monotonic() &- found.readAt < Self.longestLife,
            found.parents.allSatisfy({ $0.status(in: root)?.kind == .directory }),
            let status = path.status(in: root), status.isUnchanged(from: found.status)
        {
            return found
        }
        generations.withLock { kept in
            guard let removed = kept.young.removeValue(forKey: path) else { return }
            kept.youngBytes -= removed.bytes.count + Self.entryBytes
        }
        return nil
    }

    /// The whole content of an open file, if it is one to be kept.
    func content(
        of file: OpenFile, _ status: FileStatus, at path: FilePath, in root: RootDirectory
    ) -> [UInt8]? {
        let lastChange = max(status.modifiedSeconds, status.changedSeconds)
        let size = Int(clamping: status.size)
        guard size <= Self.largestFile, size + Self.entryBytes <= byteLimit / 2,
            Syscalls.realtime().seconds - lastChange >= settlingSeconds,
            path.parents.allSatisfy({ $0.status(in: root)?.kind == .directory }),
            path.status(in: root)?.isUnchanged(from: status) == true
        else { return nil }
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { room, count in
            guard size > 0 else { return }
            let room = unsafe UnsafeMutableRawBufferPointer(start: room.baseAddress, count: size)
            if case .done(let length) = unsafe Syscalls.read(file.descriptor, room, at: 0) {
                count = length
            }
        }
        return bytes.count == size ? bytes : nil
    }

    func keep(_ entry: Entry, at path: FilePath) {
        generations.withLock { $0.keep(entry, at: path, byteLimit: byteLimit) }
    }
}

extension FileStatus {
    fileprivate func isUnchanged(from other: FileStatus) -> Bool {
        kind == .regular && inode == other.inode && device == other.device && size == other.size
            && modifiedSeconds == other.modifiedSeconds
            && modifiedNanoseconds == other.modifiedNanoseconds
            && changedSeconds == other.changedSeconds
            && changedNanoseconds == other.changedNanoseconds
    }
}
