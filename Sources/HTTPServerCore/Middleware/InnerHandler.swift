/// The handler that another one stands around.
struct InnerHandler: Sendable {
    let handler: any Handler
    /// `nil` for a handler that never answers at once. A closure is handed on faster than a value
    /// of a type that only running code knows.
    let immediate: (@Sendable (Request) throws -> Response?)?

    init(_ handler: some Handler) {
        self.handler = handler
        if let immediate = handler as? any ImmediateHandler {
            self.immediate = { try immediate.respondNow(to: $0) }
        } else {
            immediate = nil
        }
    }

    /// Its answer or, where it throws, the response that tells that; `nil` when it needs time.
    func answerNow(_ request: Request) -> Response? {
        guard let immediate else { return nil }
        do {
            return try immediate(request)
        } catch {
            return request.response(for: error)
        }
    }

    /// Its answer or, where it throws, the response that tells that.
    func answer(_ request: Request) async -> Response {
        do {
            return try await handler.respond(to: request)
        } catch {
            return request.response(for: error)
        }
    }
}
