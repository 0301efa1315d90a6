internal import HTTPParser
public import HTTPServerCore
public import HTTPServerKit
internal import ToolkitSystem

/// WebDAV in which each user has a separate store.
///
/// ```swift
/// let users = WebDAVUsers { user in
///     guard let folder = folders[user.name] else { return nil }
///     return WebDAVHandler(store: try LocalStore(root: folder))
/// }
/// router.mountWebDAV("/home", AuthenticationHandler(users, by: authenticator))
/// ```
///
/// An `AuthenticationHandler` around it identifies the user. Do not use user names as folder names,
/// because they may contain slashes and dots. Names are compared by their bytes. A Swift dictionary
/// finds one value for all spellings of a name in Unicode: if more than one of them can log in, return
/// handlers that share a store.
public final class WebDAVUsers: Handler {
    /// Makes the handler of a user; `nil` for a user without a store. Users that share a store need
    /// handlers that share it (`WebDAVHandler.init(sharing:options:)`).
    public typealias Maker = @Sendable (Identity) async throws -> WebDAVHandler?

    private struct Handlers: Sendable {
        var made: [UserKey: WebDAVHandler] = [:]
        /// The calls of `make` that have not returned.
        var calls: [UserKey: Task<WebDAVHandler?, any Error>] = [:]
    }

    private let make: Maker
    private let handlers = Locked(Handlers())

    /// Creates a handler.
    /// - Parameter make: called for the first request of each user, in a separate task. Requests
    ///   that arrive during the call wait for its result. The handler and its locks are kept for
    ///   the life of this object. After `nil` or an error, the next request calls `make` again.
    public init(_ make: @escaping Maker) {
        self.make = make
    }

    /// Answers by the handler of the user; 403 without a user, or for a user without a handler.
    public func answer(_ request: Request) throws -> Answer {
        guard let user = request.identity else { throw Self.hasNone }
        if let known = handlers.withLock({ $0.made[UserKey(user.name)] }) {
            return known.answer(request)
        }
        return .later { [self] in
            guard let handler = try await handler(of: user) else { throw Self.hasNone }
            return try await handler.respond(to: request)
        }
    }

    private static var hasNone: HTTPError {
        HTTPError(.forbidden, "this user has no files here")
    }

    private func handler(of user: Identity) async throws -> WebDAVHandler? {
        let name = UserKey(user.name)
        let call = handlers.withLock { handlers -> Task<WebDAVHandler?, any Error>? in
            if handlers.made[name] != nil { return nil }
            if let call = handlers.calls[name] { return call }
            // A separate task: the client of the first request may leave while others wait.
            let call = Task { [self] in try await makeHandler(of: user) }
            handlers.calls[name] = call
            return call
        }
        guard let call else { return handlers.withLock { $0.made[name] } }
        return try await call.value
    }

    private func makeHandler(of user: Identity) async throws -> WebDAVHandler? {
        let name = UserKey(user.name)
        defer { handlers.withLock { $0.calls[name] = nil } }
        let handler = try await make(user)
        if let handler { handlers.withLock { $0.made[name] = handler } }
        return handler
    }
}
