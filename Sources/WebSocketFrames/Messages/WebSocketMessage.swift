internal import HTTPParser

/// A message: text or bytes.
///
/// RFC 6455, section 5.6.
public enum WebSocketMessage: Hashable, Sendable {
    /// Text, in UTF-8 on the wire.
    case text(String)
    /// Bytes.
    case binary([UInt8])

    /// Whether a message is text or bytes.
    public enum Kind: Hashable, Sendable {
        /// Text, in UTF-8.
        case text
        /// Bytes.
        case binary

        /// The opcode of the message's first frame.
        public var opcode: WebSocketOpcode { self == .text ? .text : .binary }

        /// The kind of a message whose first frame has this opcode.
        init?(_ opcode: WebSocketOpcode) {
            switch opcode {
            case .text: self = .text
            case .binary: self = .binary
            default: return nil
            }
        }
    }

    /// Whether the message is text or bytes.
    public var kind: Kind {
        switch self {
        case .text: .text
        case .binary: .binary
        }
    }

    /// The content as bytes.
    public var bytes: [UInt8] {
        switch self {
        case .text(let text): Array(text.utf8)
        case .binary(let bytes): bytes
        }
    }

    /// Creates a message from checked content.
    init(_ kind: Kind, checked bytes: Span<UInt8>) {
        self = unsafe bytes.withUnsafeBufferPointer { bytes in
            switch kind {
            case .text: unsafe .text(String(decoding: bytes, as: UTF8.self))
            case .binary: unsafe .binary(Array(bytes))
            }
        }
    }
}

/// A piece of a message. Readers use pieces if they do not wait for the whole message.
public struct WebSocketPiece: Hashable, Sendable {
    /// Whether the message is text or bytes.
    public var kind: WebSocketMessage.Kind
    /// The bytes; text is UTF-8, and a character may begin in one piece and end in the next.
    public var bytes: [UInt8]
    /// Whether the message ends with this piece.
    public var isLast: Bool

    /// Creates a piece.
    public init(_ kind: WebSocketMessage.Kind, _ bytes: [UInt8], isLast: Bool) {
        self.kind = kind
        self.bytes = bytes
        self.isLast = isLast
    }
}
