/// Gives the errors of another handler a look of their own, for a part of a site.
///
/// For all of a server, errors that no handler sees among them, use
/// `ServerConfiguration.errorRenderer`.
public struct ErrorPageHandler: ImmediateHandler {
    private let inner: InnerHandler
    private let renderer: ErrorRenderer

    /// Creates a handler.
    /// - Parameters:
    ///   - handler: who answers.
    ///   - renderer: what its errors look like.
    public init(_ handler: some Handler, renderer: ErrorRenderer) {
        inner = InnerHandler(handler)
        self.renderer = renderer
    }

    /// Answers at once if the handler does.
    public func respondNow(to request: Request) throws -> Response? {
        inner.answerNow(request).map { renderer.rendered($0, for: request) }
    }

    /// Answers by the handler.
    public func respond(to request: Request) async throws -> Response {
        renderer.rendered(await inner.answer(request), for: request)
    }
}
