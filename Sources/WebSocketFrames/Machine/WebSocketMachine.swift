public import HTTPCodecs
public import HTTPParser

/// One side of a WebSocket connection after the handshake: bytes in, events and bytes out.
///
/// The machine uses no socket, no task and no clock. The caller passes received bytes and the time,
/// sends the output, and reports how much was sent. The machine itself answers pings and the peer's
/// close frame.
///
/// ```swift
/// while let event = machine.next(&bytes, from: &position, at: now, into: &output) {
///     switch event {
///     case .message(let message): try machine.send(message, into: &output)
///     case .closed(let end): print(end.code, end.reason)
///     default: break
///     }
/// }
/// ```
///
/// Times are measured from any fixed point, the same for all calls. A caller with back-pressure
/// calls `next` only while ``unsentCount`` is small, which also bounds the answers to pings.
///
/// RFC 6455, sections 5 to 7; RFC 7692.
public struct WebSocketMachine: ~Copyable, Sendable {
    /// The side of the connection.
    public let role: WebSocketRole
    private let sharedOptions: SharedOptions
    /// Limits, times and compression.
    public var options: WebSocketOptions { sharedOptions.value }
    /// The parameters of compression; nil for none.
    public let deflate: DeflateExtension?
    /// The phase of the connection.
    public internal(set) var phase = Phase.open
    /// Whether the caller has to close the transport once all output has left.
    ///
    /// A server closes first; a client waits for the server's close for up to
    /// ``WebSocketOptions/closeTimeout``, so that the TIME-WAIT state is on the server (RFC 6455
    /// section 7.1.1).
    public internal(set) var closesTransport = false
    /// Whether a fault in the peer's input is held until ``releaseFault(into:)``, so that the
    /// messages before it can still be answered. It is held no longer than
    /// ``WebSocketOptions/closeTimeout``.
    public var holdsFaults = false
    /// The held fault. Input after it is dropped.
    public internal(set) var heldFault: WebSocketError?

    /// The phases of a connection.
    public enum Phase: Hashable, Sendable {
        /// Messages go both ways.
        case open
        /// This side has sent a close frame and waits for the peer's.
        case closeSent
        /// Nothing more is sent or read.
        case ended
    }

    let writer: FrameWriter
    let maskingKeys: @Sendable () -> MaskingKey
    let pool: ContentCodingPool?
    var parser: FrameParser
    var assembler: MessageAssembler
    /// Whether the incoming message is compressed.
    var isReadingCompressed = false
    /// A message whose payload arrived in one piece.
    var wholeMessage: WebSocketMessage?
    /// The payload of the current control frame.
    var control: [UInt8] = []
    /// Streams of zlib; present only while a message is compressed or decompressed, or with a
    /// context.
    var streams: MessageStreams?
    /// The kind of the unfinished message that is sent in pieces.
    var outgoing: WebSocketMessage.Kind?
    /// Whether the message that is sent in pieces is compressed.
    var isSendingCompressed = false
    var keepAlive: KeepAlive
    /// The deadline of the peer's close frame, the end of the transport, or the release of a held
    /// fault.
    var closeDeadline: Duration?
    var writtenCount: Int64 = 0
    var leftCount: Int64 = 0

    /// Creates a machine.
    /// - Parameters:
    ///   - role: the side of the connection.
    ///   - deflate: the parameters of compression that the handshake agreed on.
    ///   - options: limits, times and compression.
    ///   - pool: the pool of zlib streams; one pool serves many connections.
    ///   - now: the time.
    ///   - maskingKeys: returns 4 unpredictable bytes for each frame of a client.
    public init(
        role: WebSocketRole, deflate: DeflateExtension? = nil,
        options: WebSocketOptions = WebSocketOptions(), pool: ContentCodingPool? = nil,
        at now: Duration, maskingKeys: @escaping @Sendable () -> MaskingKey = { .random() }
    ) {
        self.role = role
        sharedOptions = SharedOptions.like(options)
        self.deflate = deflate
        self.pool = pool
        self.maskingKeys = maskingKeys
        writer = FrameWriter(role: role)
        parser = FrameParser(
            role: role, messageLimit: options.messageBytes, allowsCompression: deflate != nil)
        assembler = MessageAssembler(limit: options.messageBytes)
        keepAlive = KeepAlive(firstPing: options.pingInterval.map { now + $0 })
    }

