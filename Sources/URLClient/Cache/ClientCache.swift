package import Dispatch
internal import HTTPCodecs
package import HTTPParser
internal import ToolkitSystem

/// Responses that were kept, in memory and, where there is a folder, on the disk. RFC 9111.
///
/// It is a private cache: one user's. It may be shared by sessions, and used from everywhere. A folder
/// belongs to one cache at a time. Entries survive the process; an entry that was damaged
/// meanwhile is left out.
public final class ClientCache: Sendable {
    package final class Stored: Sendable {
        let head: CachedHead
        let content: StoredContent

        init(head: CachedHead, content: StoredContent) {
            (self.head, self.content) = (head, content)
        }
    }

    /// The one that sessions share unless they are given another: in memory.
    public static let shared = ClientCache()

    private let memory: Locked<CacheIndex<Stored>>
    private let memoryLimit: Int
    private let entryLimit: Int
    private let disk: Locked<DiskStore?>
    private let hasDisk: Bool
    /// Everything on the disk happens here, one thing after the other. Tests hold it up.
    package let queue: DispatchQueue

    /// Creates a cache.
    /// - Parameters:
    ///   - memoryLimit: how many bytes are kept in memory.
    ///   - folder: where more is kept; nil for nowhere. It is made if it is missing.
    ///   - diskLimit: how many bytes are kept there.
    ///   - entryLimit: how long the content of one response may be, in bytes; nil for a twentieth of
    ///     the greater limit.
    /// - Throws: ``ClientError/Kind/cannotWriteFile`` if the folder cannot be used.
    public init(
        memoryLimit: Int, folder: String, diskLimit: Int64 = 256 << 20, entryLimit: Int? = nil
    ) throws(ClientError) {
        precondition(memoryLimit >= 0 && diskLimit >= 0, "a negative limit")
        self.memoryLimit = memoryLimit
        self.entryLimit = entryLimit ?? max(memoryLimit / 20, Int(clamping: diskLimit / 20))
        memory = Locked(CacheIndex(byteLimit: Int64(memoryLimit)))
        queue = Self.makeQueue()
        do throws(StoreFiles.Failure) {
            disk = Locked(try DiskStore(folder: folder, byteLimit: diskLimit, queue: queue))
        } catch {
            throw ClientError(.cannotWriteFile, "the cache's folder \(folder): \(error)")
        }
        hasDisk = true
    }

    /// Creates a cache in memory.
    /// - Parameters:
    ///   - memoryLimit: how many bytes are kept.
    ///   - entryLimit: how long the content of one response may be, in bytes; nil for a twentieth.
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

    /// How many bytes are in memory.
    public var memoryByteCount: Int { memory.withLock { Int($0.byteCount) } }

    /// How many bytes are on the disk.
    public var diskByteCount: Int64 { queue.sync { disk.withLock { $0?.byteCount ?? 0 } } }

    /// Removes everything.
    public func removeAll() {
        change { memory in
            _ = memory.removeAll()
            memory.removals.removeAll()
        }
        onDisk { $0.removeAll() }
    }

    /// Removes what is stored for a URL.
    /// - Parameter url: the URL; its fragment does not matter.
    public func remove(_ url: String) {
        guard let wire = try? WireURL(url) else { return }
        invalidate(wire.text)
    }

    /// Waits until all that was stored is on the disk.
    public func flush() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    // MARK: Within a transaction

    /// Whether what memory does not have may be on the disk.
    var asksDisk: Bool { hasDisk }

    /// Grows with each removal. A response that was asked for at an earlier moment is not stored if
    /// its URL was removed since: an unsafe method, or another user, makes it an answer of before.
    var moment: UInt64 { memory.withLock { $0.removals.moment } }

