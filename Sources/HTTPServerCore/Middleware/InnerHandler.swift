/// The handler that another one stands around.
struct InnerHandler: Sendable {
    let handler: any Handler
    let immediate: (any ImmediateHandler)?

    init(_ handler: some Handler) {
        self.handler = handler
        immediate = handler as? any ImmediateHandler
    }

    /// Its answer or, where it throws, the response that tells that; `nil` when it needs time.
    func answerNow(_ request: Request) -> Response? {
        guard let immediate else { return nil }
        do {
            return try immediate.respondNow(to: request)
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
