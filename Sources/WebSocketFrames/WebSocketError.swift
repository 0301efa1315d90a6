internal import HTTPParser

/// A peer's violation of the protocol, or a limit that it exceeds: the problem, its place, and the
/// code of the close frame that answers it.
///
/// The error ends the connection (RFC 6455 section 7.1.7). Neither its kind nor its offset depends
/// on how the bytes were split.
public struct WebSocketError: Error, Hashable, Sendable {
    /// The kind of an error.
    @nonexhaustive
    public enum Kind: String, Sendable, CaseIterable {
        /// A reserved bit that no agreed extension uses (RFC 6455 section 5.2).
        case reservedBits
        /// An opcode that is not registered (section 5.2).
        case reservedOpcode
        /// A client's frame without a mask (section 5.1).
        case missingMask
        /// A server's frame with a mask (section 5.1).
        case unexpectedMask
        /// A control frame in fragments (section 5.5).
        case fragmentedControl
        /// A control frame with more than 125 bytes (section 5.5).
        case controlTooLong
        /// A length that is not written in the shortest form (section 5.2).
        case lengthNotMinimal
        /// A length of 64 bits whose highest bit is set (section 5.2).
        case lengthTooLarge
        /// A continuation without a message to continue (section 5.4).
        case unexpectedContinuation
        /// A new message before the last fragment of the one before it (section 5.4).
        case unfinishedMessage
        /// A message longer than the limit.
        case messageTooLong
        /// Text that is not UTF-8 (section 8.1).
        case invalidText
        /// A close frame of one byte (section 5.5.1).
        case invalidClosePayload
        /// A close code that must not go on the wire (section 7.4).
        case invalidCloseCode
        /// A compressed message that is ill-formed (RFC 7692 section 7.2.2).
        case invalidCompressedData
        /// A compressed message whose content exceeds the limit of ``WebSocketOptions/ratio``.
        case ratioTooHigh
        /// There is not enough memory for the decompressor.
        case outOfMemory
        /// No pong in time.
        case pongTimeout
        /// No close frame in time.
        case closeTimeout
    }

    /// The kind of the error.
    public let kind: Kind
    /// The offset of the invalid frame, in bytes from the start of the stream.
    public internal(set) var offset: Int64

    /// Creates an error.
    public init(_ kind: Kind, at offset: Int64 = 0) {
        self.kind = kind
        self.offset = offset
    }

    /// The code of the close frame that answers the error (RFC 6455 section 7.4.1).
    public var closeCode: CloseCode {
        switch kind {
        case .messageTooLong, .ratioTooHigh: .messageTooBig
        case .invalidText, .invalidCompressedData: .invalidPayload
        case .outOfMemory, .pongTimeout: .internalError
        case .closeTimeout: .abnormal
        default: .protocolError
        }
    }
}

extension WebSocketError: CustomStringConvertible {
    /// Kind and offset in one line, such as `reserved bits in the frame at byte 17`.
    public var description: String { "\(reason) in the frame at byte \(offset)" }

    /// The kind in plain words.
    public var reason: String { lowercaseWords(of: kind.rawValue) }
}