    /// Whether there is nothing at all.
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
        // A change that the disk has yet to follow makes this an answer of before.
        memory.withLock { if $0.pendingChanges == 0 { keep(stored, in: &$0) } }
        return stored
    }

    /// How long content may be that is kept in memory.
    private var memoryEntryLimit: Int { min(max(memoryLimit / 4, 1), entryLimit) }

    private func keep(_ stored: Stored, in memory: inout CacheIndex<Stored>) {
        guard case .bytes(let content) = stored.content else { return }
        let size = content.count + stored.head.byteCount
        guard size <= max(memoryLimit / 4, 1), content.count <= entryLimit else { return }
        _ = memory.insert(
            stored, size: Int64(size), key: stored.head.url, variant: stored.head.variant)
    }

    /// Takes the content of a response as it comes; `nil` if it would be too long.
    /// - Parameter moment: ``moment`` when it was asked for.
    func recorder(
        _ head: CachedHead, announced: Int64?, since moment: UInt64
    ) -> CacheRecorder? {
        guard hasRoom(for: announced) else { return nil }
        return CacheRecorder(
            self, head, since: moment, limit: entryLimit, memoryLimit: memoryEntryLimit)
    }

    /// Whether content of a length, if it was announced, may be stored.
    func hasRoom(for announced: Int64?) -> Bool {
        announced ?? 0 <= Int64(entryLimit) && entryLimit > 0
    }

    /// A file for content that is too long for memory; nil without a folder.
    func makeSpool() -> CacheSpool? { hasDisk ? CacheSpool(self) : nil }

    /// Something with the folder, on its queue.
    func withDisk<Value: Sendable>(_ body: (inout DiskStore) -> Value?) -> Value? {
        disk.withLock { store in
            guard var open = store.take() else { return nil }
            defer { store = open }
            return body(&open)
        }
    }

    /// Makes a file that was filled the answer for its URL.
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

    /// Removes the response that a new one replaces, which may be too long to be kept in its place,
    /// and those that depend on other fields.
    private func removeReplaced(by head: CachedHead, in memory: inout CacheIndex<Stored>) {
        for old in memory.values(of: head.url)
        where old.head.vary != head.vary || old.head.variant == head.variant {
            _ = memory.remove(head.url, old.head.variant)
        }
    }

    /// Stores what came whole.
    /// - Parameters:
    ///   - head: of the response.
    ///   - content: all of it.
    ///   - inMemoryOnly: whether the disk gets nothing, and loses what it has for the URL.
    ///   - moment: ``moment`` when it was asked for; `nil` for now.
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
            guard (try? file.append(content)) != nil else {
                return disk.giveUp(head, body: name)
            }
            disk.store(
                head, body: name, length: Int64(content.count), checksum: checksum.value)
        }
    }

    /// Stores what a 304 has said, if what is there is still what the server was asked about: the
    /// head would not be that of a response that came meanwhile (RFC 9111 section 4.3.4), and what
    /// was removed stays away.
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

    /// Forgets what is stored for a URL.
    package func invalidate(_ url: String) {
        change { memory in
            _ = memory.removeAll(url)
            memory.removals.remove(url)
        }
        onDisk { $0.remove(url) }
    }

    /// Changes memory; the disk follows by `onDisk` or by a spool.
    private func change(_ body: (inout CacheIndex<Stored>) -> Void) {
        memory.withLock { memory in
            if hasDisk { memory.pendingChanges += 1 }
            body(&memory)
        }
    }

    /// Changes memory, unless the response for a URL was removed after a moment.
    /// - Returns: whether it did.
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

    /// The disk has followed a change.
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

// For tests; `TransactionPolicy` is what uses the cache.
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

    /// Whether a recorder keeps so much.
    package func takes(_ head: CachedHead, _ content: [UInt8]) -> Bool {
        guard let recorder = recorder(head, announced: nil, since: moment) else { return false }
        unsafe content.withUnsafeBytes { unsafe recorder.record($0) }
        return recorder.isWhole
    }
}

extension CachedHead {
    /// Whether it answers a request with such fields (section 4.1).
    func matches(_ request: HTTPFields) -> Bool {
        CacheRules.variant(of: request, names: vary) == variant
    }

    /// Roughly what it takes in memory.
    var byteCount: Int {
        fields.reduce(url.utf8.count + 200) {
            $0 + $1.name.text.utf8.count + $1.value.utf8.count + 80
        }
    }
}
