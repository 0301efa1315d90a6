public import HTTPParser

/// Writes frames.
///
/// ```swift
/// let writer = FrameWriter(role: .server)
/// var output = ByteBuffer()
/// writer.write(Array("hello".utf8).span, as: .text, into: &output)
/// ```
///
/// RFC 6455, section 5.2.
public struct FrameWriter: Sendable {
    /// The side that writes the frames.
    public let role: WebSocketRole

    /// Creates a writer.
    public init(role: WebSocketRole) {
        self.role = role
    }

    /// Appends a frame.
    /// - Parameters:
    ///   - payload: the content; more than 125 bytes in a control frame trap.
    ///   - opcode: the kind of the frame.
    ///   - isFinal: whether it is the last fragment of its message.
    ///   - isCompressed: whether it begins a compressed message.
    ///   - maskingKey: 4 random bytes for a client's frame, nil for a server's.
    /// - output: the buffer to which the frame is appended.
    public func write(
        _ payload: Span<UInt8>, as opcode: WebSocketOpcode, isFinal: Bool = true,
        isCompressed: Bool = false, maskingKey: MaskingKey? = nil, into output: inout ByteBuffer
    ) {
        let header = WebSocketFrameHeader(
            opcode, isFinal: isFinal, isCompressed: isCompressed, length: Int64(payload.count),
            maskingKey: maskingKey)
        output.reserve(header.byteCount + payload.count)
        writeHeader(header, into: &output)
        guard let maskingKey else { return output.append(payload) }
        unsafe output.withRoom(payload.count) { room in
            let room = unsafe UnsafeMutableRawBufferPointer(rebasing: room[..<payload.count])
            unsafe payload.withUnsafeBytes { unsafe room.copyMemory(from: $0) }
            unsafe maskingKey.apply(to: room)
            return payload.count
        }
    }

    /// Appends a message in fragments of at most `fragmentBytes` bytes.
    /// - Parameters:
    ///   - payload: the content of the message.
    ///   - kind: whether it is text or bytes.
    ///   - fragmentBytes: the longest fragment in bytes, above 0. The receiver can get control
    ///     frames between fragments.
    ///   - isCompressed: whether the payload is compressed.
    ///   - maskingKey: returns 4 random bytes for each frame of a client, nil for a server.
    ///   - output: the buffer to which the frames are appended.
    public func writeMessage(
        _ payload: Span<UInt8>, as kind: WebSocketMessage.Kind, fragmentBytes: Int = .max,
        isCompressed: Bool = false, maskingKey: () -> MaskingKey? = { nil },
        into output: inout ByteBuffer
    ) {
        precondition(fragmentBytes > 0, "an empty fragment")
        var position = 0
        repeat {
            let count = min(payload.count - position, fragmentBytes)
            write(
                payload.extracting(position..<(position + count)),
                as: position == 0 ? kind.opcode : .continuation,
                isFinal: position + count == payload.count,
                isCompressed: isCompressed && position == 0, maskingKey: maskingKey(),
                into: &output)
            position += count
        } while position < payload.count
    }

    /// Appends the header of a frame; the caller writes the payload.
    /// - Parameters:
    ///   - header: the header. A client's header must have a mask, a server's must not; a control
    ///     frame is not fragmented and has at most 125 bytes. Other headers trap.
    ///   - output: the buffer to which the header is appended.
    public func writeHeader(_ header: WebSocketFrameHeader, into output: inout ByteBuffer) {
        precondition(
            (header.maskingKey != nil) == (role == .client), "clients mask, servers do not")
        precondition(
            !header.opcode.isControl || header.isFinal && header.length <= 125,
            "a control frame is whole and has 125 bytes at most")
        let bits: UInt8 = (header.isFinal ? 0x80 : 0) | (header.isCompressed ? 0x40 : 0)
        output.append(bits | header.opcode.rawValue)
        writeLength(header.length, mask: header.maskingKey == nil ? 0 : 0x80, into: &output)
        guard let word = header.maskingKey?.word else { return }
        for shift in stride(from: UInt32(0), through: 24, by: 8) {
            output.append(UInt8(truncatingIfNeeded: word >> shift))
        }
    }

    /// The length in its shortest form.
    private func writeLength(_ length: Int64, mask: UInt8, into output: inout ByteBuffer) {
        guard length > 125 else { return output.append(mask | UInt8(truncatingIfNeeded: length)) }
        let isShort = length < 1 << 16
        output.append(mask | (isShort ? 126 : 127))
        for shift in stride(from: isShort ? Int64(8) : 56, through: 0, by: -8) {
            output.append(UInt8(truncatingIfNeeded: length >> shift))
        }
    }
}
