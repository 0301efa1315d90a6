internal import HTTPParser
public import HTTPServerCore

/// Applies the conditions and ranges of requests to the answers of another handler: 304, 412, 206
/// and 416 for answers with validators, or with content in memory.
///
/// ```swift
/// let handler = CompressionHandler(ConditionalHandler(router, tagsContent: true))
/// ```
///
/// Each answer is changed by `Response.conditional(for:)`. `FileHandler` already applies
/// conditions, so its answers pass unchanged. Put this handler inside of a `CompressionHandler`,
/// which gives compressed answers different tags.
public struct ConditionalHandler: Handler {
    private let handler: any Handler
    private let tagsContent: Bool

    /// Creates a handler.
    /// - Parameters:
    ///   - handler: the inner handler.
    ///   - tagsContent: whether a 200 to GET or HEAD with content in memory and without an entity
    ///     tag gets a tag computed from its bytes, at about a nanosecond a byte.
    public init(_ handler: some Handler, tagsContent: Bool = false) {
        self.handler = handler
        self.tagsContent = tagsContent
    }

    /// Answers with the inner handler's response, after conditions and ranges.
    public func answer(_ request: Request) throws -> Answer {
        try handler.answer(request).map { try applied(to: $0, request) }
    }

    private func applied(to response: Response, _ request: Request) throws -> Response {
        guard tagsContent, response.status == .ok, !response.fields.contains(.eTag),
            request.knownMethod == .get || request.knownMethod == .head
        else { return try response.conditional(for: request) }
        var response = response
        switch response.body.content {
        case .text(let text): response.entityTag = EntityTag(of: Array(text.utf8))
        case .bytes(let bytes): response.entityTag = EntityTag(of: bytes)
        case .empty, .pieces, .file, .stream, .upgrade: break
        }
        return try response.conditional(for: request)
    }
}
