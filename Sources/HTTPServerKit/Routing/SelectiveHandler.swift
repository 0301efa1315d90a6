public import HTTPServerCore

/// A handler that decides itself which requests it answers. A router that it was added to asks it
/// whenever no newer route has matched.
public protocol SelectiveHandler: Handler {
    /// Whether this handler answers a request, judged by its head; it must not block.
    func accepts(_ request: Request) -> Bool
}
