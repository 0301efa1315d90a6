internal import HTTPCodecs
public import HTTPParser

/// The offer in a client's handshake, which the client keeps to check the server's answer.
///
/// RFC 6455, section 4.1.
public struct WebSocketOffer: Hashable, Sendable {
    /// The key.
    public let key: WebSocketKey
    /// The offered subprotocols, in order of preference.
    public let protocols: [String]
    /// The offer of compression, or nil for none.
    public let deflate: DeflateExtension.Offer?

    /// The choices that both sides agreed on.
    public struct Agreement: Hashable, Sendable {
        /// The subprotocol, or nil for none.
        public let `protocol`: String?
        /// The parameters of compression, or nil for none.
        public let deflate: DeflateExtension?
    }

    /// Creates an offer.
    /// - Parameters:
    ///   - protocols: different tokens, in order of preference; anything else traps.
    ///   - deflate: the offer of compression, or nil for none.
    ///   - key: the key, a new one for each connection.
    public init(
        protocols: [String] = [], deflate: DeflateExtension.Offer? = DeflateExtension.Offer(),
        key: WebSocketKey = .random()
    ) {
        precondition(
            protocols.allSatisfy { FieldValues.isToken($0) }
                && Set(protocols).count == protocols.count, "subprotocols are different tokens")
        self.key = key
        self.protocols = protocols
        self.deflate = deflate
    }

    /// The fields of the request, without `Host` and `Origin`. The method is GET.
    public var fields: HTTPFields {
        var fields: HTTPFields = [
            .connection: "Upgrade", .upgrade: "websocket", .secWebSocketKey: key.text,
            .secWebSocketVersion: "13",
        ]
        if !protocols.isEmpty {
            fields.append(.secWebSocketProtocol, protocols.joined(separator: ", "))
        }
        if let deflate { fields.append(.secWebSocketExtensions, deflate.fieldValue) }
        return fields
    }

    /// Checks the server's answer.
    /// - Throws: `.unexpectedStatus`, `.noUpgrade`, `.wrongAccept`, `.invalidProtocols`,
    ///   `.unofferedProtocol`, `.invalidExtensions`, `.unofferedExtension`, `.hashUnavailable`.
    public func check(
        status: HTTPStatus, fields: HTTPFields
    ) throws(WebSocketHandshakeError) -> Agreement {
        guard status == .switchingProtocols else {
            throw WebSocketHandshakeError(.unexpectedStatus)
        }
        guard fields.single(.upgrade)?.isASCII("websocket") == true, fields.upgradesToWebSocket
        else { throw WebSocketHandshakeError(.noUpgrade) }
        guard let accept = key.accept else { throw WebSocketHandshakeError(.hashUnavailable) }
        guard fields.single(.secWebSocketAccept)?.hasBytes(of: accept) == true else {
            throw WebSocketHandshakeError(.wrongAccept)
        }
        return Agreement(
            protocol: try checkedProtocol(fields),
            deflate: try DeflateExtension(
                answer: fields.values(of: .secWebSocketExtensions), to: deflate))
    }

    private func checkedProtocol(
        _ fields: HTTPFields
    ) throws(WebSocketHandshakeError) -> String? {
        guard let chosen = fields.webSocketProtocols, chosen.count <= 1 else {
            throw WebSocketHandshakeError(.invalidProtocols)
        }
        guard chosen.allSatisfy(protocols.contains) else {
            throw WebSocketHandshakeError(.unofferedProtocol)
        }
        return chosen.first
    }
}
