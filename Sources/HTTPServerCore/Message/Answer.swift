/// The answer of a handler: a response, or the way to one.
///
/// ```swift
/// struct Greeting: Handler {
///     func answer(_ request: Request) -> Answer { .now(.text("Hello\n")) }
/// }
///
/// /// Middleware answers by the handler inside, and may refuse the request or change the response.
/// struct Stamp<Inner: Handler>: Handler {
///     let inner: Inner
///     func answer(_ request: Request) throws -> Answer {
///         try inner.answer(request).changing { $0.fields["X-Stamp"] = "1" }
///     }
/// }
/// ```
public enum Answer: Sendable {
    /// A response that is ready. It costs no task.
    case now(Response)
    /// A response that takes time. The closure runs in a task on the connection's event loop, and
    /// may read the content. The task is cancelled when the client disconnects.
    case later(@Sendable () async throws -> Response)
    /// As `later` with a closure that gets the request. A handler can store the closure, which
    /// saves creating one for each request.
    case laterFor(Request, @Sendable (Request) async throws -> Response)
    /// An answer that is made once all content has arrived; see ``withContent(limit:_:)``.
    /// If the content is incomplete, the closure gets the error, so that middleware sees the error
    /// response.
    case whenCollected(limit: Int, @Sendable (Result<[UInt8], any Error>) throws -> Answer)

    /// An answer that is made once all content has arrived, without a task unless it is decoded.
    /// - Parameters:
    ///   - limit: the most bytes of content, after decoding. Longer content is answered with 413,
    ///     before it is read if its length is announced.
    ///   - body: makes the answer. It is called on the event loop when the content is complete, and
    ///     must not block. It gets no content when the request has none, or when the content was
    ///     read before.
    public static func withContent(
        limit: Int, _ body: @escaping @Sendable ([UInt8]) throws -> Answer
    ) -> Answer {
        .whenCollected(limit: limit) { try body(try $0.get()) }
    }

    /// This answer with the response that `change` returns for the original one, now or later.
    ///
    /// `change` is not called for errors that the handler throws.
    public func map(
        _ change: @escaping @Sendable (Response) throws -> Response
    ) throws -> Answer {
        switch self {
        case .now(let response): .now(try change(response))
        case .later(let work): .later { try change(try await work()) }
        case .laterFor(let request, let work):
            .later { try change(try await work(request)) }
        case .whenCollected(let limit, let body):
            .whenCollected(limit: limit) { try body($0).map(change) }
        }
    }

    /// This answer with its response changed, now or later.
    ///
    /// `change` is not called for errors that the handler throws.
    public func changing(
        _ change: @escaping @Sendable (inout Response) throws -> Void
    ) throws -> Answer {
        try map { response in
            var response = response
            try change(&response)
            return response
        }
    }

    /// This answer, with thrown errors as responses.
    func rendering(errorsFor request: Request) -> Answer {
        switch self {
        case .now: self
        case .later(let work):
            .later {
                do { return try await work() } catch { return request.response(for: error) }
            }
        case .laterFor(let routed, let work):
            .later {
                do { return try await work(routed) } catch { return request.response(for: error) }
            }
        case .whenCollected(let limit, let body):
            .whenCollected(limit: limit) { content in
                do {
                    return try body(content).rendering(errorsFor: request)
                } catch {
                    return .now(request.response(for: error))
                }
            }
        }
    }

    /// Waits for the response.
    /// - Parameter request: the request that is answered; its content is read if it is needed.
    public func response(to request: Request) async throws -> Response {
        switch self {
        case .now(let response): return response
        case .later(let work): return try await work()
        case .laterFor(let request, let work): return try await work(request)
        case .whenCollected(let limit, let body):
            let content: Result<[UInt8], any Error>
            do {
                content = .success(try await request.body.collect(upTo: limit))
            } catch {
                content = .failure(error)
            }
            return try await body(content).response(to: request)
        }
    }
}

extension Handler {
    /// The handler's answer, with thrown errors as responses.
    package func renderedAnswer(to request: Request) -> Answer {
        do {
            return try answer(request).rendering(errorsFor: request)
        } catch {
            return .now(request.response(for: error))
        }
    }
}
