/// A handler, and what it may do at once: found out when it is taken, for to ask for a type costs
/// more than to answer.
///
/// It is one reference, that connections and routes keep and hand on.
final class Service: Sendable {
    let handler: any Handler
    let immediate: (any ImmediateHandler)?
    private let handing: (any HandingHandler)?

    init(_ handler: any Handler) {
        self.handler = handler
        immediate = handler as? any ImmediateHandler
        handing = handler as? any HandingHandler
    }

    /// Answers as far as that goes at once, else tells who answers.
    func handle(_ request: Request) throws -> Handling {
        if let handing { return try handing.handle(request) }
        if let response = try immediate?.respondNow(to: request) { return .answered(response) }
        return .handed(self, request)
    }
}

/// What became of a request that was shown to a handler.
enum Handling {
    case answered(Response)
    /// It takes time, or content. This one answers it, and whoever handed it on is out of the way.
    case handed(Service, Request)
}

/// A handler that refuses requests or hands them on to others as they are, whose answers it does
/// not change. It is asked once, and not a second time when the answer takes time.
protocol HandingHandler: ImmediateHandler {
    /// Answers at once, or names who answers.
    func handle(_ request: Request) throws -> Handling
}
