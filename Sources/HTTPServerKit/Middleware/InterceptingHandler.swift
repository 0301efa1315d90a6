public import HTTPServerCore

/// Runs closures before and after another handler: one gets its requests, one its responses.
///
/// ```swift
/// let handler = InterceptingHandler(router) { request in
///     if request.path.hasPrefix("/old/") { request.rewritePath("/new/" + request.path.dropFirst(5)) }
///     return nil
/// } after: { request, response in
///     response.fields["X-Served-By"] = "left"
/// }
/// ```
public struct InterceptingHandler: Handler {
    /// Gets a request before the handler does, and may change it, for example its target. If it
    /// returns a response, that is the answer, and the handler is not called. If it throws, the
    /// answer is the response to the error.
    public typealias Before = @Sendable (inout Request) throws -> Response?
    /// Gets the request, as the handler got it, and the response, which it may change. Errors that
    /// the handler throws are already responses.
    public typealias After = @Sendable (Request, inout Response) throws -> Void

    private let inner: any Handler
    private let before: Before?
    private let after: After?

    /// Creates a handler. Both closures run on the event loop and must not block.
    /// - Parameters:
    ///   - handler: the inner handler.
    ///   - before: called once for each request, before the handler and before content is read.
    ///   - after: called once for each response, before it is sent, also for responses of `before`.
    public init(_ handler: some Handler, before: Before? = nil, after: After? = nil) {
        inner = handler
        self.before = before
        self.after = after
    }

    /// Answers with the response of `before` or of the inner handler, changed by `after`.
    public func answer(_ request: Request) throws -> Answer {
        var request = request
        if let before, let response = Self.decide(before, &request) {
            return .now(try finished(response, request))
        }
        guard after != nil else { return inner.renderedAnswer(to: request) }
        return try inner.renderedAnswer(to: request).map { [request] response in
            try finished(response, request)
        }
    }

    private static func decide(_ before: Before, _ request: inout Request) -> Response? {
        do {
            return try before(&request)
        } catch {
            return request.response(for: error)
        }
    }

    private func finished(_ response: Response, _ request: Request) throws -> Response {
        guard let after else { return response }
        var response = response
        try after(request, &response)
        return response
    }
}
