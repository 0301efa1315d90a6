internal import HTTPCodecs
public import HTTPParser

// From bytes to events.
extension WebSocketMachine {
    /// The most compressed bytes of one step if pieces are delivered; they decompress to at most 4
    /// MiB.
    private static var compressedStep: Int { 4 << 10 }
    /// The length from which a piece is delivered before its frame or input ends.
    private static var pieceBytes: Int { 64 << 10 }

    /// Reads from `position` to the next event, and moves `position` there.
    ///
    /// After the last event, and after a held fault, input is dropped.
    /// - Parameters:
    ///   - bytes: the input; payload is unmasked in place.
    ///   - position: the offset of the first unread byte, 0...`bytes.count`. Bytes from the new
    ///     position on are unchanged.
    ///   - now: the time.
    ///   - output: the buffer to which pongs and close frames are appended.
    /// - Returns: nil when all bytes are read.
    public mutating func next(
        _ bytes: inout MutableSpan<UInt8>, from position: inout Int, at now: Duration,
        into output: inout ByteBuffer
    ) -> WebSocketEvent? {
        guard phase != .ended, heldFault == nil else {
            position = bytes.count
            return nil
        }
        do throws(WebSocketError) {
            return try step(&bytes, &position, at: now, into: &output)
        } catch {
            position = bytes.count
            let fault = WebSocketError(error.kind, at: parser.frameOffset)
            guard holdsFaults, phase == .open else { return fail(fault, into: &output) }
            heldFault = fault
            closeDeadline = now + options.closeTimeout
            return nil
        }
    }

    private mutating func step(
        _ bytes: inout MutableSpan<UInt8>, _ position: inout Int, at now: Duration,
        into output: inout ByteBuffer
    ) throws(WebSocketError) -> WebSocketEvent? {
        while let event = try parser.next(&bytes, from: &position, upTo: stepLimit) {
            switch event {
            case .header: try beginFrame()
            case .payload(let range): try take(bytes.span.extracting(range))
            case .end:
                if let event = try endFrame(at: now, into: &output) { return event }
            }
            let isLast = parser.isAtFrameEnd && header.isFinal
            if !isLast, assembler.content.count >= Self.pieceBytes, let piece = try takePiece() {
                return piece
            }
        }
        if parser.isInsideFrame, !bytes.isEmpty {
            keepAlive.sawPartOfFrame(pongBy: now + options.pongTimeout)
        }
        return try assembler.content.isEmpty ? nil : takePiece()
    }

    private var stepLimit: Int {
        options.deliversPieces && isReadingCompressed ? Self.compressedStep : .max
    }

    private mutating func takePiece() throws(WebSocketError) -> WebSocketEvent? {
        options.deliversPieces ? .piece(try assembler.takePiece(isLast: false)) : nil
    }

    /// The header of the current frame.
    private var header: WebSocketFrameHeader { parser.header }

    private mutating func beginFrame() throws(WebSocketError) {
        control = []
        guard let kind = WebSocketMessage.Kind(header.opcode) else { return }
        assembler.begin(kind)
        isReadingCompressed = header.isCompressed
        guard isReadingCompressed, streams?.isInflating != true, let deflate else { return }
        do throws(CodecError) {
            MessageStreams.made(in: &streams).inflater = try MessageInflater(
                limits: options.decodingLimits, keepsContext: deflate.keepsContext(of: role.peer),
                pool: pool)
        } catch {
            throw WebSocketError(error)
        }
    }

    private mutating func take(_ bytes: Span<UInt8>) throws(WebSocketError) {
        if header.opcode.isControl { return try takeControl(bytes) }
        if isReadingCompressed { return try inflate(bytes, endsMessage: false) }
        guard !options.deliversPieces, header.isFinal, Int64(bytes.count) == header.length,
            let kind = WebSocketMessage.Kind(header.opcode)
        else { return try assembler.append(bytes) }
        wholeMessage = try assembler.whole(kind, bytes)
    }

    private mutating func takeControl(_ bytes: Span<UInt8>) throws(WebSocketError) {
        control.append(copying: bytes)
        guard header.opcode == .close else { return }
        try CloseFrame.check(control.span, isWhole: false)
    }

    /// Adds to the message. Invalid text is reported before any later error.
    private mutating func inflate(
        _ bytes: Span<UInt8>, endsMessage: Bool
    ) throws(WebSocketError) {
        var failure: CodecError?
        do throws(CodecError) {
            try streams?.inflater?.inflate(bytes, into: &assembler.content)
            if endsMessage { try streams?.inflater?.finish(into: &assembler.content) }
        } catch {
            failure = error
        }
        try assembler.check()
        if let failure { throw WebSocketError(failure) }
    }

    private mutating func endFrame(
        at now: Duration, into output: inout ByteBuffer
    ) throws(WebSocketError) -> WebSocketEvent? {
        guard header.opcode.isControl else { return header.isFinal ? try endMessage() : nil }
        let payload = control
        control = []
        switch header.opcode {
        case .ping:
            // Nothing may be sent after a close frame.
            if phase == .open { write(payload, as: .pong, into: &output) }
            return .ping(payload)
        case .pong: return keepAlive.takePong(payload) ? nil : .pong(payload)
        default: return takeClose(try CloseFrame(payload: payload.span), at: now, into: &output)
        }
    }

    private mutating func endMessage() throws(WebSocketError) -> WebSocketEvent {
        if let message = wholeMessage {
            wholeMessage = nil
            return .message(message)
        }
        if isReadingCompressed { try endCompressed() }
        if options.deliversPieces { return .piece(try assembler.takePiece(isLast: true)) }
        return .message(try assembler.finish())
    }

    private mutating func endCompressed() throws(WebSocketError) {
        isReadingCompressed = false
        try inflate(Span(), endsMessage: true)
        // Without a context the decompressor goes back to the pool for other connections.
        if let deflate, !deflate.keepsContext(of: role.peer) {
            MessageStreams.endInflating(&streams)
        }
    }

    private mutating func takeClose(
        _ frame: CloseFrame, at now: Duration, into output: inout ByteBuffer
    ) -> WebSocketEvent {
        let cause = phase == .open ? WebSocketEnd.Cause.peer : .local
        if phase == .open {
            write(CloseFrame(frame.code).payload, as: .close, into: &output)
        }
        closesTransport = role == .server
        closeDeadline = now + options.closeTimeout
        return end(WebSocketEnd(frame.code ?? .noStatus, reason: frame.reason, cause: cause))
    }
}

extension WebSocketRole {
    /// The other side.
    var peer: WebSocketRole { self == .server ? .client : .server }
}
