internal import HTTPCodecs
internal import ToolkitSystem

/// Decides which values of Content-Type are compressible, and caches the decisions.
final class CompressibleTypes: Sendable {
    private struct Known {
        /// The type found last: most answers have the type of the answer before.
        var last: (type: String, isCompressible: Bool)?
        var all: [String: Bool] = [:]
    }

    private let known = Locked(Known())
    private let judge: @Sendable (MediaType) -> Bool
    /// Most programs use a few types. A program that generates types must not fill the memory.
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
