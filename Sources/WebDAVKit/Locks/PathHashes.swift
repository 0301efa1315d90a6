/// The hashes of a set of paths. They find the possible ancestors of a path in one pass over its
/// bytes. A look-up for each ancestor would take quadratic time.
struct PathHashes: Sendable {
    /// The number of paths in the set, by hash.
    private var counts: [Int: Int] = [:]

    mutating func insert(_ path: ResourcePath) {
        counts[Self.hash(of: path), default: 0] += 1
    }

    mutating func remove(_ path: ResourcePath) {
        let hash = Self.hash(of: path)
        guard let count = counts[hash] else { return }
        counts[hash] = count > 1 ? count - 1 : nil
    }

    /// The ancestors of a path that may be in the set, the outermost first. Two paths may have the
    /// same hash, so the caller must look up each ancestor.
    func ancestors(of path: ResourcePath) -> [ResourcePath] {
        guard !counts.isEmpty else { return [] }
        var found: [ResourcePath] = []
        path.forEachPrefix { length, hash in
            if length < path.bytes.count, counts[hash] != nil { found.append(path.prefix(length)) }
        }
        return found
    }

    private static func hash(of path: ResourcePath) -> Int {
        var last = 0
        path.forEachPrefix { _, hash in last = hash }
        return last
    }
}
