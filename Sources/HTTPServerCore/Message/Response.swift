public import HTTPParser
package import ToolkitSystem

/// A handler's response.
///
/// The server writes Date, Content-Length, Transfer-Encoding and Connection. It writes Content-Type
/// from the body's media type unless `fields` has one.
public struct Response: Sendable {
    /// The status.
    public var status: HTTPStatus
    /// The fields in addition to those that the server writes.
    public var fields: HTTPFields
    /// The content.
    public var body: ResponseBody {
        didSet { problem = nil }
    }
    /// The error that the response reports; `nil` once `body` is replaced.
    package var problem: Problem?

    /// Creates a response.
    public init(
        _ status: HTTPStatus = .ok, fields: HTTPFields = HTTPFields(), body: ResponseBody = .empty
    ) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// A response that redirects the client (RFC 9110 section 15.4).
    /// - Parameters:
    ///   - location: a URI reference, percent-encoded.
    ///   - status: 301, 302, 303, 307 or 308.
    public static func redirect(
        to location: String, _ status: HTTPStatus = .found
    ) -> Response {
        Response(status, fields: [.location: location])
    }
}

/// The content of a response: bytes in memory, part of a file, or a stream.
public struct ResponseBody: Sendable {
    /// Produces a stream piece by piece; it runs on the connection's loop.
    public typealias Producer = @Sendable (ResponseWriter) async throws -> Void

    package enum Content: Sendable {
        case empty
        case text(String)
        case bytes([UInt8])
        case pieces([Piece])
        case file(OpenFile, offset: Int64, count: Int64)
        case stream(length: Int64?, Producer)
        /// The connection speaks another protocol after the response, whose status is 101.
        case upgrade(Upgrade)
    }

    /// Creates the protocol that takes over, on the connection's loop. It must not write yet.
    package typealias Upgrade = @Sendable (any UpgradeCarrier) -> any UpgradedProtocol

    /// Bytes, or a range of an open file.
    package enum Piece: Sendable {
        case bytes([UInt8])
        case file(OpenFile, offset: Int64, count: Int64)

        package var count: Int64 {
            switch self {
            case .bytes(let bytes): Int64(bytes.count)
            case .file(_, _, let count): count
            }
        }
    }

    package var content: Content
    /// The media type that Content-Type names; empty for none.
    public var mediaType: String

    package init(_ content: Content, mediaType: String) {
        self.content = content
        self.mediaType = mediaType
    }

    /// No content.
    public static var empty: ResponseBody { ResponseBody(.empty, mediaType: "") }

    /// A text, sent as UTF-8.
    public static func text(
        _ text: String, mediaType: String = "text/plain; charset=utf-8"
    ) -> ResponseBody {
        ResponseBody(.text(text), mediaType: mediaType)
    }

    /// Bytes.
    public static func bytes(
        _ bytes: [UInt8], mediaType: String = "application/octet-stream"
    ) -> ResponseBody {
        ResponseBody(.bytes(bytes), mediaType: mediaType)
    }

    /// A range of an open file. It is sent without passing through the process if the system can
    /// do that.
    package static func file(
        _ file: OpenFile, offset: Int64 = 0, count: Int64, mediaType: String
    ) -> ResponseBody {
        ResponseBody(.file(file, offset: offset, count: count), mediaType: mediaType)
    }

    /// Content that is produced while it is sent.
    ///
    /// `producer` is called once the head is written. `ResponseWriter.write` suspends while the
    /// client is slow, so memory stays bounded. When `producer` throws, the connection is closed,
    /// which shows the client that the content is incomplete.
    /// - Parameters:
    ///   - mediaType: the media type that Content-Type names; empty for none.
    ///   - length: the number of bytes that will be written; `nil` if unknown, which sends the
    ///     content chunked.
    ///   - producer: writes the content.
    public static func stream(
        mediaType: String = "text/plain; charset=utf-8", length: Int64? = nil,
        _ producer: @escaping Producer
    ) -> ResponseBody {
        precondition(length ?? 0 >= 0, "a length is not negative")
        return ResponseBody(.stream(length: length, producer), mediaType: mediaType)
    }

    /// How the end of the content is known.
    package var framing: BodyFraming {
        switch content {
        case .empty, .upgrade: .none
        case .text(let text): text.isEmpty ? .none : .length(Int64(text.utf8.count))
        case .bytes(let bytes): bytes.isEmpty ? .none : .length(Int64(bytes.count))
        case .pieces(let pieces): .length(pieces.reduce(0) { $0 + $1.count })
        case .file(_, _, let count): .length(count)
        case .stream(let length, _): length.map { .length($0) } ?? .chunked
        }
    }
}
