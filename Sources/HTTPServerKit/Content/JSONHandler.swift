public import HTTPCodecs
public import HTTPParser
public import HTTPServerCore
internal import ToolkitSystem

/// Answers requests whose content is one JSON value, with a closure that never waits.
///
/// ```swift
/// struct Note: Codable { var text: String }
/// router.post("/notes", json: Note.self) { request, note in
///     try .json(note, status: .created)
/// }
/// ```
///
/// The closure is called on the event loop when the content is complete. Content of at most 8 KiB
/// is decoded there, without a task. Longer content is decoded on another thread.
public struct JSONHandler<Value: Decodable & SendableMetatype>: Handler {
    /// Shared, so that the closure that waits for a request's content keeps one reference.
    private final class Parts: Sendable {
        let json: JSONBody
        let readable: (any JSONReadable.Type)?
        let respond: @Sendable (Request, sending Value) throws -> Response

        init(
            _ json: JSONBody,
            respond: @escaping @Sendable (Request, sending Value) throws -> Response
        ) {
            self.json = json
            readable = json.readable(Value.self)
            self.respond = respond
        }
    }

    private let parts: Parts

    /// Creates a handler.
    /// - Parameters:
    ///   - type: the type to decode.
    ///   - json: the limits and options of decoding.
    ///   - respond: answers a request; it must not block.
    public init(
        _ type: Value.Type = Value.self, using json: JSONBody = JSONBody(),
        respond: @escaping @Sendable (Request, sending Value) throws -> Response
    ) {
        parts = Parts(json, respond: respond)
    }

    /// Answers when the content is complete.
    /// - Throws: `CodecError` with `.unsupportedMediaType` or `.unsupportedCharset` (415) before
    ///   anything is read. Invalid content causes the same errors as in `Request.json`.
    public func answer(_ request: Request) throws -> Answer {
        try request.requireJSON(parts.json)
        return .whenCollected(limit: parts.json.byteLimit) { [parts] collected in
            let content = try collected.get()
            guard content.count > JSONBody.quickBytes else {
                let value = try parts.json.decode(
                    Value.self, readBy: parts.readable, from: content)
                return .now(try parts.respond(request, value))
            }
            return .later {
                let value = try await parts.json.decode(
                    Value.self, from: content, by: BlockingPool.lend)
                return try parts.respond(request, value)
            }
        }
    }
}

extension Router {
    /// A closure that gets a request and its decoded JSON content, and answers without waiting.
    public typealias RespondToJSON<Value> = @Sendable (Request, sending Value) throws -> Response

    /// Adds a closure that gets the content decoded from JSON, and answers without waiting.
    /// - Parameters:
    ///   - method: the method, or `nil` for all.
    ///   - path: a path as in ``route(_:_:to:)``.
    ///   - type: the type to decode.
    ///   - json: the limits and options of decoding.
    ///   - respond: answers a request, on the event loop; it must not block.
    public mutating func on<Value: Decodable & SendableMetatype>(
        _ method: HTTPMethod?, _ path: String, json type: Value.Type,
        using json: JSONBody = JSONBody(), respond: @escaping RespondToJSON<Value>
    ) {
        route(method, path, to: JSONHandler(type, using: json, respond: respond))
    }

    /// Adds a closure for POST that gets the content decoded from JSON, and answers without
    /// waiting.
    public mutating func post<Value: Decodable & SendableMetatype>(
        _ path: String, json type: Value.Type, using json: JSONBody = JSONBody(),
        respond: @escaping RespondToJSON<Value>
    ) {
        on(.post, path, json: type, using: json, respond: respond)
    }

    /// Adds a closure for PUT that gets the content decoded from JSON, and answers without waiting.
    public mutating func put<Value: Decodable & SendableMetatype>(
        _ path: String, json type: Value.Type, using json: JSONBody = JSONBody(),
        respond: @escaping RespondToJSON<Value>
    ) {
        on(.put, path, json: type, using: json, respond: respond)
    }

    /// Adds a closure for PATCH that gets the content decoded from JSON, and answers without
    /// waiting.
    public mutating func patch<Value: Decodable & SendableMetatype>(
        _ path: String, json type: Value.Type, using json: JSONBody = JSONBody(),
        respond: @escaping RespondToJSON<Value>
    ) {
        on(.patch, path, json: type, using: json, respond: respond)
    }
}
