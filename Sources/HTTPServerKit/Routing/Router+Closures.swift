public import HTTPParser
public import HTTPServerCore

/// Routes whose handlers are closures. A closure returns a response, or a text, which is sent as
/// the UTF-8 content of a 200 response. The overloads for texts are disfavored: a closure that only
/// throws fits all overloads and would be ambiguous otherwise.
extension Router {
    /// Adds a closure that answers without waiting, on the event loop; it must not block.
    /// - Parameters:
    ///   - method: the method, or `nil` for all.
    ///   - path: a path as in ``route(_:_:to:)``.
    ///   - respond: answers a request.
    public mutating func on(
        _ method: HTTPMethod?, _ path: String,
        respond: @escaping @Sendable (Request) throws -> Response
    ) {
        route(method, path, to: SyncHandler(respond))
    }

    /// Adds a closure that may wait, for example to read content.
    public mutating func on(
        _ method: HTTPMethod?, _ path: String,
        respond: @escaping @Sendable (Request) async throws -> Response
    ) {
        route(method, path, to: AsyncHandler(respond))
    }

    /// Adds a closure that answers with a text, without waiting.
    @_disfavoredOverload
    public mutating func on(
        _ method: HTTPMethod?, _ path: String,
        respond: @escaping @Sendable (Request) throws -> String
    ) {
        route(method, path, to: SyncHandler { .text(try respond($0)) })
    }

    /// Adds a closure that answers with a text, and may wait.
    @_disfavoredOverload
    public mutating func on(
        _ method: HTTPMethod?, _ path: String,
        respond: @escaping @Sendable (Request) async throws -> String
    ) {
        route(method, path, to: AsyncHandler { .text(try await respond($0)) })
    }

    /// Adds a closure that may block its thread; it runs outside of the event loop.
    public mutating func onBlocking(
        _ method: HTTPMethod?, _ path: String,
        respond: @escaping @Sendable (Request) throws -> Response
    ) {
        route(method, path, to: BlockingHandler(respond))
    }
}

extension Router {
    /// A closure that answers with a response, without waiting.
    public typealias Respond = @Sendable (Request) throws -> Response
    /// A closure that answers with a response, and may wait.
    public typealias RespondLater = @Sendable (Request) async throws -> Response
    /// A closure that answers with a text, without waiting.
    public typealias RespondText = @Sendable (Request) throws -> String
    /// A closure that answers with a text, and may wait.
    public typealias RespondTextLater = @Sendable (Request) async throws -> String

    // MARK: GET

    /// Adds a closure for GET that answers without waiting. It answers HEAD as well.
    public mutating func get(_ path: String, respond: @escaping Respond) {
        on(.get, path, respond: respond)
    }

    /// Adds a closure for GET that may wait. It answers HEAD as well.
    public mutating func get(_ path: String, respond: @escaping RespondLater) {
        on(.get, path, respond: respond)
    }

    /// Adds a closure for GET that answers with a text, without waiting. It answers HEAD as well.
    @_disfavoredOverload
    public mutating func get(_ path: String, respond: @escaping RespondText) {
        on(.get, path, respond: respond)
    }

    /// Adds a closure for GET that answers with a text and may wait. It answers HEAD as well.
    @_disfavoredOverload
    public mutating func get(_ path: String, respond: @escaping RespondTextLater) {
        on(.get, path, respond: respond)
    }

    // MARK: POST

    /// Adds a closure for POST that answers without waiting.
    public mutating func post(_ path: String, respond: @escaping Respond) {
        on(.post, path, respond: respond)
    }

    /// Adds a closure for POST that may wait.
    public mutating func post(_ path: String, respond: @escaping RespondLater) {
        on(.post, path, respond: respond)
    }

    /// Adds a closure for POST that answers with a text, without waiting.
    @_disfavoredOverload
    public mutating func post(_ path: String, respond: @escaping RespondText) {
        on(.post, path, respond: respond)
    }

    /// Adds a closure for POST that answers with a text and may wait.
    @_disfavoredOverload
    public mutating func post(_ path: String, respond: @escaping RespondTextLater) {
        on(.post, path, respond: respond)
    }

    // MARK: PUT

    /// Adds a closure for PUT that answers without waiting.
    public mutating func put(_ path: String, respond: @escaping Respond) {
        on(.put, path, respond: respond)
    }

    /// Adds a closure for PUT that may wait.
    public mutating func put(_ path: String, respond: @escaping RespondLater) {
        on(.put, path, respond: respond)
    }

    /// Adds a closure for PUT that answers with a text, without waiting.
    @_disfavoredOverload
    public mutating func put(_ path: String, respond: @escaping RespondText) {
        on(.put, path, respond: respond)
    }

    /// Adds a closure for PUT that answers with a text and may wait.
    @_disfavoredOverload
    public mutating func put(_ path: String, respond: @escaping RespondTextLater) {
        on(.put, path, respond: respond)
    }

    // MARK: PATCH

    /// Adds a closure for PATCH that answers without waiting.
    public mutating func patch(_ path: String, respond: @escaping Respond) {
        on(.patch, path, respond: respond)
    }

    /// Adds a closure for PATCH that may wait.
    public mutating func patch(_ path: String, respond: @escaping RespondLater) {
        on(.patch, path, respond: respond)
    }

    /// Adds a closure for PATCH that answers with a text, without waiting.
    @_disfavoredOverload
    public mutating func patch(_ path: String, respond: @escaping RespondText) {
        on(.patch, path, respond: respond)
    }

    /// Adds a closure for PATCH that answers with a text and may wait.
    @_disfavoredOverload
    public mutating func patch(_ path: String, respond: @escaping RespondTextLater) {
        on(.patch, path, respond: respond)
    }

    // MARK: DELETE

    /// Adds a closure for DELETE that answers without waiting.
    public mutating func delete(_ path: String, respond: @escaping Respond) {
        on(.delete, path, respond: respond)
    }

    /// Adds a closure for DELETE that may wait.
    public mutating func delete(_ path: String, respond: @escaping RespondLater) {
        on(.delete, path, respond: respond)
    }

    /// Adds a closure for DELETE that answers with a text, without waiting.
    @_disfavoredOverload
    public mutating func delete(_ path: String, respond: @escaping RespondText) {
        on(.delete, path, respond: respond)
    }

    /// Adds a closure for DELETE that answers with a text and may wait.
    @_disfavoredOverload
    public mutating func delete(_ path: String, respond: @escaping RespondTextLater) {
        on(.delete, path, respond: respond)
    }
}
