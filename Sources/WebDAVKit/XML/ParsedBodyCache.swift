internal import ToolkitSystem

/// A cache of parsed request bodies. A client repeats the same few bodies, and so do all users of
/// one client, so each is parsed once.
final class ParsedBodyCache<Meaning: Sendable>: Sendable {
    private static var byteLimit: Int { 2 << 10 }
    private static var countLimit: Int { 32 }

    /// The longest content in the cache, which is hashed as a whole.
    private struct Content: Hashable, Sendable {
        let bytes: [UInt8]

        func hash(into hasher: inout Hasher) {
            unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        }
    }

    private let known = Locked<[Content: Meaning]>([:])

    /// The parsed content, by `read` unless it is cached.
    func meaning(
        of content: [UInt8], _ read: ([UInt8]) throws -> Meaning
    ) throws -> Meaning {
        if let meaning = known.withLock({ $0[Content(bytes: content)] }) { return meaning }
        let meaning = try read(content)
        guard content.count <= Self.byteLimit else { return meaning }
        known.withLock { known in
            // A client that never repeats a body does not make it grow.
            if known.count >= Self.countLimit { known.removeAll(keepingCapacity: true) }
            known[Content(bytes: content)] = meaning
        }
        return meaning
    }
}
