public import HTTPCodecs
public import HTTPParser
public import HTTPServerCore
internal import ToolkitSystem

/// Answers requests whose content is one JSON value, with a closure that may wait, for example for
/// a database.
///
/// ```swift
/// struct Note: Codable { var text: String }
/// actor Notes { func add(_ note: Note) {} }
/// let notes = Notes()
/// router.post("/notes", json: Note.self) { request, note in
///     await notes.add(note)
///     return Response(.created)
/// }
/// ```
///
/// The closure is called in a task on the event loop when the content is complete. The task is
/// cancelled when the client disconnects. Content of more than 8 KiB is decoded on another thread.
public struct AsyncJSONHandler<Value: Decodable & SendableMetatype>: Handler {
    private let json: JSONBody
    private let respond: @Sendable (Request, sending Value) async throws -> Response

    /// Creates a handler.
    /// - Parameters:
    ///   - type: the type to decode.
    ///   - json: the limits and options of decoding.
    ///   - respond: answers a request; it may wait, and must not block.
    public init(
        _ type: Value.Type = Value.self, using json: JSONBody = JSONBody(),
        respond: @escaping @Sendable (Request, sending Value) async throws -> Response
    ) {
        self.json = json
        self.respond = respond
    }

    /// Answers in a task when the content is complete.
    /// - Throws: `CodecError` with `.unsupportedMediaType` or `.unsupportedCharset` (415) before
    ///   anything is read. Invalid content causes the same errors as in `Request.json`.
    public func answer(_ request: Request) throws -> Answer {
        try request.requireJSON(json)
        return .whenCollected(limit: json.byteLimit) { [self] collected in
            let content = try collected.get()
            return .later {
                let value = try await json.decode(
                    Value.self, from: content, by: BlockingPool.lend)
                return try await respond(request, value)
            }
        }
    }
}

extension Router {
    /// A closure that gets a request and its decoded JSON content, and may wait.
    public typealias RespondToJSONLater<Value> =
        @Sendable (Request, sending Value) async throws -> Response

    /// Adds a closure that gets the content decoded from JSON, and may wait.
    /// - Parameters:
    ///   - method: the method, or `nil` for all.
    ///   - path: a path as in ``route(_:_:to:)``.
    ///   - type: the type to decode.
    ///   - json: the limits and options of decoding.
    ///   - respond: answers a request, in a task on the event loop; it must not block.
    public mutating func on<Value: Decodable & SendableMetatype>(
        _ method: HTTPMethod?, _ path: String, json type: Value.Type,
        using json: JSONBody = JSONBody(), respond: @escaping RespondToJSONLater<Value>
    ) {
        route(method, path, to: AsyncJSONHandler(type, using: json, respond: respond))
    }

    /// Adds a closure for POST that gets the content decoded from JSON, and may wait.
    public mutating func post<Value: Decodable & SendableMetatype>(
        _ path: String, json type: Value.Type, using json: JSONBody = JSONBody(),
        respond: @escaping RespondToJSONLater<Value>
    ) {
        on(.post, path, json: type, using: json, respond: respond)
    }

    /// Adds a closure for PUT that gets the content decoded from JSON, and may wait.
    public mutating func put<Value: Decodable & SendableMetatype>(
        _ path: String, json type: Value.Type, using json: JSONBody = JSONBody(),
        respond: @escaping RespondToJSONLater<Value>
    ) {
        on(.put, path, json: type, using: json, respond: respond)
    }

    /// Adds a closure for PATCH that gets the content decoded from JSON, and may wait.
    public mutating func patch<Value: Decodable & SendableMetatype>(
        _ path: String, json type: Value.Type, using json: JSONBody = JSONBody(),
        respond: @escaping RespondToJSONLater<Value>
    ) {
        on(.patch, path, json: type, using: json, respond: respond)
    }
}
