internal import HTTPCodecs
public import HTTPParser

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A response with its content in memory.
///
/// ```swift
/// let notes = try await session.get("https://example.org/notes", query: ["tag": "home"])
///     .requireSuccess().json([Note].self)
/// ```
public struct CollectedResponse: Sendable {
    /// The decoded content.
    public var content: [UInt8]
    /// The head, with the fields after the content.
    public var head: ClientResponse

    /// Creates a response from its parts.
    public init(_ content: [UInt8], _ head: ClientResponse) {
        (self.content, self.head) = (content, head)
    }

    /// Creates the response to a request, to be returned by a ``ClientTransport``.
    /// - Parameters:
    ///   - request: the request, whose URL becomes the response's.
    ///   - status: the status.
    ///   - fields: the fields; `Content-Length` may be left out.
    ///   - content: the content.
    public init(
        to request: ClientRequest, _ status: HTTPStatus = .ok, fields: HTTPFields = HTTPFields(),
        content: [UInt8] = []
    ) {
        self.init(content, ClientResponse(url: request.url, status: status, fields: fields))
    }

    /// The status.
    public var status: HTTPStatus { head.status }
    /// The fields.
    public var fields: HTTPFields { head.fields }
    /// The URL that answered: that of the last transaction.
    public var url: URL { head.url }

    /// The content as text: ISO 8859-1 if the media type has this charset or `us-ascii`, otherwise
    /// UTF-8, in which malformed bytes become U+FFFD and a byte order mark is left out.
    public var text: String {
        let type = fields[.contentType].flatMap { MediaType($0) }
        let charset = type?["charset"].flatMap { $0.utf8.count <= 32 ? $0.lowercased() : nil }
        switch charset {
        case "iso-8859-1", "latin1", "us-ascii":
            return String(String.UnicodeScalarView(content.map { Unicode.Scalar($0) }))
        default:
            let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
            return String(
                decoding: content.starts(with: mark) ? content[3...] : content[...], as: UTF8.self)
        }
    }

    /// Decodes the content as JSON, whatever its media type.
    /// - Parameters:
    ///   - type: the type of the value.
    ///   - byteLimit: the most bytes of JSON.
    /// - Throws: ``ClientError/Kind/unexpectedContent``, with the reason.
    public func json<Value: Decodable>(
        _ type: Value.Type = Value.self, byteLimit: Int = 64 << 20
    ) throws(ClientError) -> Value {
        var json = JSONBody()
        json.byteLimit = byteLimit
        do throws(CodecError) {
            return try json.decode(type, from: content)
        } catch {
            throw ClientError(.unexpectedContent, "\(error)", url: url, underlying: error)
        }
    }

    /// The response, if its status is 2xx.
    /// - Throws: ``ClientError/Kind/unexpectedStatus``, with the beginning of the content.
    @discardableResult
    public func requireSuccess() throws(ClientError) -> CollectedResponse {
        guard status.class != .successful else { return self }
        let beginning = String(decoding: content.prefix(200), as: UTF8.self)
        throw head.statusError(beginning)
    }
}

extension ClientResponse {
    /// The response, if its status is 2xx.
    /// - Throws: ``ClientError/Kind/unexpectedStatus``.
    @discardableResult
    public func requireSuccess() throws(ClientError) -> ClientResponse {
        guard status.class != .successful else { return self }
        throw statusError("")
    }

    /// - Parameter text: the beginning of the content.
    func statusError(_ text: String) -> ClientError {
        let reason = reasonPhrase.isEmpty ? "" : " \(reasonPhrase)"
        return ClientError(
            .unexpectedStatus, "\(status.code)\(reason)\(text.isEmpty ? "" : ": \(text)")",
            phase: .finishing, url: url)
    }
}
