/// Answers requests. It has one method; everything else is composition.
public protocol Handler: Sendable {
    /// Answers a request, at once or later.
    ///
    /// It is called once for each request, on the event loop of the request's connection, as soon as
    /// the head is complete. It must not block there: return ``Answer/later(_:)``, or wrap a
    /// handler that blocks into `BlockingHandler`.
    /// - Throws: an `HTTPError` becomes a response with its status, an `HTTPErrorConvertible` one as
    ///   it says, any other error a 500 whose cause is only logged.
    func answer(_ request: Request) throws -> Answer
}

extension Handler {
    /// Waits for the response to a request.
    ///
    /// An async handler that stands around another one calls it.
    public func respond(to request: Request) async throws -> Response {
        try await answer(request).response(to: request)
    }
}

/// A handler that can decide by the head of a request whether it would accept the content.
///
/// `ResumableUploadHandler` asks when an upload begins, so that no client sends in vain what is
/// refused then. Other handlers get the request once, when all of the content is there.
public protocol PrecheckingHandler: Handler {
    /// Judges a request by its head. It changes nothing and reports nothing: the request may never
    /// come, and may be refused when it does.
    ///
    /// Reading the content throws `RequestBodyError.connectionLost`.
    /// - Returns: the answer with which the request would be refused; `nil` if it would be taken.
    /// - Throws: what `answer(_:)` would throw to refuse it.
    func precheck(_ request: Request) async throws -> Response?
}

/// Answers requests by an async closure.
public struct AsyncHandler: Handler {
    private let body: @Sendable (Request) async throws -> Response

    /// Creates a handler.
    /// - Parameter body: answers a request. Its task is cancelled when the client goes away.
    public init(_ body: @escaping @Sendable (Request) async throws -> Response) {
        self.body = body
    }

    /// Answers a request later.
    public func answer(_ request: Request) -> Answer {
        .laterFor(request, body)
    }
}

/// Answers requests at once by a closure that never waits.
public struct SyncHandler: Handler {
    private let body: @Sendable (Request) throws -> Response

    /// Creates a handler.
    /// - Parameter body: answers a request on the event loop; it must not block.
    public init(_ body: @escaping @Sendable (Request) throws -> Response) {
        self.body = body
    }

    /// Answers a request at once.
    public func answer(_ request: Request) throws -> Answer {
        .now(try body(request))
    }
}
