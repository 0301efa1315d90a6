/// The hashes of a set of paths. They tell which paths of the set may be around another path, in one
/// pass over its bytes: to look up each collection around it would cost the square of its length.
struct PathHashes: Sendable {
    /// How many paths of the set have a hash.
    private var counts: [Int: Int] = [:]

    mutating func insert(_ path: ResourcePath) {
        counts[Self.hash(of: path), default: 0] += 1
    }

    mutating func remove(_ path: ResourcePath) {
        let hash = Self.hash(of: path)
        guard let count = counts[hash] else { return }
        counts[hash] = count > 1 ? count - 1 : nil
    }

    /// The paths around another one that may be in the set, the outermost first. Two paths may have
    /// the same hash, so the caller looks up each.
    func around(_ path: ResourcePath) -> [ResourcePath] {
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
