package import Dispatch
internal import HTTPCodecs
package import HTTPParser
internal import ToolkitSystem

/// A cache of responses, in memory and optionally in a folder on the disk. RFC 9111.
///
/// It is a private cache: it serves one user. Sessions may share it, and any thread may use it. A
/// folder belongs to one cache at a time. Entries survive the process; damaged entries are ignored.
public final class ClientCache: Sendable {
    package final class Stored: Sendable {
        let head: CachedHead
        let content: StoredContent

        init(head: CachedHead, content: StoredContent) {
            (self.head, self.content) = (head, content)
        }
    }

    /// The cache of sessions that are not configured with another one, in memory only.
    public static let shared = ClientCache()

    private let memory: Locked<CacheIndex<Stored>>
    private let memoryLimit: Int
    private let entryLimit: Int
    private let disk: Locked<DiskStore?>
    private let hasDisk: Bool
    /// All access to the disk happens on this serial queue. Tests block it.
    package let queue: DispatchQueue

    /// Creates a cache.
    /// - Parameters:
    ///   - memoryLimit: the most bytes that are kept in memory.
    ///   - folder: the folder of the stored responses. It is created if it is missing.
    ///   - diskLimit: the most bytes that are kept in the folder.
    ///   - entryLimit: the longest content of one response, in bytes; nil for a twentieth of the
    ///     greater limit.
    /// - Throws: ``ClientError/Kind/cannotWriteFile`` if the folder cannot be used.
    public init(
        memoryLimit: Int, folder: String, diskLimit: Int64 = 256 << 20, entryLimit: Int? = nil
    ) throws(ClientError) {
        precondition(memoryLimit >= 0 && diskLimit >= 0, "a negative limit")
        self.memoryLimit = memoryLimit
        self.entryLimit = entryLimit ?? max(memoryLimit / 20, Int(clamping: diskLimit / 20))
        memory = Locked(CacheIndex(byteLimit: Int64(memoryLimit)))
        queue = Self.makeQueue()
        do throws(SystemError) {
            disk = Locked(try DiskStore(folder: folder, byteLimit: diskLimit, queue: queue))
        } catch {
            throw ClientError(.cannotWriteFile, "the cache's folder \(folder): \(error)")
        }
        hasDisk = true
    }

    /// Creates a cache in memory.
    /// - Parameters:
    ///   - memoryLimit: the most bytes that are kept.
    ///   - entryLimit: the longest content of one response, in bytes; nil for a twentieth of
    ///     `memoryLimit`.
    public init(memoryLimit: Int = 16 << 20, entryLimit: Int? = nil) {
        precondition(memoryLimit >= 0, "a negative limit")
        self.memoryLimit = memoryLimit
        self.entryLimit = entryLimit ?? memoryLimit / 20
        memory = Locked(CacheIndex(byteLimit: Int64(memoryLimit)))
        disk = Locked(nil)
        queue = Self.makeQueue()
        hasDisk = false
    }

    private static func makeQueue() -> DispatchQueue {
        DispatchQueue(label: "http.client.cache", qos: .utility)
    }

    /// The size of all responses in memory, in bytes.
    public var memoryByteCount: Int { memory.withLock { Int($0.byteCount) } }

    /// The size of all responses on the disk, in bytes. Waits for pending work on the disk.
    public var diskByteCount: Int64 { queue.sync { disk.withLock { $0?.byteCount ?? 0 } } }

    /// Removes all responses.
    public func removeAll() {
        change { memory in
            _ = memory.removeAll()
            memory.removals.removeAll()
        }
        onDisk { $0.removeAll() }
    }

    /// Removes all responses for a URL.
    /// - Parameter url: the URL; its fragment is ignored.
    public func remove(_ url: String) {
        guard let wire = try? WireURL(url) else { return }
        invalidate(wire.text)
    }

    /// Waits until all earlier changes were made on the disk.
    public func flush() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    // MARK: Within a transaction

    /// Whether responses that are not in memory may be on the disk.
    var asksDisk: Bool { hasDisk }

    /// The number of removals so far. A response that was requested at an earlier moment is not
    /// stored if its URL was removed since, for example by an unsafe method: it is outdated.
    var moment: UInt64 { memory.withLock { $0.removals.moment } }

    /// Whether the cache is certainly empty.
    var isEmpty: Bool { !hasDisk && memory.withLock { $0.byteCount == 0 } }

    /// The stored response for a request, from memory.
    func found(_ url: String, _ request: HTTPFields) -> Stored? {
        memory.withLock { memory in
            let found = memory.values(of: url).first { $0.head.matches(request) }
            if let found { memory.touch(url, found.head.variant) }
            return found
        }
    }

