internal import HTTPCodecs
package import HTTPParser
internal import ToolkitSystem

/// Remembers the hosts that require https, and changes http requests to them into https (RFC 6797).
/// A session uses the store in ``ClientConfiguration/strictTransport``.
///
/// A store can be used from any thread, and by several sessions.
public final class StrictTransportStore: Sendable {
    private struct State {
        var hosts: StrictTransport
        var isChanged = false
    }

    private struct Row: Codable {
        var host: String
        var expiry: Int64
        var includesSubdomains: Bool
    }

    private struct File: Codable {
        var version = 1
        var hosts: [Row]
    }

    /// The longest file that is read, in bytes: enough for all hosts that ``save()`` writes.
    private static func byteLimit(_ hosts: Int) -> Int {
        // A name has at most 253 characters (RFC 1035 section 2.3.4).
        max(8 << 20, hosts < 1 << 24 ? hosts * 400 : .max)
    }

    private let path: String?
    /// Why the file must not be overwritten.
    private let refusal: StoreFiles.Refusal?
    private let state: Locked<State>
    /// Held while the file is written: an older state must not replace a newer one.
    private let saving = Locked(false)

    /// Why the file was not used; it is then left as it is. `nil` if the file was read or is
    /// missing, and for a store without a file.
    public var loadError: ClientError? {
        refusal.map { ClientError(.cannotOpenFile, "hosts: \($0)") }
    }

    /// Creates a store that is kept in memory only.
    /// - Parameter limit: the most hosts that are remembered.
    public init(limit: Int = 10_000) {
        (path, refusal) = (nil, nil)
        state = Locked(State(hosts: StrictTransport(limit: limit)))
    }

    /// Creates a store with the hosts of a file, which is written by ``save()`` and when the store
    /// is released. A missing file, or one with other content, counts as empty. A file that cannot
    /// be read, or that a newer version has written, is neither used nor overwritten: the store
    /// starts empty, ``loadError`` gives the reason, and ``save()`` throws once a host has changed.
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - limit: the most hosts that are remembered.
    public init(file path: String, limit: Int = 10_000) {
        var hosts = StrictTransport(limit: limit)
        let now = WallClock.now
        var refusal: StoreFiles.Refusal?
        do throws(StoreFiles.Refusal) {
            for row in try Self.load(path, upTo: Self.byteLimit(limit)) {
                let rule = StrictTransport.Rule(
                    expiry: HTTPDate(secondsSinceEpoch: row.expiry),
                    includesSubdomains: row.includesSubdomains)
                hosts.set(row.host, rule, now: now)
            }
        } catch {
            refusal = error
        }
        self.refusal = refusal
        self.path = path
        state = Locked(State(hosts: hosts))
    }

    /// The hosts of a file; none if the file is missing or has other content.
    private static func load(
        _ path: String, upTo byteLimit: Int
    ) throws(StoreFiles.Refusal) -> [Row] {
        let content: [UInt8]?
        do throws(SystemError) {
            content = try StoreFiles.load(path, upTo: byteLimit)
        } catch {
            throw .unreadable(error)
        }
        guard let bytes = content else { return [] }
        var json = JSONBody()
        json.byteLimit = byteLimit
        guard let file = try? json.decode(File.self, from: bytes), file.version == 1 else {
            try StoreFiles.refuseNewer(bytes, than: 1, json)
            return []
        }
        return file.hosts
    }

    deinit { try? save() }

    /// Whether requests to the host use https only.
    /// - Parameter host: a name, in any case.
    public func isKnown(_ host: String) -> Bool {
        state.withLock { $0.hosts.isKnown(host, now: WallClock.now) }
    }

    /// Forgets all hosts.
    public func removeAll() {
        state.withLock { state in
            state.hosts.removeAll()
            state.isChanged = true
        }
    }

    /// Writes the file, whole or not at all, if the store has one and something has changed. Only
    /// the owner of the file may read it.
    /// - Throws: ``ClientError/Kind/cannotWriteFile``.
    public func save() throws(ClientError) {
        guard let path else { return }
        try saving.withLock { _ in write(to: path) }.get()
    }

    private func write(to path: String) -> Result<Void, ClientError> {
        let rules = state.withLock { state -> [String: StrictTransport.Rule]? in
            guard state.isChanged else { return nil }
            state.isChanged = false
            return state.hosts.rules
        }
        guard let rules else { return .success(()) }
        let rows = rules.map { host, rule in
            Row(
                host: host, expiry: rule.expiry.secondsSinceEpoch,
                includesSubdomains: rule.includesSubdomains)
        }
        do {
            if let refusal { throw refusal }
            let file = File(hosts: rows.sorted { $0.host < $1.host })
            try Syscalls.storeFile(path, JSONBody().encode(file))
            return .success(())
        } catch {
            state.withLock { $0.isChanged = true }
            return .failure(ClientError(.cannotWriteFile, "hosts: \(error)"))
        }
    }

    // MARK: Within a transaction

    package func upgraded(_ url: String, now: HTTPDate) -> String? {
        state.withLock { $0.hosts.upgraded(url, now: now) }
    }

    package func receive(_ fields: HTTPFields, from origin: Origin, now: HTTPDate) {
        state.withLock { state in
            if state.hosts.receive(fields, from: origin, now: now) { state.isChanged = true }
        }
    }
}
