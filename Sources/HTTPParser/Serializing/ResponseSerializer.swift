/// Turns responses into bytes, as the reverse of `ResponseParser` (RFC 9112 section 4).
///
/// ```swift
/// var serializer = ResponseSerializer()
/// var bytes = ByteBuffer()
/// try serializer.head(.ok, fields: [.contentType: "text/plain"], framing: .length(2), into: &bytes)
/// try serializer.content(Array("hi".utf8).span, into: &bytes)
/// try serializer.end(into: &bytes)
/// ```
public struct ResponseSerializer: Sendable {
    /// The value of the Connection field of a response (RFC 9112 section 9.3).
    public enum ConnectionOption: Sendable {
        /// No field: the default of HTTP/1.1, a persistent connection.
        case none
        /// `close`.
        case close
        /// `keep-alive`, which HTTP/1.0 clients ask for.
        case keepAlive
        /// `upgrade`, which accompanies the field Upgrade of a 101 (RFC 9110 section 7.8).
        case upgrade
    }

    private var content = ContentWriter(.none, isOmitted: true)

    /// Creates a serialiser; it can be used for one response after another.
    public init() {}

    /// Writes the head of a final response.
    ///
    /// Content-Length, Transfer-Encoding and Connection are written from the other arguments.
    /// - Parameters:
    ///   - status: the status of a final response; the reason phrase is the registered one. For 1xx
    ///     use `interim`.
    ///   - fields: the other fields, in order.
    ///   - framing: how the content ends. `.none` announces a length of 0 where content would be
    ///     allowed. A negative length traps.
    ///   - requestMethod: the method of the request. For HEAD the head is that of GET and content
    ///     is dropped. For CONNECT a 2xx has no content: the bytes of the tunnel follow (RFC 9110
    ///     section 9.3.6).
    ///   - connection: the value of the Connection field.
    ///   - buffer: the buffer that gets the bytes.
    /// - Throws: if the message is invalid; then nothing is written.
    public mutating func head(
        _ status: HTTPStatus, fields: HTTPFields = HTTPFields(), framing: BodyFraming,
        to requestMethod: HTTPMethod = .get, connection: ConnectionOption = .none,
        into buffer: inout ByteBuffer
    ) throws(HTTPMessageError) {
        precondition(!framing.isNegative, "a length is not negative")
        let opensTunnel = requestMethod == .connect && status.isSuccess
        try unsafe head(
            status, verbatim: UnsafeRawBufferPointer(start: nil, count: 0), mediaType: "",
            fields: fields, framing: opensTunnel ? .tunnel : framing,
            isHead: requestMethod == .head,
            connection: connection, into: &buffer)
    }

    /// Also writes `verbatim`, lines that are known to be valid such as Date, and Content-Type from
    /// `mediaType`, without creating an `HTTPField`.
    package mutating func head(
        _ status: HTTPStatus, verbatim: UnsafeRawBufferPointer, mediaType: String,
        fields: HTTPFields, framing: BodyFraming, isHead: Bool, connection: ConnectionOption,
        into buffer: inout ByteBuffer
    ) throws(HTTPMessageError) {
        let before = buffer.count
        buffer.reserve(256)
        Self.writeStatusLine(status, into: &buffer)
        unsafe buffer.append(verbatim)
        do throws(HTTPMessageError) {
            if !mediaType.isEmpty { try buffer.append(field: "Content-Type", mediaType) }
            if !fields.isEmpty { try buffer.append(fields: fields) }
        } catch {
            buffer.truncate(to: before)
            throw error
        }
        Self.writeFraming(framing, status: status, into: &buffer)
        // The Upgrade field of a 426 names the protocols to use (RFC 9110 section 15.5.22).
        let isOffer = status == .upgradeRequired && fields.contains(.upgrade)
        switch connection {
        case .close where isOffer: buffer.append(literal: "Connection: close, upgrade\r\n\r\n")
        case .none where isOffer, .upgrade:
            buffer.append(literal: "Connection: upgrade\r\n\r\n")
        case .none: buffer.append(literal: "\r\n")
        case .close: buffer.append(literal: "Connection: close\r\n\r\n")
        case .keepAlive: buffer.append(literal: "Connection: keep-alive\r\n\r\n")
        }
        content = ContentWriter(framing, isOmitted: isHead || status.forbidsContent)
    }

    /// Writes an interim response such as 100 or 103; the final response has to follow.
    /// - Parameters:
    ///   - status: a status of the class 1xx; any other traps.
    ///   - fields: further fields.
    ///   - buffer: the buffer that gets the bytes.
    /// - Throws: if a field must not be sent; then nothing is written.
    public func interim(
        _ status: HTTPStatus, fields: HTTPFields = HTTPFields(), into buffer: inout ByteBuffer
    ) throws(HTTPMessageError) {
        precondition(status.class == .informational, "not an interim status")
        let before = buffer.count
        Self.writeStatusLine(status, into: &buffer)
        do throws(HTTPMessageError) {
            try buffer.append(fields: fields)
        } catch {
            buffer.truncate(to: before)
            throw error
        }
        buffer.append(literal: "\r\n")
    }

    /// Writes a piece of content.
    /// - Throws: `.contentTooLong` beyond the announced length.
    public mutating func content(
        _ bytes: Span<UInt8>, into buffer: inout ByteBuffer
    ) throws(HTTPMessageError) {
        try content.write(bytes, into: &buffer)
    }

    /// Opens a piece of content that the caller sends itself; ``endPiece(into:)`` closes it.
    /// - Parameters:
    ///   - count: the length of the piece in bytes, more than 0.
    ///   - buffer: the buffer that gets the bytes before the piece.
    /// - Throws: `.contentTooLong` beyond the announced length.
    package mutating func beginPiece(
        _ count: Int64, into buffer: inout ByteBuffer
    ) throws(HTTPMessageError) {
        try content.begin(count, into: &buffer)
    }

    /// Closes a piece of content that the caller has sent itself.
    package func endPiece(into buffer: inout ByteBuffer) {
        content.complete(into: &buffer)
    }

    /// Ends the response.
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

    private static func writeStatusLine(_ status: HTTPStatus, into buffer: inout ByteBuffer) {
        if status == .ok { return buffer.append(literal: "HTTP/1.1 200 OK\r\n") }
        buffer.append(literal: "HTTP/1.1 ")
        buffer.append(decimal: Int64(status.code))
        buffer.append(literal: " ")
        buffer.append(status.reasonPhrase)
        buffer.append(literal: "\r\n")
    }

    /// RFC 9110 section 8.6: no Content-Length in 1xx and 204; RFC 9112 section 6.1: no
    /// Transfer-Encoding either. A 304 may announce the length that the content of a 200 would
    /// have.
    private static func writeFraming(
        _ framing: BodyFraming, status: HTTPStatus, into buffer: inout ByteBuffer
    ) {
        guard status.code >= 200, status != .noContent else { return }
        switch framing {
        case .none where status == .notModified, .untilClose, .tunnel: break
        case .none: buffer.append(literal: "Content-Length: 0\r\n")
        case .length(let length):
            buffer.append(literal: "Content-Length: ")
            buffer.append(decimal: length)
            buffer.append(literal: "\r\n")
        case .chunked:
            if status != .notModified { buffer.append(literal: "Transfer-Encoding: chunked\r\n") }
        }
    }
}
