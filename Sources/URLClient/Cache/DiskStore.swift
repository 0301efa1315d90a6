internal import Dispatch
internal import HTTPCrypto
internal import HTTPParser
internal import ToolkitSystem

/// Stored responses in a folder. Each has two files: the content is written first, then the head,
/// which makes the entry valid. All calls block; the cache makes them on a separate queue.
struct DiskStore {
    private struct Place: Sendable {
        var head: String
        var body: String?
        /// The names of the fields on which the response depends.
        var vary: [String]
    }

    private let folder: String
    private let queue: DispatchQueue
    private var index: CacheIndex<Place>
    /// Heads of removed responses whose files could not be removed. Each removal tries them again.
    private var remainingHeads: Set<String> = []

    /// Opens a folder, and creates it if it is missing. Files of interrupted writes are removed.
    /// - Parameters:
    ///   - folder: the path of the folder.
    ///   - byteLimit: the most bytes that are kept in the folder.
    ///   - queue: the queue on which the cache makes all calls.
    init(folder: String, byteLimit: Int64, queue: DispatchQueue) throws(SystemError) {
        (self.folder, self.queue) = (folder, queue)
        index = CacheIndex(byteLimit: byteLimit)
        try Syscalls.createFolders(folder)
        var bodies: [String: (name: String, size: Int64)] = [:]
        var heads: [(name: String, size: Int64, modified: Int64)] = []
        for name in try Syscalls.names(in: folder) {
            guard let status = Syscalls.status(ofPath: "\(folder)/\(name)") else { continue }
            if name.hasSuffix(".head"), Self.key(of: name) != nil {
                heads.append((name, status.size, status.modifiedSeconds))
            } else if name.hasSuffix(".body") {
                bodies[name] = (name, status.size)
            } else if name.hasPrefix(Syscalls.unfinishedPrefix) {
                Syscalls.removeFile("\(folder)/\(name)")
            }
        }
        var knowsBodies = true
        for head in heads.sorted(by: { $0.modified < $1.modified }) {
            guard let key = Self.key(of: head.name) else { continue }
            let entry: CacheEntryFile.Content?
            do throws(SystemError) {
                entry = try Self.entry("\(folder)/\(head.name)")
            } catch {
                // The entry may be valid. It stays in the index so that it can be removed; the name
                // of its content is unknown.
                knowsBodies = false
                let place = Place(head: head.name, body: nil, vary: [])
                remove(index.insert(place, size: head.size, key: key.url, variant: key.variant))
                continue
            }
            guard let content = entry, let body = bodies[content.bodyName],
                body.size == content.bodyLength
            else {
                Syscalls.removeFile("\(folder)/\(head.name)")
                continue
            }
            bodies[body.name] = nil
            let place = Place(head: head.name, body: body.name, vary: content.head.vary)
            remove(
                index.insert(
                    place, size: head.size + body.size, key: key.url, variant: key.variant))
        }
        guard knowsBodies else { return }
        for body in bodies.values { Syscalls.removeFile("\(folder)/\(body.name)") }
    }

    /// The entry whose head is in a file; `nil` if the file is missing or damaged.
    /// - Throws: a temporary error, after which the file may still be valid.
    private static func entry(
        _ path: String
    ) throws(SystemError) -> CacheEntryFile.Content? {
        do throws(SystemError) {
            guard let bytes = try StoreFiles.load(path, upTo: CacheEntryFile.byteLimit) else {
                return nil
            }
            return CacheEntryFile.content(of: bytes)
        } catch {
            if error.isTemporary { throw error }
            return nil
        }
    }

    var byteCount: Int64 { index.byteCount }

    /// The stored response for a request. A damaged entry is removed; one that cannot be read for
    /// now is left unchanged.
    mutating func find(
        _ url: String, _ matches: (CachedHead) -> Bool
    ) -> (head: CachedHead, content: StoredFile)? {
        let key = Self.key(url)
        for place in index.values(of: key) {
            do throws(SystemError) {
                guard let entry = try Self.entry("\(folder)/\(place.head)"), entry.head.url == url
                else {
                    drop(place)
                    continue
                }
                guard matches(entry.head) else { continue }
                guard let content = try content(entry) else {
                    drop(place)
                    continue
                }
                index.touch(key, Self.variant(entry.head.variant))
                Syscalls.touch("\(folder)/\(place.head)")
                return (entry.head, content)
            } catch {
                if !error.isTemporary { drop(place) }
            }
        }
        return nil
    }

