/// Turns requests into bytes, as the reverse of `RequestParser` (RFC 9112 section 3).
///
/// ```swift
/// var serializer = RequestSerializer()
/// var bytes = ByteBuffer()
/// try serializer.head(.get, target: "/a", fields: [.host: "example.org"], into: &bytes)
/// try serializer.end(into: &bytes)
/// ```
public struct RequestSerializer: Sendable {
    private var content = ContentWriter(.none, isOmitted: false)

    /// Creates a serialiser; it can be used for one request after another.
    public init() {}

    /// Writes the head of a request.
    ///
    /// Content-Length, Transfer-Encoding and Connection are written from the other arguments.
    /// - Parameters:
    ///   - method: the method.
    ///   - target: the request target, in one of the forms of RFC 9112 section 3.2.
    ///   - fields: the other fields, with Host exactly once.
    ///   - framing: how the content ends: `.none`, `.chunked` or a `.length` that is not negative;
    ///     other values trap.
    ///   - closes: asks the server to close the connection after its response.
    ///   - buffer: the buffer that gets the bytes.
    /// - Throws: if the message is invalid; then nothing is written.
    public mutating func head(
        _ method: HTTPMethod, target: String, fields: HTTPFields, framing: BodyFraming = .none,
        closes: Bool = false, into buffer: inout ByteBuffer
    ) throws(HTTPMessageError) {
        precondition(framing != .untilClose, "a request cannot end with its connection")
        precondition(!framing.isNegative, "a length is not negative")
        guard RequestTarget(target, method: method) != nil else {
            throw HTTPMessageError(.invalidTarget, target)
        }
        guard fields.values(of: .host).count == 1 else { throw HTTPMessageError(.missingHost) }
        let before = buffer.count
        buffer.append(method.name)
        buffer.append(literal: " ")
        buffer.append(target)
        buffer.append(literal: " HTTP/1.1\r\n")
        do throws(HTTPMessageError) {
            try buffer.append(fields: fields)
        } catch {
            buffer.truncate(to: before)
            throw error
        }
        Self.writeFraming(framing, method: method, into: &buffer)
        buffer.append(literal: closes ? "Connection: close\r\n\r\n" : "\r\n")
        content = ContentWriter(framing, isOmitted: false)
    }

    /// Writes a piece of content.
    /// - Throws: `.contentTooLong` beyond the announced length.
    public mutating func content(
        _ bytes: Span<UInt8>, into buffer: inout ByteBuffer
    ) throws(HTTPMessageError) {
        try content.write(bytes, into: &buffer)
    }

    /// Ends the request.
    /// - Parameters:
    ///   - trailers: fields after chunked content.
    ///   - buffer: the buffer that gets the bytes.
    /// - Throws: `.contentTooShort` if less content was written than announced;
    ///   `.misplacedTrailers` for trailers without chunked framing.
    public mutating func end(
        trailers: HTTPFields = HTTPFields(), into buffer: inout ByteBuffer
    ) throws(HTTPMessageError) {
        try content.finish(trailers: trailers, into: &buffer)
    }

    /// RFC 9110 section 8.6: without content, methods that usually have content send a length of 0.
    private static func writeFraming(
        _ framing: BodyFraming, method: HTTPMethod, into buffer: inout ByteBuffer
    ) {
        switch framing {
        case .length(let length):
            buffer.append(literal: "Content-Length: ")
            buffer.append(decimal: length)
            buffer.append(literal: "\r\n")
        case .chunked: buffer.append(literal: "Transfer-Encoding: chunked\r\n")
        case .none where method == .post || method == .put || method == .patch:
            buffer.append(literal: "Content-Length: 0\r\n")
        default: break
        }
    }
}
