internal import HTTPCodecs
internal import HTTPServerCore

/// Locks in memory, and in a file if they are to outlive the program.
public final class MemoryLockStore: LockStore {
    private let table: Locked<LockTable>
    private let file: LockFile?
    private let now: @Sendable () -> Int64

    /// No lock is held for longer, in seconds: what Timeout can tell (RFC 4918 section 10.7).
    private static let longest = Int(clamping: UInt32.max)

    /// Creates a store in memory.
    /// - Parameter limit: how many locks there may be.
    public convenience init(limit: Int = 100_000) {
        self.init(limit: limit) { Syscalls.realtime().seconds }
    }

    /// Creates a store that is kept over restarts. It blocks while it reads the file.
    /// - Parameters:
    ///   - file: the path of the file, which is made when the first lock is taken, and written whole
    ///     at each change; outside of what is served.
    ///   - limit: how many locks there may be.
    /// - Throws: when there is a file that cannot be read, or that holds something else.
    public convenience init(file: String, limit: Int = 100_000) throws(LockFileError) {
        let file = LockFile(path: file)
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
        self.table = Locked(table)
        self.now = now
    }

    /// Keeps a new lock.
    public func add(_ lock: ActiveLock) async throws -> ActiveLock {
        var lock = lock
        lock.timeout = min(lock.timeout, Self.longest)
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
        let timeout = min(timeout, Self.longest)
        return try await change { $0.refresh(token, timeout: timeout, now: now()) }
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