    /// The stored response for a request, from memory or disk.
    func lookUp(_ url: String, _ request: HTTPFields) async -> Stored? {
        if let found = found(url, request) { return found }
        guard hasDisk else { return nil }
        // The lock makes the hand-over visible to sanitizers.
        let stored = Locked<Stored?>(nil)
        await withCheckedContinuation { continuation in
            queue.async {
                let read = self.readDisk(url, request)
                stored.withLock { $0 = read }
                continuation.resume()
            }
        }
        return stored.withLock { $0 }
    }

    func readDisk(_ url: String, _ request: HTTPFields) -> Stored? {
        let entry = disk.withLock { $0?.find(url) { $0.matches(request) } }
        guard let entry else { return nil }
        guard entry.content.count <= Int64(memoryEntryLimit) else {
            return Stored(head: entry.head, content: .file(entry.content))
        }
        var content: [UInt8] = []
        while Int64(content.count) < entry.content.count {
            let piece = entry.content.read(at: Int64(content.count))
            guard !piece.isEmpty else { return nil }
            content += piece
        }
        let stored = Stored(head: entry.head, content: .bytes(content))
        // While a change was not yet made on the disk, this response may be outdated.
        memory.withLock { if $0.pendingChanges == 0 { keep(stored, in: &$0) } }
        return stored
    }

    /// The longest content that is kept in memory, in bytes.
    private var memoryEntryLimit: Int { min(max(memoryLimit / 4, 1), entryLimit) }

    private func keep(_ stored: Stored, in memory: inout CacheIndex<Stored>) {
        guard case .bytes(let content) = stored.content else { return }
        let size = content.count + stored.head.byteCount
        guard size <= max(memoryLimit / 4, 1), content.count <= entryLimit else { return }
        _ = memory.insert(
            stored, size: Int64(size), key: stored.head.url, variant: stored.head.variant)
    }

    /// A recorder for the content of a response; `nil` if the announced content is too long.
    /// - Parameter moment: ``moment`` when the response was requested.
    func recorder(
        _ head: CachedHead, announced: Int64?, since moment: UInt64
    ) -> CacheRecorder? {
        guard hasRoom(for: announced) else { return nil }
        return CacheRecorder(
            self, head, since: moment, limit: entryLimit, memoryLimit: memoryEntryLimit)
    }

    /// Whether content may be stored, given its announced length, if any.
    func hasRoom(for announced: Int64?) -> Bool {
        announced ?? 0 <= Int64(entryLimit) && entryLimit > 0
    }

    /// A file for content that is too long for memory; nil without a folder.
    func makeSpool() -> CacheSpool? { hasDisk ? CacheSpool(self) : nil }

    /// Calls `body` with the folder; nil without one. Called on `queue`.
    func withDisk<Value: Sendable>(_ body: (inout DiskStore) -> Value?) -> Value? {
        disk.withLock { store in
            guard var open = store.take() else { return nil }
            defer { store = open }
            return body(&open)
        }
    }

    /// Stores a response whose content was written to a file.
    func store(_ head: CachedHead, _ spool: CacheSpool, since moment: UInt64) {
        guard change(head.url, since: moment, { removeReplaced(by: head, in: &$0) }) else {
            return spool.abandon()
        }
        spool.finish(head, since: moment)
    }

    /// Whether the response for a URL was removed after a moment.
    func isRemoved(_ url: String, since moment: UInt64?) -> Bool {
        guard let moment else { return false }
        return memory.withLock { $0.removals.include(url, since: moment) }
    }

    /// Removes the response that a new one replaces, because the new one may be too long for
    /// memory, and responses with other `vary`.
    private func removeReplaced(by head: CachedHead, in memory: inout CacheIndex<Stored>) {
        for old in memory.values(of: head.url)
        where old.head.vary != head.vary || old.head.variant == head.variant {
            _ = memory.remove(head.url, old.head.variant)
        }
    }

