public import HTTPParser

/// The error of a handshake that does not lead to a WebSocket connection.
///
/// RFC 6455, sections 4.1 and 4.2.
public struct WebSocketHandshakeError: Error, Hashable, Sendable {
    /// The kind of an error.
    @nonexhaustive
    public enum Kind: String, Sendable, CaseIterable {
        /// The request does not ask for WebSocket: its method is not GET, its version is HTTP/1.0,
        /// or `Upgrade` or `Connection` is missing (section 4.2.1).
        case noUpgrade
        /// `Sec-WebSocket-Version` is not 13 (section 4.2.2).
        case unsupportedVersion
        /// `Sec-WebSocket-Key` is not 16 bytes in base64 (section 4.2.1).
        case invalidKey
        /// `Sec-WebSocket-Protocol` is not a list of different tokens, or an answer names several
        /// (sections 4.1 and 4.2.2).
        case invalidProtocols
        /// `Sec-WebSocket-Extensions` violates its grammar (section 9.1), or an answer does not
        /// match the offer (RFC 7692 section 7.1).
        case invalidExtensions
        /// The answer has another status than 101.
        case unexpectedStatus
        /// `Sec-WebSocket-Accept` does not match the key (section 4.1).
        case wrongAccept
        /// The server chose a subprotocol that was not offered.
        case unofferedProtocol
        /// The server chose an extension that was not offered.
        case unofferedExtension
        /// The system forbids SHA-1, which the handshake needs.
        case hashUnavailable
    }

    /// The kind of the error.
    public let kind: Kind

    /// Creates an error.
    public init(_ kind: Kind) {
        self.kind = kind
    }

    /// The status for a server's answer.
    public var suggestedStatus: HTTPStatus {
        switch kind {
        case .noUpgrade, .unsupportedVersion: .upgradeRequired
        case .hashUnavailable: .internalServerError
        default: .badRequest
        }
    }

    /// The fields for a server's answer: the protocol and version to upgrade to (section 4.4).
    public var suggestedFields: HTTPFields {
        switch kind {
        case .noUpgrade, .unsupportedVersion:
            [.connection: "Upgrade", .upgrade: "websocket", .secWebSocketVersion: "13"]
        default: [:]
        }
    }
}

extension WebSocketHandshakeError: CustomStringConvertible {
    /// The kind in plain words.
    public var description: String { lowercaseWords(of: kind.rawValue) }
}
