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
/// An `AuthenticationHandler` around it finds out the user. Do not use user names as folder names:
/// they may contain slashes and dots.
public final class WebDAVUsers: Handler {
    /// Makes the handler of a user; `nil` for a user without a store. Users that share a store need
    /// handlers that share it (`WebDAVHandler.init(sharing:options:)`).
    public typealias Maker = @Sendable (Identity) async throws -> WebDAVHandler?

    private let make: Maker
    private let handlers = Locked<[String: WebDAVHandler]>([:])

    /// Creates a handler.
    /// - Parameter make: called for the first request of each user; the handler is kept as long as
    ///   this object, with its locks.
    public init(_ make: @escaping Maker) {
        self.make = make
    }

    /// Answers by the handler of the user; 403 without a user, or for a user without a handler.
    public func answer(_ request: Request) throws -> Answer {
        guard let user = request.identity else { throw Self.hasNone }
        if let known = handlers.withLock({ $0[user.name] }) { return known.answer(request) }
        return .later { [self] in
            guard let handler = try await handler(of: user) else { throw Self.hasNone }
            return try await handler.respond(to: request)
        }
    }

    private static var hasNone: HTTPError {
        HTTPError(.forbidden, "this user has no files here")
    }

    private func handler(of user: Identity) async throws -> WebDAVHandler? {
        if let known = handlers.withLock({ $0[user.name] }) { return known }
        guard let made = try await make(user) else { return nil }
        // Two requests may have come at once: both need the same locks.
        return handlers.withLock { handlers in
            let kept = handlers[user.name] ?? made
            handlers[user.name] = kept
            return kept
        }
    }
}
