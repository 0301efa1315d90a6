import HTTPParser
import Testing
import WebSocketFrames

@Suite("RFC 6455 section 4: the handshake")
struct HandshakeTests {
    private static let key = "dGhlIHNhbXBsZSBub25jZQ=="
    private static let request: HTTPFields = [
        .host: "server.example.com", .upgrade: "websocket", .connection: "Upgrade",
        .secWebSocketKey: key, .origin: "http://example.com",
        .secWebSocketProtocol: "chat, superchat", .secWebSocketVersion: "13",
    ]

    private func read(
        _ fields: HTTPFields, method: HTTPMethod = .get, version: HTTPVersion = .http11
    ) throws(WebSocketHandshakeError) -> WebSocketRequest {
        try WebSocketRequest(method: method, version: version, fields: fields)
    }

    @Test("section 1.3: the server's fields for the request of the example are right")
    func example() throws {
        let request = try read(Self.request)
        #expect(request.protocols == ["chat", "superchat"])
        #expect(request.firstProtocol(among: ["superchat", "chat"]) == "chat")
        #expect(request.firstProtocol(among: ["other"]) == nil)
        let answer = try request.answer(protocol: "chat")
        #expect(answer[.secWebSocketAccept] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(answer[.upgrade] == "websocket")
        #expect(answer[.connection] == "Upgrade")
        #expect(answer[.secWebSocketProtocol] == "chat")
    }

    static let variants: [(HTTPFieldName, String?, WebSocketHandshakeError.Kind?)] = [
        (.upgrade, "WebSocket", nil), (.upgrade, "h2c, websocket", nil),
        (.upgrade, nil, .noUpgrade),
        (.upgrade, "websockets", .noUpgrade), (.upgrade, "websoc\u{212A}et", .noUpgrade),
        (.connection, "keep-alive, UPGRADE", nil),
        (.connection, "close", .noUpgrade), (.connection, nil, .noUpgrade),
        (.secWebSocketVersion, "8", .unsupportedVersion),
        (.secWebSocketVersion, nil, .unsupportedVersion),
        (.secWebSocketVersion, "013", .unsupportedVersion),
        (.secWebSocketKey, nil, .invalidKey), (.secWebSocketKey, "", .invalidKey),
        (.secWebSocketKey, "dGhlIHNhbXBsZSBub25jZQ", .invalidKey),
        (.secWebSocketKey, "dGhlIHNhbXBsZSBub25jZR==", .invalidKey),
        (.secWebSocketKey, "dGhlIHNhbXBsZSBub25jZTE=", .invalidKey),
        (.secWebSocketKey, "dGhlIHNhbXBsZSBub24=", .invalidKey),
        (.secWebSocketProtocol, nil, nil), (.secWebSocketProtocol, "a, a", .invalidProtocols),
        (.secWebSocketProtocol, "a b", .invalidProtocols),
        (.secWebSocketExtensions, "permessage-deflate; x=7", nil),
        (.secWebSocketExtensions, "permessage-deflate; =7", .invalidExtensions),
    ]

    @Test("section 4.2.1: a server checks each field", arguments: variants)
    func checksFields(name: HTTPFieldName, value: String?, kind: WebSocketHandshakeError.Kind?) {
        var fields = Self.request
        fields[name] = value
        let found = Result { () throws(WebSocketHandshakeError) in try read(fields) }
        switch found {
        case .success: #expect(kind == nil)
        case .failure(let error): #expect(error.kind == kind)
        }
    }

    @Test("method, version and repeated fields are checked")
    func checksRest() {
        #expect(throws: WebSocketHandshakeError(.noUpgrade)) {
            try read(Self.request, method: .post)
        }
        #expect(throws: WebSocketHandshakeError(.noUpgrade)) {
            try read(Self.request, version: .http10)
        }
        var fields = Self.request
        fields.append(.secWebSocketKey, Self.key)
        #expect(throws: WebSocketHandshakeError(.invalidKey)) { try read(fields) }
    }

    @Test("section 4.4: the error for an unsupported version suggests 426 and names version 13")
    func answersVersion() {
        let error = WebSocketHandshakeError(.unsupportedVersion)
        #expect(error.suggestedStatus == .upgradeRequired)
        #expect(error.suggestedFields[.secWebSocketVersion] == "13")
        #expect(WebSocketHandshakeError(.invalidKey).suggestedStatus == .badRequest)
    }

    @Test("the client accepts the server's response, and both agree on protocol and compression")
    func bothSides() throws {
        let offer = WebSocketOffer(protocols: ["chat.v2", "chat"])
        let request = try read(offer.fields)
        #expect(request.key == offer.key)
        let deflate = DeflateExtension.accept(request.deflateOffers)
        let answer = try request.answer(protocol: "chat", deflate: deflate)
        let agreement = try offer.check(status: .switchingProtocols, fields: answer)
        #expect(agreement.protocol == "chat")
        #expect(agreement.deflate == deflate)
        #expect(deflate != nil)
        #expect(WebSocketOffer().key != WebSocketOffer().key)
    }

    static let answers: [(HTTPFieldName, String?, WebSocketHandshakeError.Kind?)] = [
        (.upgrade, "WEBSOCKET", nil), (.upgrade, nil, .noUpgrade), (.upgrade, "h2c", .noUpgrade),
        (.connection, "upgrade, x", nil), (.connection, nil, .noUpgrade),
        (.secWebSocketAccept, nil, .wrongAccept),
        (.secWebSocketAccept, "S3pPLMBiTxaQ9kYGzzhZRbK+xOo=", .wrongAccept),
        (.secWebSocketProtocol, nil, nil), (.secWebSocketProtocol, "b", .unofferedProtocol),
        (.secWebSocketProtocol, "a, a", .invalidProtocols),
        (.secWebSocketExtensions, "permessage-deflate", .unofferedExtension),
    ]

    @Test("section 4.1: a client checks each field of the response", arguments: answers)
    func checksAnswer(name: HTTPFieldName, value: String?, kind: WebSocketHandshakeError.Kind?)
        throws
    {
        let key = try #require(WebSocketKey(Self.key))
        let offer = WebSocketOffer(protocols: ["a"], deflate: nil, key: key)
        var fields = try read(offer.fields).answer(protocol: "a")
        fields[name] = value
        let found = Result { () throws(WebSocketHandshakeError) in
            try offer.check(status: .switchingProtocols, fields: fields)
        }
        switch found {
        case .success: #expect(kind == nil)
        case .failure(let error): #expect(error.kind == kind)
        }
        #expect(throws: WebSocketHandshakeError(.unexpectedStatus)) {
            try offer.check(status: .ok, fields: fields)
        }
    }
}
