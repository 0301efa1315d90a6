public import HTTPServerCore

/// Renders the errors of another handler, in a form that applies to a part of a site.
///
/// For a whole server, including errors that no handler sees, use
/// `ServerConfiguration.errorRenderer`.
public struct ErrorPageHandler: Handler {
    private let inner: any Handler
    private let renderer: ErrorRenderer

    /// Creates a handler.
    /// - Parameters:
    ///   - handler: the inner handler.
    ///   - renderer: the form of its errors.
    public init(_ handler: some Handler, renderer: ErrorRenderer) {
        inner = handler
        self.renderer = renderer
    }

    /// Answers with the inner handler's response; errors are rendered.
    public func answer(_ request: Request) throws -> Answer {
        try inner.renderedAnswer(to: request).map { [renderer] response in
            renderer.rendered(response, for: request)
        }
    }
}
