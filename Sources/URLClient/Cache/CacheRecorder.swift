internal import HTTPCodecs
internal import HTTPParser

/// Keeps the content of a response while it is delivered, up to a limit, and stores it when it was
/// whole.
final class CacheRecorder: ContentRecorder {
    private let cache: ClientCache
    private let head: CachedHead
    private let limit: Int
    /// `nil` once it is too long.
    private let content = Locked<[UInt8]?>([])

    init(_ cache: ClientCache, _ head: CachedHead, limit: Int) {
        (self.cache, self.head, self.limit) = (cache, head, limit)
    }

    func record(_ bytes: UnsafeRawBufferPointer) {
        content.withLock { content in
            guard let count = content?.count else { return }
            if bytes.count > limit - count {
                content = nil
            } else {
                unsafe content?.append(contentsOf: bytes)
            }
        }
    }

    func finish(trailers: HTTPFields) {
        guard let content = content.withLock({ $0.take() }) else { return }
        var head = head
        head.trailers = trailers
        cache.store(head, content)
    }

    /// Whether it was not too long so far.
    var isWhole: Bool { content.withLock { $0 != nil } }

    func abandon() { content.withLock { $0 = nil } }
}
