/// A frame without its payload.
///
/// RFC 6455, section 5.2.
public struct WebSocketFrameHeader: Hashable, Sendable {
    /// The kind of the frame.
    public var opcode: WebSocketOpcode
    /// Whether the frame is the last fragment of its message; always true in a control frame.
    public var isFinal: Bool
    /// Whether the frame begins a compressed message (RFC 7692 section 6): the bit RSV1.
    public var isCompressed: Bool
    /// The length of the payload in bytes, 0...2^63-1.
    public var length: Int64
    /// The mask of the payload in frames of clients, otherwise nil.
    public var maskingKey: MaskingKey?

    /// Creates a header.
    public init(
        _ opcode: WebSocketOpcode, isFinal: Bool = true, isCompressed: Bool = false,
        length: Int64, maskingKey: MaskingKey? = nil
    ) {
        precondition(length >= 0, "a negative length")
        self.opcode = opcode
        self.isFinal = isFinal
        self.isCompressed = isCompressed
        self.length = length
        self.maskingKey = maskingKey
    }

    /// The length of the header on the wire in bytes, 2...14.
    public var byteCount: Int {
        (length < 126 ? 2 : length < 1 << 16 ? 4 : 10) + (maskingKey == nil ? 0 : 4)
    }
}
