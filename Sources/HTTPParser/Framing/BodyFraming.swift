/// The way in which a recipient finds the end of a message's content (RFC 9112 section 6.3).
public enum BodyFraming: Hashable, Sendable {
    /// There is no content.
    case none
    /// The content has this number of bytes.
    case length(Int64)
    /// The content is chunked, and trailers may follow.
    case chunked
    /// The content ends when the connection closes; only in responses.
    case untilClose
    /// The bytes after the head are not HTTP: the message is CONNECT or a 2xx response to CONNECT.
    case tunnel
}

extension BodyFraming {
    /// Whether the length is negative, which is invalid.
    var isNegative: Bool {
        guard case .length(let length) = self else { return false }
        return length < 0
    }

    /// The framing of a request, by the steps of RFC 9112 section 6.3. The parser has already
    /// refused heads with conflicting fields.
    package static func ofRequest(method: HTTPMethod.Known, fields: FramingFields) -> BodyFraming {
        // Before the steps of the RFC: CONNECT has no content (RFC 9110 section 9.3.6).
        if method == .connect { return .tunnel }
        // Steps 4 and 6.
        if fields.flags.contains(.chunked) { return .chunked }
        if fields.contentLength > 0 { return .length(fields.contentLength) }
        // Step 7: a request with neither field has no content.
        return .none
    }

    /// The framing of a response to a request of `requestMethod`, by the steps of RFC 9112
    /// section 6.3.
    package static func ofResponse(
        status: HTTPStatus, requestMethod: HTTPMethod, fields: FramingFields
    ) -> BodyFraming {
        // Step 2: a 2xx response to CONNECT. This precedes step 1, because 204 is a 2xx, too.
        if requestMethod == .connect, status.isSuccess { return .tunnel }
        // Step 1: HEAD, 1xx, 204 and 304.
        if requestMethod == .head || status.forbidsContent { return .none }
        // Step 4: chunked. The parser has refused other transfer codings.
        if fields.flags.contains(.chunked) { return .chunked }
        // Step 6.
        if fields.contentLength >= 0 {
            return fields.contentLength == 0 ? .none : .length(fields.contentLength)
        }
        // Step 8.
        return .untilClose
    }
}
