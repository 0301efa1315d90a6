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
/// Parser, connection, handler and serialiser are those of a server: limits, errors, HEAD, 405,
/// content codings and interim responses are the same as over a network. Each request has a
/// separate connection, whose peer is 127.0.0.1. A request takes some tens of microseconds, and
/// requests may run concurrently. Time limits of connections never fire, because the client is
/// never slow.
public struct TestApplication: Sendable {
    private let core: ServerCore
    private let loop: EventLoop

    /// Creates an application.
    /// - Parameters:
    ///   - handler: the handler of the server: a router, or any other handler.
    ///   - configuration: the configuration of the server; endpoints are ignored.
    public init(
        _ handler: any Handler, configuration: ServerConfiguration = ServerConfiguration()
    ) {
        core = ServerCore(configuration: configuration, handler: handler)
        loop = InMemoryLoops.loop(for: configuration)
    }

    /// Sends a request to the application.
    ///
    /// When the calling task is cancelled, the connection closes and the handler's task is
    /// cancelled, as when a client disconnects.
    /// - Returns: the response with all of its content, as soon as its last byte is sent.
    /// - Throws: `HTTPMessageError` for an invalid request, ``TestApplicationError`` for an
    ///   incomplete or malformed response, and `CancellationError`.
    public func response(to request: TestRequest) async throws -> TestResponse {
        try await response(to: [try request.bytes()], method: request.method)
    }

    /// Sends the bytes of one request to the application, in pieces.
    /// - Parameters:
    ///   - pieces: the bytes; the server reads each piece separately.
    ///   - method: the method of the request.
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
