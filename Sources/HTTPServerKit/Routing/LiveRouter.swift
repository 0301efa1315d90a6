public import HTTPServerCore
internal import ToolkitSystem

/// A router whose routes may change while a server uses it.
///
/// Each request sees one state of the routes: a change applies to requests that arrive after it.
/// Adding many routes in one `update` copies the table once.
///
/// ```swift
/// let routes = LiveRouter()
/// let server = HTTPServer(handler: routes)
/// try await server.start()
/// routes.update { $0.on(.get, "/new") { _ in .text("new\n") } }
/// ```
public final class LiveRouter: Handler {
    /// Wraps a router, so that a request retains one reference instead of ten.
    private final class Snapshot: Sendable {
        let router: Router
        init(_ router: Router) { self.router = router }
    }

    private let current: Locked<Snapshot>

    /// Creates a router with the routes of another one.
    public init(_ router: Router = Router()) {
        current = Locked(Snapshot(router))
    }

    /// A copy of the current routes.
    public var router: Router { current.withLock { $0 }.router }

    /// Changes the routes atomically.
    ///
    /// - Parameter change: gets the current routes and changes them. It is called again if another
    ///   thread has changed the routes meanwhile, so it should have no other effects. If it throws,
    ///   the error is rethrown and nothing changes.
    public func update<Failure>(
        _ change: (inout Router) throws(Failure) -> Void
    ) throws(Failure) {
        while true {
            let before = current.withLock { $0 }
            var router = before.router
            try change(&router)
            let after = Snapshot(router)
            let isDone = current.withLock { current in
                guard current === before else { return false }
                current = after
                return true
            }
            if isDone { return }
        }
    }

    /// Passes the request to the handler of its route.
    public func answer(_ request: Request) throws -> Answer {
        let snapshot = current.withLock { $0 }
        return try snapshot.router.answer(request)
    }
}
