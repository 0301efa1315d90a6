internal import HTTPCodecs
public import HTTPParser

extension HTTPFieldName {
    /// `Sec-WebSocket-Accept`.
    public static var secWebSocketAccept: Self { Self(unchecked: "Sec-WebSocket-Accept") }
    /// `Sec-WebSocket-Extensions`.
    public static var secWebSocketExtensions: Self { Self(unchecked: "Sec-WebSocket-Extensions") }
    /// `Sec-WebSocket-Key`.
    public static var secWebSocketKey: Self { Self(unchecked: "Sec-WebSocket-Key") }
    /// `Sec-WebSocket-Protocol`.
    public static var secWebSocketProtocol: Self { Self(unchecked: "Sec-WebSocket-Protocol") }
    /// `Sec-WebSocket-Version`.
    public static var secWebSocketVersion: Self { Self(unchecked: "Sec-WebSocket-Version") }
}

extension HTTPFields {
    /// Whether a list of tokens contains a token, ignoring the case of ASCII letters. Unicode case
    /// folding would equate a Kelvin sign with a K, and an intermediary would see another protocol.
    func hasToken(_ token: StaticString, in name: HTTPFieldName) -> Bool {
        values(of: name).contains { value in
            FieldValues.list(value)?.contains { $0.isASCII(token) } ?? false
        }
    }

    /// The value of a field that must occur exactly once; otherwise nil.
    func single(_ name: HTTPFieldName) -> String? {
        let values = values(of: name)
        return values.count == 1 ? values.first : nil
    }

    /// The subprotocols of a handshake; nil if they are not a list of tokens.
    var webSocketProtocols: [String]? {
        FieldValues.tokens(values(of: .secWebSocketProtocol).joined(separator: ","))
    }

    /// Whether the fields ask for, or grant, the change to WebSocket.
    var upgradesToWebSocket: Bool {
        hasToken("websocket", in: .upgrade) && hasToken("upgrade", in: .connection)
    }
}
