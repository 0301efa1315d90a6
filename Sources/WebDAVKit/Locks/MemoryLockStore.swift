internal import HTTPServerCore
internal import HTTPServerKit
internal import ToolkitSystem

/// Locks in memory, and optionally in a file that survives restarts.
public final class MemoryLockStore: LockStore {
    private struct State: Sendable {
        var table: LockTable
        /// Lines of the file that are still to be written.
        var lines: [UInt8] = []
    }

    private let state: Locked<State>
    private let file: LockFile?
    private let now: @Sendable () -> Int64

    /// The longest timeout in seconds: the largest value of the Timeout field (RFC 4918 section
    /// 10.7).
    private static let longest = Int(clamping: UInt32.max)

    /// Creates a store in memory.
    /// - Parameter limit: the most locks. Their paths, owners and user names may have 32 MiB
    ///   in all.
    public convenience init(limit: Int = 100_000) {
        self.init(limit: limit) { Syscalls.realtime().seconds }
    }

    /// Creates a store that survives restarts. It blocks while it reads the file.
    /// - Parameters:
    ///   - file: the path of the file, which is created with the first lock. Keep it outside of the
    ///     shared folder, and give each store a separate one. Each change appends a line; the file
    ///     is rewritten once most lines are obsolete. While the store lives, a file beside it whose
    ///     name ends with `.held` keeps other stores out.
    ///   - limit: the most locks. Their paths, owners and user names may have 32 MiB in all.
    ///   - synchronizes: whether each change waits until it is on the disk. If so, a granted lock
    ///     survives a power failure; if not, it survives only the end of the program.
    /// - Throws: when another store uses the file, when it cannot be read, or when it contains
    ///   something other than locks.
    public convenience init(
        file: String, limit: Int = 100_000, synchronizes: Bool = false
    ) throws(LockFileError) {
        let file = LockFile(path: file, synchronizes: synchronizes)
        self.init(file: file, try file.read(), limit: limit) { Syscalls.realtime().seconds }
    }

    /// A store in memory with a clock, in seconds since the epoch.
    package convenience init(limit: Int, now: @escaping @Sendable () -> Int64) {
        self.init(file: nil, [], limit: limit, now: now)
    }

    private init(
        file: LockFile?, _ locks: [ActiveLock], limit: Int, now: @escaping @Sendable () -> Int64
    ) {
        var table = LockTable(limit: limit)
        for lock in locks where lock.expiry > now() { table.insert(lock) }
        self.file = file
        state = Locked(State(table: table))
        self.now = now
    }

    /// Adds a lock.
    public func add(_ lock: ActiveLock) async throws -> ActiveLock {
        let new = dated(lock)
        do {
            try await change { (table, lines) throws(WebDAVError) in
                try table.add(new, now: now())
                lines?.append(contentsOf: LockFile.line(adding: new))
            }
        } catch let error as WebDAVError {
            throw error
        } catch {
            // A lock that cannot be stored is not granted. The file may contain it nevertheless.
            state.withLock { state in
                state.table.remove(new.token)
                if file != nil { state.lines += LockFile.line(removing: new.token) }
            }
            // If this write fails as well, the next change writes the removal.
            try? await change { _, _ in }
            throw error
        }
        return new
    }

    /// The lock with its timeout limited and its expiry set.
    private func dated(_ lock: ActiveLock) -> ActiveLock {
        var lock = lock
        lock.timeout = min(lock.timeout, Self.longest)
        lock.expiry = now() + Int64(lock.timeout)
        return lock
    }

    /// Restarts the timeout of a lock.
    public func refresh(_ token: LockToken, timeout: Int) async throws -> ActiveLock? {
        let timeout = min(timeout, Self.longest)
        return try await change { table, lines in
            let lock = table.refresh(token, timeout: timeout, now: now())
            if let lock { lines?.append(contentsOf: LockFile.line(adding: lock)) }
            return lock
        }
    }

    /// Removes a lock.
    public func remove(_ token: LockToken) async throws {
        try await change { table, lines in
            table.remove(token)
            lines?.append(contentsOf: LockFile.line(removing: token))
        }
    }

    /// The locks on a resource or a tree.
    public func locks(on path: ResourcePath, andInside isTree: Bool) async throws -> [ActiveLock] {
        locksNow(on: path, andInside: isTree)
    }

    /// Removes the locks inside of a path.
    public func removeAll(inside path: ResourcePath, includingRoot: Bool) async throws {
        let isNone = state.withLock { state in
            !state.table.locks(on: path, andInside: true, now: now())
                .contains { $0.root.isWithin(path) }
        }
        guard !isNone else { return }
        try await change { table, lines in
            for token in table.removeAll(inside: path, includingRoot: includingRoot) {
                lines?.append(contentsOf: LockFile.line(removing: token))
            }
        }
    }

    /// Changes the table, and then writes the change to the file, if there is one.
    /// - Parameter body: changes the table; appends the lines of the change unless they are `nil`.
    private func change<Value: Sendable>(
        _ body: (inout LockTable, inout [UInt8]?) throws(WebDAVError) -> Value
    ) async throws -> Value {
        let hasFile = file != nil
        let result: Result<Value, WebDAVError> = state.withLock { state in
            var lines: [UInt8]? = hasFile ? [] : nil
            do throws(WebDAVError) {
                let value = try body(&state.table, &lines)
                if let lines { state.lines += lines }
                return .success(value)
            } catch {
                return .failure(error)
            }
        }
        let value = try result.get()
        if let file {
            try await FileWork.run { [state] () throws(SystemError) in
                // Any task may write the lines; they keep the order of the changes.
                try file.write(
                    {
                        state.withLock { state in
                            defer { state.lines = [] }
                            return state.lines
                        }
                    }, all: { state.withLock { $0.table.all } })
            }
        }
        return value
    }
}

extension MemoryLockStore: ImmediateLockStore {
    var changesAtOnce: Bool { file == nil }

    func addNow(_ lock: ActiveLock) throws(WebDAVError) -> ActiveLock {
        let lock = dated(lock)
        let result: Result<Void, WebDAVError> = state.withLock { state in
            do throws(WebDAVError) {
                return .success(try state.table.add(lock, now: now()))
            } catch {
                return .failure(error)
            }
        }
        try result.get()
        return lock
    }

    func removeNow(_ token: LockToken, where isWanted: (ActiveLock) -> Bool) -> Bool {
        state.withLock { $0.table.remove(token, now: now(), where: isWanted) }
    }

    func locksNow(on path: ResourcePath, andInside isTree: Bool) -> [ActiveLock] {
        state.withLock { $0.table.locks(on: path, andInside: isTree, now: now()) }
    }
}
