/// Stands around another handler: looks at requests before it, and at responses behind it.
///
/// ```swift
/// let handler = InterceptingHandler(router) { request in
///     if request.path.hasPrefix("/old/") { request.rewritePath("/new/" + request.path.dropFirst(5)) }
///     return nil
/// } after: { request, response in
///     response.fields["X-Served-By"] = "left"
/// }
/// ```
///
/// It answers at once if the handler does.
public struct InterceptingHandler: ImmediateHandler {
    /// Looks at a request before the handler sees it, and may change it, for example its target.
    /// A response is the answer, and the handler is not asked; a thrown error is one, too.
    public typealias Before = @Sendable (inout Request) throws -> Response?
    /// Looks at the request, as the handler saw it, and at the response, which it may change.
    /// Errors that the handler throws are responses here.
    public typealias After = @Sendable (Request, inout Response) throws -> Void

    private let inner: InnerHandler
    private let before: Before?
    private let after: After?
    private let passed = PassedRequests()

    /// Creates a handler. Both closures run on the event loop and must not block.
    /// - Parameters:
    ///   - handler: who answers.
    ///   - before: called once for each request, before the handler. It is not called for content.
    ///   - after: called once for each response, before it is sent, also for those of `before`.
    public init(_ handler: some Handler, before: Before? = nil, after: After? = nil) {
        inner = InnerHandler(handler)
        self.before = before
        self.after = after
    }

    /// Answers at once if `before` or the handler does.
    public func respondNow(to request: Request) throws -> Response? {
        guard inner.immediate != nil else { return nil }
        var request = request
        if let before, let response = Self.decide(before, &request) {
            return try finished(response, request)
        }
        guard let response = inner.answerNow(request) else {
            if before != nil { passed.keep(request) }
            return nil
        }
        return try finished(response, request)
    }

    /// Answers by `before` or by the handler.
    public func respond(to request: Request) async throws -> Response {
        var request = request
        if let before, !passed.restore(&request), let response = Self.decide(before, &request) {
            return try finished(response, request)
        }
        return try finished(await inner.answer(request), request)
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

/// Remembers which requests a handler has let through already: one that cannot be answered at once
/// comes again.
final class PassedRequests: Sendable {
    /// What a handler may have changed, without the request itself, which would keep itself alive.
    private struct Changes: Sendable {
        var parameters: PathParameters
        var mountDepth: Int
        var rewritten: RewrittenTarget?
    }

    /// Keeps that a request was let through, and how it was changed.
    func keep(_ request: Request) {
        request[self] = Changes(
            parameters: request.parameters, mountDepth: request.mountDepth,
            rewritten: request.rewritten)
    }

    /// Changes a request as it was changed when it was let through.
    /// - Returns: whether it was.
    func restore(_ request: inout Request) -> Bool {
        guard let changes = request[self] as? Changes else { return false }
        request.parameters = changes.parameters
        request.mountDepth = changes.mountDepth
        request.rewritten = changes.rewritten
        request[self] = nil
        return true
    }
}
