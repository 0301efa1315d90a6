internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit
internal import ToolkitSystem

/// The size of all files of a store with a limit: counted when the store opens, and updated with
/// its changes. Staged content counts as it arrives.
final class StoreUsage: Sendable {
    let limit: Int64
    private let bytes: Locked<Int64>

    /// Counts the existing files; it blocks.
    init(limit: Int64, of tree: FileTree) throws(SystemError) {
        self.limit = limit
        let root = try tree.directory([])
        bytes = Locked(try root.contentBytes(leavingOut: { ReservedNames.contains($0.span) }))
    }

    /// The rest of the limit.
    var left: Int64 { bytes.withLock { max(limit - $0, 0) } }

    /// Adds bytes.
    /// - Throws: a `SystemError` about a quota if the sum would exceed the limit.
    func add(_ count: Int64) throws(SystemError) {
        let isAdded = bytes.withLock { bytes in
            guard count <= limit - bytes else { return false }
            bytes += count
            return true
        }
        guard isAdded else { throw SystemError.quotaExceeded("write") }
    }

    /// Records files that exist already, or were removed.
    func change(by count: Int64) {
        bytes.withLock { bytes in
            // The lengths of sparse files may overflow the sum.
            let (sum, isTooMuch) = bytes.addingReportingOverflow(count)
            // Files that other programs made were never counted.
            bytes = isTooMuch ? .max : max(sum, 0)
        }
    }

    /// Records a removed file.
    func forget(_ status: FileStatus) {
        if status.kind == .regular { change(by: -status.size) }
    }

    /// The reserved bytes of staged content. They are released with this object, unless the content
    /// is placed.
    final class Hold: Sendable {
        private let usage: StoreUsage
        private let held: Locked<Int64>

        /// - Throws: a `SystemError` about a quota if the sum would exceed the limit.
        init(_ count: Int64, of usage: StoreUsage) throws(SystemError) {
            try usage.add(count)
            (self.usage, held) = (usage, Locked(count))
        }

        deinit {
            usage.change(by: -held.withLock { $0 })
        }

        /// Raises the held bytes to `count`; a smaller count changes nothing.
        /// - Throws: as ``init(_:of:)``.
        func reach(_ count: Int64) throws(SystemError) {
            let more = count - held.withLock { $0 }
            guard more > 0 else { return }
            try usage.add(more)
            held.withLock { $0 += more }
        }

        /// Keeps the bytes when the content is placed: they now count as a file.
        func keep() { held.withLock { $0 = 0 } }
    }
}

extension LocalStore {
    /// Reserves bytes for content, if there is a limit.
    func hold(_ count: Int64) throws -> StoreUsage.Hold? {
        guard let usage else { return nil }
        do throws(SystemError) {
            return try StoreUsage.Hold(count, of: usage)
        } catch {
            throw WebDAVError(error)
        }
    }

    /// Records how much content has arrived.
    func reach(_ count: Int64, _ hold: StoreUsage.Hold?) throws {
        guard let hold else { return }
        do throws(SystemError) {
            try hold.reach(count)
        } catch {
            throw WebDAVError(error)
        }
    }

    /// Records each file of a tree that is being removed; `nil` without a limit and without
    /// separate property files.
    var onRemoval: ((FileStatus) -> Void)? {
        guard let usage else { return properties.files.onRemoval }
        let forget = properties.files.onRemoval
        return { status in
            forget?(status)
            usage.forget(status)
        }
    }

    /// Records a removed file.
    func forget(_ status: FileStatus) {
        properties.files.forget(status)
        usage?.forget(status)
    }
}
