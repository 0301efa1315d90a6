internal import Dispatch
internal import HTTPCodecs
internal import HTTPParser
internal import Synchronization
internal import ToolkitSystem

/// Records the content of a response while it is delivered, up to a limit, and stores it if it is
/// complete. Content that is too long for memory is written to the disk as it arrives.
final class CacheRecorder: ContentRecorder {
    private enum Content {
        case memory([UInt8])
        /// `pending` is passed to the spool once it is long enough.
        case disk(CacheSpool, count: Int, pending: [UInt8])
        case tooLong
    }

    private let cache: ClientCache
    private let head: CachedHead
    private let moment: UInt64
    private let limit: Int
    private let memoryLimit: Int
    private let content = Locked(Content.memory([]))

    /// - Parameters:
    ///   - cache: the cache that stores the response.
    ///   - head: the head of the response.
    ///   - moment: ``ClientCache/moment`` when the response was requested.
    ///   - limit: the most bytes that are stored.
    ///   - memoryLimit: the most bytes that are kept in memory.
    init(
        _ cache: ClientCache, _ head: CachedHead, since moment: UInt64, limit: Int,
        memoryLimit: Int
    ) {
        (self.cache, self.head, self.moment) = (cache, head, moment)
        (self.limit, self.memoryLimit) = (limit, min(memoryLimit, limit))
    }

    func record(_ bytes: UnsafeRawBufferPointer) {
        content.withLock { content in
            switch content {
            case .tooLong: break
            case .memory(var kept):
                content = .tooLong
                if bytes.count <= memoryLimit - kept.count {
                    unsafe kept.append(contentsOf: bytes)
                    content = .memory(kept)
                } else if bytes.count <= limit - kept.count, let spool = cache.makeSpool() {
                    unsafe kept.append(contentsOf: bytes)
                    spool.add(kept)
                    content = .disk(spool, count: kept.count, pending: [])
                }
            case .disk(let spool, let count, var pending):
                content = .tooLong
                guard bytes.count <= limit - count else { return spool.abandon() }
                unsafe pending.append(contentsOf: bytes)
                if pending.count >= CacheSpool.usualLength {
                    spool.add(pending)
                    pending = []
                }
                content = .disk(spool, count: count + bytes.count, pending: pending)
            }
        }
    }

    var isBehind: Bool { spool?.isBehind ?? false }

    func onceCaughtUp(_ call: @escaping @Sendable () -> Void) {
        guard let spool else { return call() }
        spool.onceCaughtUp(call)
    }

    private var spool: CacheSpool? {
        content.withLock { content in
            if case .disk(let spool, _, _) = content { spool } else { nil }
        }
    }

    func finish(trailers: HTTPFields) {
        var head = head
        head.trailers = trailers
        switch take() {
        case .memory(let bytes): cache.store(head, bytes, since: moment)
        case .disk(let spool, _, let pending):
            if !pending.isEmpty { spool.add(pending) }
            cache.store(head, spool, since: moment)
        case .tooLong: break
        }
    }

    /// Whether the content was not too long so far.
    var isWhole: Bool {
        content.withLock { content in
            if case .tooLong = content { false } else { true }
        }
    }

    func abandon() {
        if case .disk(let spool, _, _) = take() { spool.abandon() }
    }

    private func take() -> Content {
        content.withLock { content in
            defer { content = .tooLong }
            return content
        }
    }
}

/// A file in the cache's folder that is written while content arrives. No call waits for the disk.
final class CacheSpool: @unchecked Sendable {
    /// How many bytes are passed to `add(_:)` at a time, because each call costs time and memory.
    static let usualLength = 64 << 10
    /// How many bytes may wait for the disk before the connection is paused.
    private static let waitingLimit = 4 << 20

    private let cache: ClientCache
    private let waiting = Atomic(0)

    // Used on the cache's queue.
    private var body: (name: String, file: OpenFile)?
    private var checksum = CacheChecksum()
    private var length: Int64 = 0
    private var hasFailed = false

    init(_ cache: ClientCache) {
        self.cache = cache
    }

    var isBehind: Bool { waiting.load(ordering: .relaxed) >= Self.waitingLimit }

    func onceCaughtUp(_ call: @escaping @Sendable () -> Void) { cache.queue.async(execute: call) }

    /// Appends content.
    func add(_ bytes: [UInt8]) {
        let count = bytes.count
        waiting.add(count, ordering: .relaxed)
        cache.queue.async {
            self.write(bytes)
            self.waiting.subtract(count, ordering: .relaxed)
        }
    }

    private func write(_ bytes: [UInt8]) {
        guard !hasFailed else { return }
        if body == nil { body = cache.withDisk { try? $0.newBody() } }
        guard let body, (try? body.file.write(bytes)) != nil else {
            hasFailed = true
            return
        }
        checksum.add(bytes)
        length += Int64(bytes.count)
    }

    /// Stores the response, whose content is complete.
    /// - Parameter moment: ``ClientCache/moment`` when the response was requested.
    func finish(_ head: CachedHead, since moment: UInt64) {
        cache.queue.async {
            defer { self.cache.endChange() }
            let (length, checksum) = (self.length, self.checksum.value)
            let _: Void? = self.cache.withDisk { disk in
                if let body = self.body, !self.hasFailed,
                    !self.cache.isRemoved(head.url, since: moment)
                {
                    disk.store(head, body: body.name, length: length, checksum: checksum)
                } else {
                    disk.giveUp(head, body: self.body?.name)
                }
            }
            self.body = nil
        }
    }

    /// Removes the file of incomplete content.
    func abandon() {
        cache.queue.async { self.remove() }
    }

    private func remove() {
        guard let body else { return }
        let _: Void? = cache.withDisk { $0.removeBody(body.name) }
        self.body = nil
    }
}
