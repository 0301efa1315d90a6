internal import HTTPCodecs
internal import ToolkitSystem

/// Which values of Content-Type stand for content that gets shorter, each looked into once.
final class CompressibleTypes: Sendable {
    private let known = Locked<[String: Bool]>([:])
    private let judge: @Sendable (MediaType) -> Bool
    /// Programs use a few; one that makes them up must not fill the memory.
    private static let knownLimit = 256

    init(_ judge: @escaping @Sendable (MediaType) -> Bool) {
        self.judge = judge
    }

    func contains(_ contentType: String) -> Bool {
        if let known = known.withLock({ $0[contentType] }) { return known }
        let result = MediaType(contentType).map(judge) ?? false
        known.withLock { known in
            if known.count >= Self.knownLimit { known = [:] }
            known[contentType] = result
        }
        return result
    }
}
