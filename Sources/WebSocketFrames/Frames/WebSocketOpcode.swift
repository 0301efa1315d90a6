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
    /// The answer to a ping, or a sign of life.
    case pong = 0xA

    /// Whether it is a control frame: short, whole, and allowed between fragments (section 5.5).
    public var isControl: Bool { rawValue & 0x8 != 0 }
}
