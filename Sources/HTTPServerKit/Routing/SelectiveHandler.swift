public import HTTPServerCore

/// A handler that decides which requests it answers. Its router asks it about each request that no
/// newer route matches.
public protocol SelectiveHandler: Handler {
    /// Whether this handler answers a request, decided from its head. Must not block.
    func accepts(_ request: Request) -> Bool
}
