internal import ToolkitSystem

/// A cache of parsed request bodies. Each client program sends the same few bodies again and again,
/// so each is parsed once.
final class ParsedBodyCache<Meaning: Sendable>: Sendable {
    /// The longest content in the cache, in bytes.
    private static var byteLimit: Int { 2 << 10 }
    private static var countLimit: Int { 32 }

    /// The bytes of a body as a key, which are hashed in one call.
    private struct Content: Hashable, Sendable {
        let bytes: [UInt8]

        func hash(into hasher: inout Hasher) {
            unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        }
    }

    private let known = Locked<[Content: Meaning]>([:])

    /// The parsed content: from the cache, or parsed by `read`.
    func meaning(
        of content: [UInt8], _ read: ([UInt8]) throws -> Meaning
    ) throws -> Meaning {
        if let meaning = known.withLock({ $0[Content(bytes: content)] }) { return meaning }
        let meaning = try read(content)
        guard content.count <= Self.byteLimit else { return meaning }
        known.withLock { known in
            // A client that never repeats a body must not make the cache grow.
            if known.count >= Self.countLimit { known.removeAll(keepingCapacity: true) }
            known[Content(bytes: content)] = meaning
        }
        return meaning
    }
}
