/// Answers requests. It has one method; everything else is composition.
public protocol Handler: Sendable {
    /// Answers a request, immediately or later.
    ///
    /// The server calls it once for each request, on the event loop of the request's connection, as
    /// soon as the head is complete. It must not block: return ``Answer/later(_:)``, or wrap a
    /// handler that blocks into `BlockingHandler`.
    /// - Throws: an `HTTPError` or `HTTPErrorConvertible` becomes a response. Cancellation and most
    ///   errors of the content have a status, too; any other error is 500 and its cause is logged.
    func answer(_ request: Request) throws -> Answer
}

extension Handler {
    /// Waits for the response to a request.
    ///
    /// For async handlers that wrap another handler.
    public func respond(to request: Request) async throws -> Response {
        try await answer(request).response(to: request)
    }
}

/// A handler that can decide by the head of a request whether it would accept the content.
///
/// `ResumableUploadHandler` calls `precheck` when an upload begins, so that a client does not send
/// content that is refused at its end. Other handlers only get the request with all its content.
public protocol PrecheckingHandler: Handler {
    /// Checks a request by its head. It must change and report nothing: the complete request may
    /// never come, or may be refused later.
    ///
    /// Reading the content throws `RequestBodyError.connectionLost`.
    /// - Returns: the response that would refuse the request; `nil` if it would be accepted.
    /// - Throws: the error that `answer(_:)` would throw to refuse the request.
    func precheck(_ request: Request) async throws -> Response?
}

/// Answers requests by an async closure.
public struct AsyncHandler: Handler {
    private let body: @Sendable (Request) async throws -> Response

    /// Creates a handler.
    /// - Parameter body: answers a request. Its task is cancelled when the client disconnects.
    public init(_ body: @escaping @Sendable (Request) async throws -> Response) {
        self.body = body
    }

    /// Answers a request later.
    public func answer(_ request: Request) -> Answer {
        .laterFor(request, body)
    }
}

/// Answers requests immediately by a closure that never waits.
public struct SyncHandler: Handler {
    private let body: @Sendable (Request) throws -> Response

    /// Creates a handler.
    /// - Parameter body: answers a request on the event loop; it must not block.
    public init(_ body: @escaping @Sendable (Request) throws -> Response) {
        self.body = body
    }

    /// Answers a request immediately.
    public func answer(_ request: Request) throws -> Answer {
        .now(try body(request))
    }
}
