public import HTTPCodecs
public import HTTPParser
public import HTTPServerCore
internal import ToolkitSystem

/// Answers requests whose content is one JSON value, by a closure that never waits.
///
/// ```swift
/// struct Note: Codable { var text: String }
/// router.post("/notes", json: Note.self) { request, note in
///     try .json(note, status: .created)
/// }
/// ```
///
/// The closure is called on the event loop when the content is complete. A request costs no task,
/// unless its content has more than 8 KiB: that is decoded on another thread.
public struct JSONHandler<Value: Decodable & SendableMetatype>: Handler {
    private let json: JSONBody
    private let readable: (any JSONReadable.Type)?
    private let respond: @Sendable (Request, sending Value) throws -> Response

    /// Creates a handler.
    /// - Parameters:
    ///   - type: what is read.
    ///   - json: its limits, and how it is read.
    ///   - respond: answers a request; it must not block.
    public init(
        _ type: Value.Type = Value.self, using json: JSONBody = JSONBody(),
        respond: @escaping @Sendable (Request, sending Value) throws -> Response
    ) {
        self.json = json
        readable = json.readable(type)
        self.respond = respond
    }

    /// Answers when the content is there.
    /// - Throws: `CodecError` with `.unsupportedMediaType` or `.unsupportedCharset` (415) before
    ///   anything is read. Errors of the content are as those of `Request.json`.
    public func answer(_ request: Request) throws -> Answer {
        try request.requireJSON(json)
        return .whenCollected(limit: json.byteLimit) { [self] collected in
            let content = try collected.get()
            guard content.count > JSONBody.quickBytes else {
                let value = try json.decode(Value.self, readBy: readable, from: content)
                return .now(try respond(request, value))
            }
            return .later {
                let value = try await json.decode(
                    Value.self, from: content, by: BlockingPool.lend)
                return try respond(request, value)
            }
        }
    }
}

extension Router {
    /// A closure that answers a request and the JSON value that is its content, at once.
    public typealias RespondToJSON<Value> = @Sendable (Request, sending Value) throws -> Response

    /// Adds a closure that gets the content as a value out of JSON, and answers at once.
    /// - Parameters:
    ///   - method: the method, or `nil` for all.
    ///   - path: a path as in ``route(_:_:to:)``.
    ///   - type: what is read.
    ///   - json: its limits, and how it is read.
    ///   - respond: answers a request, on the event loop; it must not block.
    public mutating func on<Value: Decodable & SendableMetatype>(
        _ method: HTTPMethod?, _ path: String, json type: Value.Type,
        using json: JSONBody = JSONBody(), respond: @escaping RespondToJSON<Value>
    ) {
        route(method, path, to: JSONHandler(type, using: json, respond: respond))
    }

    /// Adds a closure for POST that gets the content as a value out of JSON, and answers at once.
    public mutating func post<Value: Decodable & SendableMetatype>(
        _ path: String, json type: Value.Type, using json: JSONBody = JSONBody(),
        respond: @escaping RespondToJSON<Value>
    ) {
        on(.post, path, json: type, using: json, respond: respond)
    }

    /// Adds a closure for PUT that gets the content as a value out of JSON, and answers at once.
    public mutating func put<Value: Decodable & SendableMetatype>(
        _ path: String, json type: Value.Type, using json: JSONBody = JSONBody(),
        respond: @escaping RespondToJSON<Value>
    ) {
        on(.put, path, json: type, using: json, respond: respond)
    }

    /// Adds a closure for PATCH that gets the content as a value out of JSON, and answers at once.
    public mutating func patch<Value: Decodable & SendableMetatype>(
        _ path: String, json type: Value.Type, using json: JSONBody = JSONBody(),
        respond: @escaping RespondToJSON<Value>
    ) {
        on(.patch, path, json: type, using: json, respond: respond)
    }
}
