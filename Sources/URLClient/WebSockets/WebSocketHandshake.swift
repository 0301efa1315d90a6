internal import HTTPParser
internal import WebSocketFrames

/// The handshake of a WebSocket as a value: makes the request's bytes, and checks the response.
///
/// RFC 6455, section 4.1.
struct WebSocketHandshake: ~Copyable {
    /// The outcome of a handshake.
    enum Outcome {
        /// The server has accepted the WebSocket.
        case accepted(WebSocketOffer.Agreement)
        /// The server has refused the WebSocket, or its response is invalid.
        case refused(ClientError)
    }

    private let offer: WebSocketOffer
    private let limit: Int
    private var parser = ResponseParser()
    private var received = 0
    /// The response, once its head was received.
    private(set) var response: ClientResponse?
    /// The response of a proxy that was asked for a tunnel.
    var tunnel = TunnelHead()
    /// The error of a proxy response that cannot be parsed.
    var tunnelFault: ClientError?

    /// - Parameters:
    ///   - offer: what the request offers.
    ///   - limit: the longest head of a response in bytes, including interim responses.
    init(_ offer: WebSocketOffer, limit: Int) {
        self.offer = offer
        self.limit = limit
        parser.expect(.get)
    }

    // MARK: The request

    /// The bytes of the request.
    /// - Throws: `.badRequest` for fields that must not be sent.
    func request(_ request: ClientRequest, _ wire: WireURL) throws(ClientError) -> [UInt8] {
        var fields = HTTPFields()
        if !request.fields.contains(.host) { fields.append(.host, wire.origin.authority) }
        for field in request.fields where !Self.isOwn(field.name) {
            // A value that is not UTF-8 is appended below.
            if field.name == .cookie, request.cookieBytes != nil { continue }
            fields.append(field)
        }
        // The serializer leaves Connection to its callers.
        for field in offer.fields where field.name != .connection { fields.append(field) }
        var buffer = ByteBuffer()
        var serializer = RequestSerializer()
        do throws(HTTPMessageError) {
            try serializer.head(.get, target: wire.target, fields: fields, into: &buffer)
        } catch {
            throw ClientError(.badRequest, "\(error)")
        }
        var head = unsafe Array(buffer.unsafeBytes)
        head.removeLast(2)
        head += Array("Connection: Upgrade\r\n".utf8)
        if let cookie = request.cookieBytes {
            head += Array("Cookie: ".utf8) + cookie + Array("\r\n".utf8)
        }
        return head + Array("\r\n".utf8)
    }

    /// Fields that belong to the handshake, to the connection or to the proxy.
    private static func isOwn(_ name: HTTPFieldName) -> Bool {
        switch name {
        case .connection, .upgrade, .contentLength, .transferEncoding, .proxyAuthorization,
            .secWebSocketKey, .secWebSocketVersion, .secWebSocketProtocol, .secWebSocketExtensions:
            true
        default: false
        }
    }

    // MARK: The response

    /// Receives bytes of the response, and the bytes after it.
    /// - Returns: the outcome; nil when more bytes are needed.
    /// - Throws: `.badResponse`, `.headTooLong`.
    mutating func receive(
        _ bytes: UnsafeRawBufferPointer, from request: ClientRequest
    ) throws(ClientError) -> Outcome? {
        received += bytes.count
        unsafe parser.append(bytes.bindMemory(to: UInt8.self).span)
        do throws(HTTPParseError) {
            while let step = try nextStep(for: request) {
                switch step {
                case .head(let head):
                    response = head
                    // The content of a refusal is not read.
                    if head.status != .switchingProtocols { return outcome }
                case .end: return outcome
                case .other: break
                }
            }
        } catch {
            throw ClientError(.badResponse, "\(error)")
        }
        guard received <= limit else {
            throw ClientError(.headTooLong, "more than \(limit) bytes")
        }
        return nil
    }

    private enum Step {
        case head(ClientResponse)
        case end
        case other
    }

    private mutating func nextStep(
        for request: ClientRequest
    ) throws(HTTPParseError) -> Step? {
        guard let event = try parser.next() else { return nil }
        switch consume event {
        case .head(let head): return .head(Self.response(head, to: request))
        case .end: return .end
        case .interim: return .other
        case .content: return .other
        }
    }

    /// The bytes after the response, which are the first WebSocket frames.
    mutating func takeRest() -> [UInt8] { parser.takeRest() }

    private static func response(
        _ head: borrowing ResponseHead, to request: ClientRequest
    ) -> ClientResponse {
        ClientResponse(url: request.url, status: head.status, fields: HTTPFields(head.fields))
    }

    private var outcome: Outcome? {
        guard let response else { return nil }
        do throws(WebSocketHandshakeError) {
            return .accepted(try offer.check(status: response.status, fields: response.fields))
        } catch {
            guard error.kind == .unexpectedStatus else {
                return .refused(ClientError(.badResponse, error.description, underlying: error))
            }
            return .refused(
                ClientError(
                    .webSocketRefused(response.status), "the server answered \(response.status)",
                    underlying: error))
        }
    }
}
