internal import HTTPParser
public import HTTPServerCore
public import HTTPServerKit
internal import ToolkitSystem

/// A server without a socket, for tests: requests go in, responses come out.
///
/// ```swift
/// let app = TestApplication(router)
/// let response = try await app.response(to: .get("/users/1"))
/// assert(response.status == .ok && response.text == "user 1\n")
/// ```
///
/// Parser, connection, handler and serialiser are those of a server: limits, errors, HEAD, 405, content
/// codings and interim responses are as they are over a network. Each request has its own connection,
/// whose peer is 127.0.0.1. A request takes some tens of microseconds, and requests may run at
/// once. Time limits of connections never fire, because the client is never slow.
public struct TestApplication: Sendable {
    private let core: ServerCore
    private let loop: EventLoop

    /// Creates an application.
    /// - Parameters:
    ///   - handler: what the server would be given: a router, or any other handler.
    ///   - configuration: what the server would be given; where it listens means nothing.
    public init(
        _ handler: any Handler, configuration: ServerConfiguration = ServerConfiguration()
    ) {
        core = ServerCore(configuration: configuration, handler: handler)
        loop = InMemoryLoops.loop(for: configuration)
    }

    /// Has a request answered.
    ///
    /// When the calling task is cancelled the connection closes, and with it the handler's task is
    /// cancelled, as when a client goes away.
    /// - Returns: the response with all of its content, as soon as its last byte is sent.
    /// - Throws: `HTTPMessageError` for a request that must not go on the wire,
    ///   ``TestApplicationError`` when the response is not whole, and `CancellationError`.
    public func response(to request: TestRequest) async throws -> TestResponse {
        try await response(to: [try request.bytes()], method: request.method)
    }

    /// Has the bytes of one request answered, which come in pieces.
    /// - Parameters:
    ///   - pieces: each is read by itself.
    ///   - method: the method that they name.
    func response(to pieces: [[UInt8]], method: HTTPMethod) async throws -> TestResponse {
        let transport = InMemoryExchange(pieces, to: method, loop)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                loop.execute { [core] in transport.begin(core, continuation) }
            }
        } onCancel: {
            loop.execute { transport.cancel() }
        }
    }
}
