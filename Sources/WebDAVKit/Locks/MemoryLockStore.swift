internal import HTTPCodecs
internal import HTTPServerCore

/// Locks in memory, and in a file if they are to outlive the program.
public final class MemoryLockStore: LockStore {
    private let table: Locked<LockTable>
    private let file: LockFile?
    private let now: @Sendable () -> Int64

    /// Creates a store.
    /// - Parameters:
    ///   - file: the path of a file in which they are kept over restarts, written whole at each
    ///     change; outside of what is served. `nil` keeps them in memory alone.
    ///   - limit: how many locks there may be.
    public convenience init(file: String? = nil, limit: Int = 100_000) {
        self.init(file: file, limit: limit) { Syscalls.realtime().seconds }
    }

    /// The same with a clock, in seconds since the epoch.
    package init(file: String? = nil, limit: Int, now: @escaping @Sendable () -> Int64) {
        var table = LockTable(limit: limit)
        self.file = file.map { LockFile(path: $0) }
        for lock in self.file?.read() ?? [] where lock.expiry > now() { table.insert(lock) }
        self.table = Locked(table)
        self.now = now
    }

    /// Keeps a new lock.
    public func add(_ lock: ActiveLock) async throws -> ActiveLock {
        var lock = lock
        lock.expiry = now() + Int64(lock.timeout)
        let new = lock
        do {
            try await change { table throws(WebDAVError) in try table.add(new, now: now()) }
        } catch {
            // What cannot be kept is not promised.
            table.withLock { $0.remove(new.token) }
            throw error
        }
        return lock
    }

    /// Lets a lock begin anew.
    public func refresh(_ token: LockToken, timeout: Int) async throws -> ActiveLock? {
        try await change { $0.refresh(token, timeout: timeout, now: now()) }
    }

    /// Gives up a lock.
    public func remove(_ token: LockToken) async throws {
        try await change { $0.remove(token) }
    }

    /// The locks on a resource or a tree.
    public func locks(on path: ResourcePath, andInside isTree: Bool) async throws -> [ActiveLock] {
        table.withLock { $0.locks(on: path, andInside: isTree, now: now()) }
    }

    /// Gives up the locks inside of a path.
    public func removeAll(inside path: ResourcePath, includingRoot: Bool) async throws {
        let isNone = table.withLock { table in
            !table.locks(on: path, andInside: true, now: now()).contains { $0.root.isWithin(path) }
        }
        guard !isNone else { return }
        try await change { $0.removeAll(inside: path, includingRoot: includingRoot) }
    }

    private func change<Value: Sendable>(
        _ body: (inout LockTable) throws(WebDAVError) -> Value
    ) async throws -> Value {
        let result: Result<Value, WebDAVError> = table.withLock { table in
            do throws(WebDAVError) {
                return .success(try body(&table))
            } catch {
                return .failure(error)
            }
        }
        let value = try result.get()
        if let file {
            try await FileWork.run { [table] () throws(SystemError) in
                // What is written last is the newest, whoever's turn it is.
                try file.write { table.withLock { $0.all } }
            }
        }
        return value
    }
}
