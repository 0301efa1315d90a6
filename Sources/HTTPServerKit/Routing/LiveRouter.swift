public import HTTPServerCore
internal import ToolkitSystem

/// A router whose routes may change while a server uses it.
///
/// Each request is answered by the routes of one moment: a change is seen by the requests that
/// begin after it. Adding many routes in one `update` copies the table once.
///
/// ```swift
/// let routes = LiveRouter()
/// let server = HTTPServer(handler: routes)
/// try await server.start()
/// routes.update { $0.on(.get, "/new") { _ in .text("new\n") } }
/// ```
public final class LiveRouter: Handler {
    /// Holds a whole table, so that a request retains one reference and not ten.
    private final class Snapshot: Sendable {
        let router: Router
        init(_ router: Router) { self.router = router }
    }

    private let current: Locked<Snapshot>

    /// Creates a router with some routes.
    public init(_ router: Router = Router()) {
        current = Locked(Snapshot(router))
    }

    /// The routes of this moment.
    public var router: Router { current.withLock { $0 }.router }

    /// Changes the routes, all at once.
    ///
    /// - Parameter change: gets the current routes and changes them. When another thread changes
    ///   them meanwhile it is called again, so it should do nothing else. An error that it throws
    ///   is passed on, and nothing changes.
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

    /// Answers by the route's handler.
    public func answer(_ request: Request) throws -> Answer {
        let snapshot = current.withLock { $0 }
        return try snapshot.router.answer(request)
    }
}
