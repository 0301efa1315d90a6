/// The stored entries by size and time of last use, to find which ones to remove at the limit.
struct CacheIndex<Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        var value: Value
        var size: Int64
        var lastUse: UInt64
    }

    private var entries: [String: [String: Entry]] = [:]
    private var clock: UInt64 = 0
    private let byteLimit: Int64
    /// The most variants of one URL. The least recently used one is removed.
    private static var variantLimit: Int { 8 }
    private(set) var byteCount: Int64 = 0
    private(set) var count = 0
    /// How many changes were not yet made on the disk.
    var pendingChanges = 0
    var removals = CacheRemovals()

    init(byteLimit: Int64) {
        self.byteLimit = byteLimit
    }

    /// The values of one URL.
    func values(of key: String) -> [Value] { entries[key]?.values.map(\.value) ?? [] }

    mutating func touch(_ key: String, _ variant: String) {
        clock += 1
        entries[key]?[variant]?.lastUse = clock
    }

    /// Inserts a value, and replaces the one of the same key and variant.
    /// - Returns: the values that were removed, including the replaced one.
    mutating func insert(_ value: Value, size: Int64, key: String, variant: String) -> [Value] {
        var gone = remove(key, variant).map { [$0] } ?? []
        clock += 1
        entries[key, default: [:]][variant] = Entry(value: value, size: size, lastUse: clock)
        byteCount += size
        count += 1
        if let variants = entries[key], variants.count > Self.variantLimit,
            let oldest = variants.min(by: { $0.value.lastUse < $1.value.lastUse })?.key
        {
            if let value = remove(key, oldest) { gone.append(value) }
        }
        return gone + shrink()
    }

    mutating func remove(_ key: String, _ variant: String) -> Value? {
        guard let entry = entries[key]?.removeValue(forKey: variant) else { return nil }
        if entries[key]?.isEmpty == true { entries[key] = nil }
        byteCount -= entry.size
        count -= 1
        return entry.value
    }

    mutating func removeAll(_ key: String) -> [Value] {
        guard let variants = entries.removeValue(forKey: key) else { return [] }
        byteCount -= variants.values.reduce(0) { $0 + $1.size }
        count -= variants.count
        return variants.values.map(\.value)
    }

    mutating func removeAll() -> [Value] {
        let all = entries.values.flatMap { $0.values.map(\.value) }
        (entries, byteCount, count) = ([:], 0, 0)
        return all
    }

    /// Removes the least recently used entries if the limit is exceeded: a tenth more than
    /// necessary, so that removals are rare.
    private mutating func shrink() -> [Value] {
        guard byteCount > byteLimit else { return [] }
        var gone: [Value] = []
        let all = entries.flatMap { key, variants in
            variants.map { (key: key, variant: $0.key, lastUse: $0.value.lastUse) }
        }.sorted { $0.lastUse < $1.lastUse }
        for entry in all {
            guard byteCount > byteLimit / 10 * 9, count > 1 || byteCount > byteLimit else { break }
            if let value = remove(entry.key, entry.variant) { gone.append(value) }
        }
        return gone
    }
}

/// Counts removals. A response that was requested before its URL was removed is outdated, and is
/// not stored.
struct CacheRemovals: Sendable {
    /// The number of removals so far.
    private(set) var moment: UInt64 = 0
    /// The number of the last removal of everything. Also set when `byURL` is full and is cleared.
    private var all: UInt64 = 0
    private var byURL: [String: UInt64] = [:]
    private static let limit = 1_000

    mutating func remove(_ url: String) {
        if byURL.count >= Self.limit, byURL[url] == nil { removeAll() }
        moment += 1
        byURL[url] = moment
    }

    mutating func removeAll() {
        moment += 1
        (all, byURL) = (moment, [:])
    }

    /// Whether a URL may have been removed after a moment.
    func include(_ url: String, since moment: UInt64) -> Bool {
        max(all, byURL[url] ?? 0) > moment
    }
}
