internal import HTTPCodecs
internal import HTTPCrypto
internal import HTTPParser

/// The key of a handshake. A server that speaks WebSocket proves it with the answer to the key.
///
/// RFC 6455, section 4.2.2.
public struct WebSocketKey: Hashable, Sendable {
    /// The key as `Sec-WebSocket-Key` carries it: 16 bytes in base64.
    public let text: String

    /// Reads a key; nil unless it is 16 bytes in base64.
    public init?(_ text: String) {
        guard text.utf8.count == 24, Base64.decode(Array(text.utf8))?.count == 16 else {
            return nil
        }
        self.text = text
    }

    /// Creates a key of 16 random bytes.
    public static func random() -> WebSocketKey {
        WebSocketKey(bytes: Crypto.random(16))
    }

    private init(bytes: [UInt8]) {
        text = Base64.text(of: bytes)
    }

    /// The value of `Sec-WebSocket-Accept` for this key.
    ///
    /// Nil if the system forbids SHA-1.
    public var accept: String? {
        guard let digest = MessageDigest(.sha1) else { return nil }
        digest.update(Array((text + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))
        return Base64.text(of: digest.finish())
    }
}