    /// The content, if its length and checksum are those that were stored. The whole file is read,
    /// a piece at a time.
    private func content(
        _ entry: CacheEntryFile.Content
    ) throws(SystemError) -> StoredFile? {
        let (file, size) = try StoreFiles.open("\(folder)/\(entry.bodyName)")
        guard size == entry.bodyLength else { return nil }
        var checksum = CacheChecksum()
        var offset: Int64 = 0
        while offset < size {
            let limit = Int(min(Int64(StoredFile.pieceSize), size - offset))
            let piece = try file.content(at: offset, count: limit)
            guard !piece.isEmpty else { return nil }
            checksum.add(piece)
            offset += Int64(piece.count)
        }
        guard checksum.value == entry.bodyChecksum else { return nil }
        return StoredFile(file, count: size, queue: queue)
    }

    /// Creates a file for new content.
    func newBody() throws(SystemError) -> (name: String, file: OpenFile) {
        let name = "\(Hex.text(of: Crypto.random(12))).body"
        return (name, OpenFile(owning: try Syscalls.createFile("\(folder)/\(name)")))
    }

    func removeBody(_ name: String) { Syscalls.removeFile("\(folder)/\(name)") }

    /// Removes the content of a response that cannot be stored, and the older responses for its
    /// URL: they would answer although the server has sent a newer one.
    mutating func giveUp(_ head: CachedHead, body: String?) {
        if let body { removeBody(body) }
        remove(head.url)
    }

    /// Stores a response whose content is in the file `body`, and replaces the older one.
    mutating func store(
        _ head: CachedHead, body: String, length: Int64, checksum: UInt64
    ) {
        let entry = CacheEntryFile.Content(
            head: head, bodyName: body, bodyLength: length, bodyChecksum: checksum)
        let key = Self.key(head.url)
        let variant = Self.variant(head.variant)
        let name = "\(key)-\(variant).head"
        guard let bytes = try? CacheEntryFile.bytes(of: entry),
            (try? write(bytes, as: name)) != nil
        else { return giveUp(head, body: body) }
        remainingHeads.remove(name)
        // An older response that depends on other fields could answer instead (RFC 9111 section
        // 4.1).
        for old in index.values(of: key) where old.head != name && old.vary != head.vary {
            drop(old)
        }
        let place = Place(head: name, body: body, vary: head.vary)
        let gone = index.insert(
            place, size: length + Int64(bytes.count), key: key, variant: variant)
        // The head of the replaced response has the same name.
        for old in gone where old.head == name {
            if let body = old.body, body != place.body { removeBody(body) }
        }
        remove(gone.filter { $0.head != name || $0.body == place.body })
    }

    /// Replaces a head after a 304, if the entry is still the validated one.
    mutating func freshen(_ validated: CachedHead, _ head: CachedHead) {
        let key = Self.key(head.url)
        let name = "\(key)-\(Self.variant(head.variant)).head"
        // The file of a removed response may still be there.
        guard index.values(of: key).contains(where: { $0.head == name }),
            var entry = try? Self.entry("\(folder)/\(name)"),
            entry.head.isSameResponse(as: validated)
        else { return }
        entry.head = head
        guard let bytes = try? CacheEntryFile.bytes(of: entry) else { return }
        try? write(bytes, as: name)
    }

    /// Writes the head of an entry. A power failure may lose it, as it may lose the content.
    private func write(_ bytes: [UInt8], as name: String) throws(SystemError) {
        try Syscalls.storeFile("\(folder)/\(name)", bytes, flushesDisk: false)
    }

    mutating func remove(_ url: String) { remove(index.removeAll(Self.key(url))) }

    mutating func removeAll() { remove(index.removeAll()) }

    private mutating func drop(_ place: Place) {
        guard let key = Self.key(of: place.head) else { return }
        _ = index.remove(key.url, key.variant)
        remove([place])
    }

    /// Removes the files of responses. A head that cannot be removed is emptied, so that the next
    /// process does not find its response. The content is not emptied: a task may be reading it.
    private mutating func remove(_ places: [Place]) {
        remainingHeads.formUnion(places.map(\.head))
        remainingHeads = remainingHeads.filter { !Syscalls.discardFile("\(folder)/\($0)") }
        for place in places {
            if let body = place.body { removeBody(body) }
        }
    }

    // MARK: names

    private static func key(_ url: String) -> String {
        String(Hex.text(of: Crypto.sha256(Array(url.utf8))).prefix(40))
    }

    private static func variant(_ hash: String) -> String { hash.isEmpty ? "0" : hash }

    private static func key(of name: String) -> (url: String, variant: String)? {
        let parts = name.dropLast(5).split(separator: "-")
        guard parts.count == 2 else { return nil }
        return (String(parts[0]), String(parts[1]))
    }
}
