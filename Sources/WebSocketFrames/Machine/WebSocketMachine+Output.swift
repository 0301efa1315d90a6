internal import HTTPCodecs
public import HTTPParser

// From messages to bytes.
extension WebSocketMachine {
    /// Appends a message.
    /// - Throws: `.closed`, `.messageUnfinished`, `.outOfMemory`.
    public mutating func send(
        _ message: WebSocketMessage, into output: inout ByteBuffer
    ) throws(WebSocketSendError) {
        let bytes = message.bytes
        try send(bytes.span, as: message.kind, into: &output)
    }

    /// Appends a message.
    /// - Parameters:
    ///   - bytes: the content; text must be UTF-8, otherwise the peer ends the connection.
    ///   - kind: whether it is text or bytes.
    ///   - output: the buffer to which the frames are appended.
    /// - Throws: `.closed`, `.messageUnfinished`, `.outOfMemory`.
    public mutating func send(
        _ bytes: Span<UInt8>, as kind: WebSocketMessage.Kind, into output: inout ByteBuffer
    ) throws(WebSocketSendError) {
        guard phase == .open else { throw .closed }
        guard outgoing == nil else { throw .messageUnfinished }
        guard deflate != nil, bytes.count >= options.compressionFloor else {
            return write(bytes, as: kind, isCompressed: false, into: &output)
        }
        let compressed = try compressed(bytes, isLast: true)
        // With a context the peer must get the compressed form, to which later messages may refer.
        if compressed.count < bytes.count || deflate?.keepsContext(of: role) == true {
            write(compressed.span, as: kind, isCompressed: true, into: &output)
        } else {
            write(bytes, as: kind, isCompressed: false, into: &output)
        }
    }

    /// Appends a piece of a message, as a fragment that the peer can read immediately.
    /// - Parameters:
    ///   - bytes: the next bytes of the message.
    ///   - kind: whether it is text or bytes, the same for all of its pieces.
    ///   - isLast: whether the message ends with them.
    ///   - output: where the frame is appended.
    /// - Throws: `.closed`, `.messageUnfinished` for a piece of another kind, `.outOfMemory`.
    public mutating func send(
        piece bytes: Span<UInt8>, of kind: WebSocketMessage.Kind, isLast: Bool,
        into output: inout ByteBuffer
    ) throws(WebSocketSendError) {
        guard phase == .open else { throw .closed }
        let isFirst = outgoing == nil
        guard isFirst || outgoing == kind else { throw .messageUnfinished }
        if isFirst {
            isSendingCompressed =
                deflate != nil && (!isLast || bytes.count >= options.compressionFloor)
        }
        let opcode = isFirst ? kind.opcode : .continuation
        if isSendingCompressed {
            let compressed = try compressed(bytes, isLast: isLast)
            write(
                compressed.span, as: opcode, isFinal: isLast, isCompressed: isFirst, into: &output)
        } else {
            write(bytes, as: opcode, isFinal: isLast, into: &output)
        }
        outgoing = isLast ? nil : kind
    }

    /// Appends a ping of the caller; its pong is reported as an event.
    /// - Parameters:
    ///   - payload: 125 bytes at most; more trap.
    ///   - output: where the frame is appended.
    /// - Throws: `.closed`.
    public mutating func ping(
        _ payload: [UInt8] = [], into output: inout ByteBuffer
    ) throws(WebSocketSendError) {
        guard phase == .open else { throw .closed }
        write(payload, as: .ping, into: &output)
        keepAlive.wrotePing(payload)
    }

    /// Begins the closing handshake; does nothing if a close frame was sent before.
    ///
    /// A message that is sent in pieces is cut off. Messages of the peer are still reported until
    /// its close frame.
    /// - Parameters:
    ///   - code: a sendable code, or nil for none; other codes trap.
    ///   - reason: the reason; characters beyond 123 bytes are left out.
    ///   - now: the time.
    ///   - output: where the frame is appended.
    public mutating func close(
        _ code: CloseCode? = .normal, reason: String = "", at now: Duration,
        into output: inout ByteBuffer
    ) {
        guard phase == .open else { return }
        write(CloseFrame(code, reason: reason).payload, as: .close, into: &output)
        phase = .closeSent
        // After a held fault no answer is read, so the deadline is now.
        closeDeadline = heldFault == nil ? now + options.closeTimeout : now
        MessageStreams.endDeflating(&streams)
        outgoing = nil
    }

    private mutating func compressed(
        _ bytes: Span<UInt8>, isLast: Bool
    ) throws(WebSocketSendError) -> [UInt8] {
        guard let deflate else { return [] }
        let (keepsContext, bits) = (deflate.keepsContext(of: role), deflate.windowBits(of: role))
        let streams = MessageStreams.made(in: &streams)
        if streams.deflater == nil {
            do throws(CodecError) {
                streams.deflater = try MessageDeflater(
                    windowBits: bits, keepsContext: keepsContext, level: options.compressionLevel,
                    pool: pool)
            } catch {
                throw .outOfMemory
            }
        }
        var output: [UInt8] = []
        streams.deflater?.deflate(bytes, isLast: isLast, into: &output)
        // Drops the stream even for a smaller window, so that an idle connection keeps no memory.
        if isLast, !keepsContext { MessageStreams.endDeflating(&self.streams) }
        return output
    }
}

// Frames.
extension WebSocketMachine {
    mutating func write(
        _ payload: [UInt8], as opcode: WebSocketOpcode, into output: inout ByteBuffer
    ) {
        write(payload.span, as: opcode, isFinal: true, into: &output)
    }

    private mutating func write(
        _ payload: Span<UInt8>, as opcode: WebSocketOpcode, isFinal: Bool,
        isCompressed: Bool = false, into output: inout ByteBuffer
    ) {
        let start = output.count
        writer.write(
            payload, as: opcode, isFinal: isFinal, isCompressed: isCompressed,
            maskingKey: role == .client ? maskingKeys() : nil, into: &output)
        writtenCount += Int64(output.count - start)
    }

    private mutating func write(
        _ payload: Span<UInt8>, as kind: WebSocketMessage.Kind, isCompressed: Bool,
        into output: inout ByteBuffer
    ) {
        let start = output.count
        writer.writeMessage(
            payload, as: kind, fragmentBytes: options.fragmentBytes, isCompressed: isCompressed,
            maskingKey: { [role, maskingKeys] in role == .client ? maskingKeys() : nil },
            into: &output)
        writtenCount += Int64(output.count - start)
    }
}
