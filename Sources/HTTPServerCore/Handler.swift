/// Answers requests. It has one method; everything else is composition.
///
/// It is called as soon as the head of a request is complete, on the event loop of the request's
/// connection, and reads the content only if it wants to. It must not block there: wrap a handler
/// that does into `BlockingHandler`.
public protocol Handler: Sendable {
    /// Answers a request.
    ///
    /// When the client goes away the task is cancelled. A thrown `HTTPError` becomes a response
    /// with its status, a `CodecError` one with the status that it suggests, any other error a 500
    /// whose cause is only logged.
    func respond(to request: Request) async throws -> Response
}

/// A handler that often answers at once, without waiting for anything.
///
/// The server asks `respondNow` first and needs no task for an answer from it.
public protocol ImmediateHandler: Handler {
    /// Answers a request at once, or returns `nil` for `respond(to:)` to do it.
    func respondNow(to request: Request) throws -> Response?
}

/// A handler that decides itself which requests it answers. A router that it was added to asks it
/// whenever no newer route has matched.
public protocol SelectiveHandler: Handler {
    /// Whether this handler answers a request, judged by its head; it must not block.
    func accepts(_ request: Request) -> Bool
}

/// Answers requests by an async closure.
public struct AsyncHandler: Handler {
    private let body: @Sendable (Request) async throws -> Response

    /// Creates a handler.
    public init(_ body: @escaping @Sendable (Request) async throws -> Response) {
        self.body = body
    }

    /// Answers a request.
    public func respond(to request: Request) async throws -> Response {
        try await body(request)
    }
}

/// Answers requests at once by a closure that waits for nothing.
public struct SyncHandler: ImmediateHandler {
    private let body: @Sendable (Request) throws -> Response

    /// Creates a handler.
    public init(_ body: @escaping @Sendable (Request) throws -> Response) {
        self.body = body
    }

    /// Answers a request at once.
    public func respondNow(to request: Request) throws -> Response? {
        try body(request)
    }

    /// Answers a request.
    public func respond(to request: Request) async throws -> Response {
        try body(request)
    }
}

/// Answers requests by a closure that may block, on threads of its own.
public struct BlockingHandler: Handler {
    private let body: @Sendable (Request) throws -> Response
    private let pool: BlockingPool

    /// Creates a handler.
    /// - Parameters:
    ///   - threads: how many calls may run at once; the others wait their turn.
    ///   - body: answers a request; it may block.
    public init(threads: Int = 16, _ body: @escaping @Sendable (Request) throws -> Response) {
        self.body = body
        pool = BlockingPool(threads: threads)
    }

    /// Answers a request.
    public func respond(to request: Request) async throws -> Response {
        let body = body
        return try await pool.run { try body(request) }
    }
}
