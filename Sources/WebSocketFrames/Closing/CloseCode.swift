/// The reason for closing a connection, as a number.
///
/// RFC 6455, section 7.4, and the registry of close codes.
public struct CloseCode: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: UInt16

    /// Creates a code of any number; see ``isSendable``.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// 1000: the purpose of the connection is fulfilled.
    public static var normal: Self { Self(rawValue: 1000) }
    /// 1001: a server shuts down, or a page is left.
    public static var goingAway: Self { Self(rawValue: 1001) }
    /// 1002: the peer violated the protocol.
    public static var protocolError: Self { Self(rawValue: 1002) }
    /// 1003: an unaccepted kind of message, such as bytes instead of text.
    public static var unsupportedData: Self { Self(rawValue: 1003) }
    /// 1005: the close frame had no code. Never on the wire.
    public static var noStatus: Self { Self(rawValue: 1005) }
    /// 1006: the connection ended without a close frame. Never on the wire.
    public static var abnormal: Self { Self(rawValue: 1006) }
    /// 1007: content that is invalid for its kind, such as text that is not UTF-8.
    public static var invalidPayload: Self { Self(rawValue: 1007) }
    /// 1008: a message that the policy of the receiver forbids.
    public static var policyViolation: Self { Self(rawValue: 1008) }
    /// 1009: a message that is too long for the receiver.
    public static var messageTooBig: Self { Self(rawValue: 1009) }
    /// 1010: the server did not agree to an extension that the client needs.
    public static var mandatoryExtension: Self { Self(rawValue: 1010) }
    /// 1011: an unexpected condition.
    public static var internalError: Self { Self(rawValue: 1011) }
    /// 1012: the service restarts.
    public static var serviceRestart: Self { Self(rawValue: 1012) }
    /// 1013: try again later.
    public static var tryAgainLater: Self { Self(rawValue: 1013) }
    /// 1014: a gateway got an invalid response.
    public static var badGateway: Self { Self(rawValue: 1014) }
    /// 1015: the TLS handshake failed. Never on the wire.
    public static var tlsHandshake: Self { Self(rawValue: 1015) }

    /// Whether a close frame may contain the code: a registered code that is not reserved, or 3000
    /// to 4999 for libraries and programs (section 7.4.2).
    public var isSendable: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

extension CloseCode: CustomStringConvertible {
    /// The number in digits.
    public var description: String { "\(rawValue)" }
}
