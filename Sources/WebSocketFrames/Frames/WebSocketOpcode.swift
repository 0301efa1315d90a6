/// The kind of a frame.
///
/// RFC 6455, sections 5.2 and 11.8.
public enum WebSocketOpcode: UInt8, Hashable, Sendable, CaseIterable {
    /// A fragment of a message after the first.
    case continuation = 0x0
    /// A message of text, or its first fragment.
    case text = 0x1
    /// A message of bytes, or its first fragment.
    case binary = 0x2
    /// The last frame that its sender sends.
    case close = 0x8
    /// Asks for a pong.
    case ping = 0x9
    /// The answer to a ping, or an unsolicited heartbeat.
    case pong = 0xA

    /// Whether the frame is a control frame: at most 125 bytes, not fragmented, and allowed between
    /// the fragments of a message (section 5.5).
    public var isControl: Bool { rawValue & 0x8 != 0 }
}
