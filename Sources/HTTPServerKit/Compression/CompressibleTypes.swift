internal import HTTPCodecs
internal import ToolkitSystem

/// Which values of Content-Type stand for content that gets shorter, each looked into once.
final class CompressibleTypes: Sendable {
    private struct Known {
        /// The type that was asked for last: most answers have the one of the answer before.
        var last: (type: String, isCompressible: Bool)?
        var all: [String: Bool] = [:]
    }

    private let known = Locked(Known())
    private let judge: @Sendable (MediaType) -> Bool
    /// Programs use a few; one that makes them up must not fill the memory.
    private static let knownLimit = 256

    init(_ judge: @escaping @Sendable (MediaType) -> Bool) {
        self.judge = judge
    }

    func contains(_ contentType: String) -> Bool {
        let found = known.withLock { known -> Bool? in
            if let last = known.last, last.type == contentType { return last.isCompressible }
            guard let result = known.all[contentType] else { return nil }
            known.last = (contentType, result)
            return result
        }
        if let found { return found }
        let result = MediaType(contentType).map(judge) ?? false
        known.withLock { known in
            if known.all.count >= Self.knownLimit { known.all = [:] }
            known.all[contentType] = result
        }
        return result
    }
}
