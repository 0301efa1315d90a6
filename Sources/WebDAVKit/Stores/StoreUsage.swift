internal import HTTPCodecs
internal import HTTPServerCore

/// How many bytes the files of a store have, where that is limited: counted when the store opens, and
/// kept up with what the store changes. Content that is not in place yet counts as it comes.
final class StoreUsage: Sendable {
    let limit: Int64
    private let bytes: Locked<Int64>

    /// Counts what is there; it blocks.
    init(limit: Int64, of tree: FileTree) throws(SystemError) {
        self.limit = limit
        bytes = Locked(try tree.directory([]).contentBytes { OwnNames.contains($0) })
    }

    /// How many bytes may come.
    var left: Int64 { bytes.withLock { max(limit - $0, 0) } }

    /// - Throws: a `SystemError` about a quota when there would be too many.
    func add(_ count: Int64) throws(SystemError) {
        let isAdded = bytes.withLock { bytes in
            guard count <= limit - bytes else { return false }
            bytes += count
            return true
        }
        guard isAdded else { throw SystemError.quotaExceeded("write") }
    }

    /// Takes note of what is there already, or has gone.
    func change(by count: Int64) { bytes.withLock { $0 += count } }

    /// A file has gone.
    func forget(_ status: FileStatus) {
        if status.kind == .regular { change(by: -status.size) }
    }

    /// The bytes of content on its way into a file. They are given back at its end, unless they stay.
    final class Hold: Sendable {
        private let usage: StoreUsage
        private let held: Locked<Int64>

        /// - Throws: a `SystemError` about a quota when there would be too many.
        init(_ count: Int64, of usage: StoreUsage) throws(SystemError) {
            try usage.add(count)
            (self.usage, held) = (usage, Locked(count))
        }

        deinit {
            usage.change(by: -held.withLock { $0 })
        }

        /// There are so many bytes now.
        /// - Throws: as ``init(_:of:)``.
        func reach(_ count: Int64) throws(SystemError) {
            let more = count - held.withLock { $0 }
            guard more > 0 else { return }
            try usage.add(more)
            held.withLock { $0 += more }
        }

        /// They are a file now.
        func keep() { held.withLock { $0 = 0 } }
    }
}

extension LocalStore {
    /// Holds bytes for content, where there is a limit.
    func hold(_ count: Int64) throws -> StoreUsage.Hold? {
        guard let usage else { return nil }
        do throws(SystemError) {
            return try StoreUsage.Hold(count, of: usage)
        } catch {
            throw WebDAVError(error)
        }
    }

    /// So many bytes of content have come.
    func reach(_ count: Int64, _ hold: StoreUsage.Hold?) throws {
        guard let hold else { return }
        do throws(SystemError) {
            try hold.reach(count)
        } catch {
            throw WebDAVError(error)
        }
    }

    /// For what is removed; `nil` when there is nothing to be forgotten.
    var onRemoval: ((FileStatus) -> Void)? {
        guard let usage else { return properties.onRemoval }
        let forget = properties.onRemoval
        return { status in
            forget?(status)
            usage.forget(status)
        }
    }

    /// A file has gone.
    func forget(_ status: FileStatus) {
        properties.forget(status)
        usage?.forget(status)
    }
}
