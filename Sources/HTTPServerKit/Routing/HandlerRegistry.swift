internal import HTTPParser
public import HTTPServerCore
internal import ToolkitSystem

/// Handlers that other modules put in, each with a priority, in place of a list in one file.
///
/// ```swift
/// let registry = HandlerRegistry()
/// Pictures.register(in: registry)      // calls registry.register(PictureHandler(), priority: 10)
/// let server = HTTPServer(handler: registry)
/// ```
///
/// A request is answered by the handler of the highest priority that accepts it; of equal ones by
/// the one that was registered last; 404 when none accepts it. Each registry is separate: nothing
/// is shared by the process.
public final class HandlerRegistry: Handler {
    private struct Entry: Sendable {
        let priority: Int
        let handler: any SelectiveHandler
    }

    /// The highest priority first, of equal ones the newest.
    private let entries = Locked<[Entry]>([])

    /// Creates a registry without handlers.
    public init() {}

    /// Adds a handler. Requests that begin from now on see it.
    /// - Parameters:
    ///   - handler: decides itself which requests it answers.
    ///   - priority: handlers of higher priority are asked before.
    public func register(_ handler: some SelectiveHandler, priority: Int = 0) {
        entries.withLock { entries in
            let place = entries.firstIndex { $0.priority <= priority } ?? entries.endIndex
            entries.insert(Entry(priority: priority, handler: handler), at: place)
        }
    }

    /// Answers by the first handler that accepts the request.
    public func answer(_ request: Request) throws -> Answer {
        let entries = entries.withLock { $0 }
        guard let entry = entries.first(where: { $0.handler.accepts(request) }) else {
            throw HTTPError(.notFound)
        }
        return try entry.handler.answer(request)
    }
}
