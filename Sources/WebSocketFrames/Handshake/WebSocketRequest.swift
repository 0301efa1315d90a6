public import HTTPParser

/// A client's handshake as a server reads it.
///
/// ```swift
/// let handshake = try WebSocketRequest(method: head.method, version: head.version, fields: fields)
/// let chosen = handshake.firstProtocol(among: ["chat.v2"])
/// let deflate = DeflateExtension.accept(handshake.deflateOffers)
/// let answer = try handshake.answer(protocol: chosen, deflate: deflate)
/// ```
///
/// RFC 6455, section 4.2.1.
public struct WebSocketRequest: Hashable, Sendable {
    /// The key.
    public let key: WebSocketKey
    /// The subprotocols that the client offers, in order of preference.
    public let protocols: [String]
    /// The valid offers of permessage-deflate, in order of preference.
    public let deflateOffers: [DeflateExtension.Offer]

    /// Checks a request.
    ///
    /// `Host` and `Origin` are not checked here: the server has checked the host, and the caller
    /// has to check the origin.
    /// - Throws: `.noUpgrade`, `.unsupportedVersion`, `.invalidKey`, `.invalidProtocols`,
    ///   `.invalidExtensions`.
    public init(
        method: HTTPMethod, version: HTTPVersion, fields: HTTPFields
    ) throws(WebSocketHandshakeError) {
        guard method == .get, version >= .http11, fields.upgradesToWebSocket else {
            throw WebSocketHandshakeError(.noUpgrade)
        }
        guard fields.single(.secWebSocketVersion) == "13" else {
            throw WebSocketHandshakeError(.unsupportedVersion)
        }
        guard let key = fields.single(.secWebSocketKey).flatMap(WebSocketKey.init) else {
            throw WebSocketHandshakeError(.invalidKey)
        }
        guard let protocols = fields.webSocketProtocols,
            Set(protocols).count == protocols.count
        else { throw WebSocketHandshakeError(.invalidProtocols) }
        let extensions = fields.values(of: .secWebSocketExtensions)
        guard let offers = DeflateExtension.offers(in: extensions) else {
            throw WebSocketHandshakeError(.invalidExtensions)
        }
        self.key = key
        self.protocols = protocols
        deflateOffers = offers
    }

    /// The client's first choice among the subprotocols of the server; nil for none.
    public func firstProtocol(among supported: [String]) -> String? {
        protocols.first { supported.contains($0) }
    }

    /// The fields of the answer, which has the status 101.
    /// - Parameters:
    ///   - protocol: one of `protocols`, or nil for none.
    ///   - deflate: the agreement on compression, or nil for none.
    /// - Throws: `.hashUnavailable`.
    public func answer(
        protocol: String? = nil, deflate: DeflateExtension? = nil
    ) throws(WebSocketHandshakeError) -> HTTPFields {
        precondition(`protocol`.map(protocols.contains) ?? true, "a subprotocol without an offer")
        guard let accept = key.accept else { throw WebSocketHandshakeError(.hashUnavailable) }
        var fields: HTTPFields = [
            .connection: "Upgrade", .upgrade: "websocket", .secWebSocketAccept: accept,
        ]
        if let `protocol` { fields.append(.secWebSocketProtocol, `protocol`) }
        if let deflate {
            let offer = deflateOffers.first
            let value = offer.map { deflate.fieldValue(answering: $0) } ?? deflate.fieldValue
            fields.append(.secWebSocketExtensions, value)
        }
        return fields
    }
}