    /// The number of bytes of output that were not reported as sent yet.
    public var unsentCount: Int { Int(clamping: writtenCount - leftCount) }

    /// The number of pings that the machine has written by itself.
    package var pingCount: UInt64 { keepAlive.number }

    /// The number of these pings that were answered, in order. A pong also answers the caller's
    /// pings before its ping (RFC 6455 section 5.5.3).
    package var answeredPingCount: UInt64 { keepAlive.answeredCount }

    /// The memory of the incoming message, in bytes.
    package var bufferedCapacity: Int { assembler.content.capacity }

    /// The time of the next call of ``tick(at:into:)``; nil for none.
    public var deadline: Duration? {
        switch phase {
        case .open: heldFault == nil ? keepAlive.deadline : closeDeadline
        case .closeSent: closeDeadline
        case .ended: closesTransport ? nil : closeDeadline
        }
    }

    /// Reports that bytes of the output were passed to the system.
    /// - Parameters:
    ///   - count: the number of bytes, 0...``unsentCount``; any other number traps.
    ///   - now: the time.
    public mutating func sent(_ count: Int, at now: Duration) {
        precondition(count >= 0 && count <= unsentCount, "more sent than there is")
        leftCount += Int64(count)
        keepAlive.left(upTo: leftCount, pongBy: now + options.pongTimeout)
    }

    /// Reports that the caller has stopped reading for now. A pong may be in the unread input, so
    /// its timeout starts again.
    public mutating func holdsInput(at now: Duration) {
        keepAlive.sawPartOfFrame(pongBy: now + options.pongTimeout)
    }

    /// Sends a due ping, or ends a connection whose peer does not answer.
    ///
    /// A call before ``deadline`` does nothing.
    /// - Returns: the end of the connection, if this call ends it.
    public mutating func tick(
        at now: Duration, into output: inout ByteBuffer
    ) -> WebSocketEvent? {
        switch phase {
        case .open where heldFault != nil:
            guard let closeDeadline, closeDeadline <= now else { return nil }
            return releaseFault(into: &output)
        case .open:
            if keepAlive.isExpired(at: now) {
                return fail(WebSocketError(.pongTimeout, at: parser.frameOffset), into: &output)
            }
            if let interval = options.pingInterval, keepAlive.isDue(at: now) {
                write(keepAlive.nextPayload(), as: .ping, into: &output)
                keepAlive.written(upTo: writtenCount, next: now + interval)
            }
        case .closeSent:
            guard let closeDeadline, closeDeadline <= now else { return nil }
            let fault = heldFault ?? WebSocketError(.closeTimeout, at: parser.frameOffset)
            return fail(fault, into: &output)
        case .ended:
            if let closeDeadline, closeDeadline <= now { closesTransport = true }
        }
        return nil
    }

    /// Reports that the transport has ended or broken.
    /// - Returns: the end of the connection, unless it was reported before.
    public mutating func transportEnded() -> WebSocketEvent? {
        closesTransport = true
        guard phase != .ended else { return nil }
        if let heldFault { return end(WebSocketEnd(heldFault)) }
        return end(WebSocketEnd(.abnormal, cause: .transport))
    }

    /// Ends the connection with the held fault, if there is one.
    /// - Parameter output: the buffer to which the close frame is appended.
    /// - Returns: the end of the connection.
    public mutating func releaseFault(into output: inout ByteBuffer) -> WebSocketEvent? {
        heldFault.map { fail($0, into: &output) }
    }
}

// The end.
extension WebSocketMachine {
    mutating func fail(
        _ error: WebSocketError, into output: inout ByteBuffer
    ) -> WebSocketEvent {
        // A second close frame is not allowed.
        if phase == .open {
            write(
                CloseFrame(error.closeCode, reason: error.reason).payload, as: .close, into: &output
            )
        }
        closesTransport = true
        return end(WebSocketEnd(error))
    }

    mutating func end(_ end: WebSocketEnd) -> WebSocketEvent {
        phase = .ended
        heldFault = nil
        streams = nil
        assembler.begin(.binary)
        (control, wholeMessage, outgoing) = ([], nil, nil)
        return .closed(end)
    }
}

extension WebSocketEnd {
    fileprivate init(_ error: WebSocketError) {
        self.init(error.closeCode, reason: error.reason, cause: .failure(error))
    }
}