    /// Stores a complete response.
    /// - Parameters:
    ///   - head: the head of the response.
    ///   - content: the complete content.
    ///   - inMemoryOnly: whether nothing is written to the disk, and the responses for the URL are
    ///     removed there.
    ///   - moment: ``moment`` when the response was requested; `nil` for now.
    func store(
        _ head: CachedHead, _ content: [UInt8], inMemoryOnly: Bool = false,
        since moment: UInt64? = nil
    ) {
        let stored = Stored(head: head, content: .bytes(content))
        let isCurrent = change(head.url, since: moment) { memory in
            removeReplaced(by: head, in: &memory)
            keep(stored, in: &memory)
        }
        guard isCurrent else { return }
        guard !inMemoryOnly else { return onDisk { $0.remove(head.url) } }
        onDisk { disk in
            guard !self.isRemoved(head.url, since: moment), let (name, file) = try? disk.newBody()
            else {
                return disk.giveUp(head, body: nil)
            }
            var checksum = CacheChecksum()
            checksum.add(content)
            guard (try? file.write(content)) != nil else {
                return disk.giveUp(head, body: name)
            }
            disk.store(
                head, body: name, length: Int64(content.count), checksum: checksum.value)
        }
    }

    /// Stores the head that results from a 304, if the stored response is still the validated one:
    /// a response that was stored meanwhile keeps its head (RFC 9111 section 4.3.4), and a removed
    /// one stays removed.
    func freshen(_ stored: Stored, _ head: CachedHead) {
        change { memory in
            let isThere = memory.values(of: head.url).contains {
                $0.head.isSameResponse(as: stored.head)
            }
            if isThere { keep(Stored(head: head, content: stored.content), in: &memory) }
        }
        let validated = stored.head
        onDisk { $0.freshen(validated, head) }
    }

    /// Removes all responses for a URL.
    package func invalidate(_ url: String) {
        change { memory in
            _ = memory.removeAll(url)
            memory.removals.remove(url)
        }
        onDisk { $0.remove(url) }
    }

    /// Changes memory. `onDisk` or a spool then changes the disk.
    private func change(_ body: (inout CacheIndex<Stored>) -> Void) {
        memory.withLock { memory in
            if hasDisk { memory.pendingChanges += 1 }
            body(&memory)
        }
    }

    /// Changes memory, unless the URL was removed after a moment. Then `onDisk` or a spool changes
    /// the disk.
    /// - Returns: whether memory was changed.
    private func change(
        _ url: String, since moment: UInt64?, _ body: (inout CacheIndex<Stored>) -> Void
    ) -> Bool {
        memory.withLock { memory in
            if let moment, memory.removals.include(url, since: moment) { return false }
            if hasDisk { memory.pendingChanges += 1 }
            body(&memory)
            return true
        }
    }

    /// Notes that a change was made on the disk.
    func endChange() { memory.withLock { $0.pendingChanges -= 1 } }

    private func onDisk(_ body: @escaping @Sendable (inout DiskStore) -> Void) {
        guard hasDisk else { return }
        queue.async {
            defer { self.endChange() }
            self.disk.withLock { store in
                guard var open = store.take() else { return }
                body(&open)
                store = open
            }
        }
    }
}

// For tests; `TransactionPolicy` uses the cache.
extension ClientCache {
    package func find(
        _ url: String, _ request: HTTPFields
    ) async -> (head: CachedHead, content: [UInt8])? {
        guard let stored = await lookUp(url, request) else { return nil }
        switch stored.content {
        case .bytes(let bytes): return (stored.head, bytes)
        case .file(let file):
            var content: [UInt8] = []
            while Int64(content.count) < file.count {
                let piece = await file.piece(at: Int64(content.count))
                guard !piece.isEmpty else { return nil }
                content += piece
            }
            return (stored.head, content)
        }
    }

    package func keep(_ head: CachedHead, _ content: [UInt8]) { store(head, content) }

    package func refresh(_ url: String, with head: CachedHead) async {
        guard let stored = await lookUp(url, [:]) else { return }
        freshen(stored, head)
    }

    /// Handles a 304 for a response that was found before.
    package func refresh(_ found: (head: CachedHead, content: [UInt8]), with head: CachedHead) {
        freshen(Stored(head: found.head, content: .bytes(found.content)), head)
    }

    /// Whether a recorder accepts content of this length.
    package func takes(_ head: CachedHead, _ content: [UInt8]) -> Bool {
        guard let recorder = recorder(head, announced: nil, since: moment) else { return false }
        unsafe content.withUnsafeBytes { unsafe recorder.record($0) }
        return recorder.isWhole
    }
}

extension CachedHead {
    /// Whether the response may answer a request with these fields (section 4.1).
    func matches(_ request: HTTPFields) -> Bool {
        CacheRules.variant(of: request, names: vary) == variant
    }

    /// The approximate size in memory, in bytes.
    var byteCount: Int {
        fields.reduce(url.utf8.count + 200) {
            $0 + $1.name.text.utf8.count + $1.value.utf8.count + 80
        }
    }
}
