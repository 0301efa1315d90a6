public import HTTPParser
public import HTTPServerCore
internal import ToolkitSystem

/// Limits the time that another handler takes to answer.
///
/// When the time is over, the handler's task is cancelled and the client gets 503, even if the task
/// ignores the cancellation. Use 504 for a handler that waits for another server (RFC 9110 sections
/// 15.6.4 and 15.6.5). The limit does not apply to sending the response: streams are not cut.
public struct TimeoutHandler: Handler {
    private let handler: any Handler
    private let limit: Duration
    private let status: HTTPStatus

    /// Creates a handler.
    /// - Parameters:
    ///   - handler: the inner handler.
    ///   - limit: the time for an answer, which includes reading the request's content.
    ///   - status: the status that the client gets on a timeout.
    public init(
        _ handler: some Handler, after limit: Duration, status: HTTPStatus = .serviceUnavailable
    ) {
        self.handler = handler
        self.limit = limit
        self.status = status
    }

    /// Answers with the inner handler's response, or with the error if the response takes too long.
    public func answer(_ request: Request) throws -> Answer {
        let answer = try handler.answer(request)
        if case .now = answer { return answer }
        return .later { try await inTime(answer, to: request) }
    }

    private func inTime(_ answer: Answer, to request: Request) async throws -> Response {
        let race = TimeoutRace()
        let (limit, status) = (limit, status)
        let work = Task(executorPreference: request.connection.loop) {
            do {
                race.end(.success(try await answer.response(to: request)))
            } catch {
                race.end(.failure(error))
            }
        }
        let alarm = Task {
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            if race.end(.failure(HTTPError(status, "the answer took too long"))) { work.cancel() }
        }
        defer { alarm.cancel() }
        return try await withTaskCancellationHandler {
            try await race.result()
        } onCancel: {
            work.cancel()
        }
    }
}

/// Keeps the first result and ignores later ones.
private final class TimeoutRace: Sendable {
    private struct State: Sendable {
        var result: Result<Response, any Error>?
        var waiter: CheckedContinuation<Response, any Error>?
    }

    private let state = Locked(State())

    /// - Returns: whether this is the first result.
    @discardableResult
    func end(_ result: Result<Response, any Error>) -> Bool {
        let (isFirst, waiter) = state.withLock { state in
            guard state.result == nil else {
                return (false, nil as CheckedContinuation<Response, any Error>?)
            }
            state.result = result
            defer { state.waiter = nil }
            return (true, state.waiter)
        }
        waiter?.resume(with: result)
        return isFirst
    }

    func result() async throws -> Response {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state in
                if state.result == nil { state.waiter = continuation }
                return state.result
            }
            if let result { continuation.resume(with: result) }
        }
    }
}
