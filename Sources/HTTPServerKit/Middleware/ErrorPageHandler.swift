public import HTTPServerCore

/// Gives the errors of another handler a look of their own: that of a part of a site.
///
/// For all of a server, errors that no handler sees among them, use
/// `ServerConfiguration.errorRenderer`.
public struct ErrorPageHandler: Handler {
    private let inner: any Handler
    private let renderer: ErrorRenderer

    /// Creates a handler.
    /// - Parameters:
    ///   - handler: the inner handler.
    ///   - renderer: what its errors look like.
    public init(_ handler: some Handler, renderer: ErrorRenderer) {
        inner = handler
        self.renderer = renderer
    }

    /// Answers by the handler.
    public func answer(_ request: Request) throws -> Answer {
        try inner.renderedAnswer(to: request).map { [renderer] response in
            renderer.rendered(response, for: request)
        }
    }
}
