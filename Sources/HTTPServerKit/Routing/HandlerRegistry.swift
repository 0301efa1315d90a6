internal import HTTPParser
public import HTTPServerCore
internal import ToolkitSystem

/// Handlers that other modules register with a priority, instead of one central list.
///
/// ```swift
/// let registry = HandlerRegistry()
/// Pictures.register(in: registry)      // calls registry.register(PictureHandler(), priority: 10)
/// let server = HTTPServer(handler: registry)
/// ```
///
/// A request is answered by the handler of the highest priority that accepts it. Among handlers of
/// equal priority, the one registered last is asked first. If no handler accepts the request, the
/// answer is 404. There is no process-wide registry.
public final class HandlerRegistry: Handler {
    private struct Entry: Sendable {
        let priority: Int
        let handler: any SelectiveHandler
    }

    /// Sorted by priority, the highest first, and among equals the newest first.
    private let entries = Locked<[Entry]>([])

    /// Creates a registry without handlers.
    public init() {}

    /// Adds a handler for requests that arrive from now on.
    /// - Parameters:
    ///   - handler: the handler, which decides which requests it answers.
    ///   - priority: handlers of higher priority are asked first.
    public func register(_ handler: some SelectiveHandler, priority: Int = 0) {
        entries.withLock { entries in
            let place = entries.firstIndex { $0.priority <= priority } ?? entries.endIndex
            entries.insert(Entry(priority: priority, handler: handler), at: place)
        }
    }

    /// Passes the request to the first handler that accepts it.
    public func answer(_ request: Request) throws -> Answer {
        let entries = entries.withLock { $0 }
        guard let entry = entries.first(where: { $0.handler.accepts(request) }) else {
            throw HTTPError(.notFound)
        }
        return try entry.handler.answer(request)
    }
}
