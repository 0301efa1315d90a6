/// Reads frames from bytes as they arrive.
///
/// Each byte of a header is checked when it arrives, so an invalid or too long frame fails before
/// its payload is read. The parser stores no payload: it unmasks the bytes in the caller's memory
/// and returns their range.
///
/// ```swift
/// var parser = FrameParser(role: .server)
/// var position = 0
/// while let event = try parser.next(&bytes, from: &position) {
///     switch event {
///     case .header(let header): print(header.opcode, header.length)
///     case .payload(let range): size += range.count
///     case .end: print("end of the frame")
///     }
/// }
/// ```
///
/// RFC 6455, sections 5.1 to 5.5.
public struct FrameParser: Sendable {
    /// A piece of a frame.
    public enum Event: Hashable, Sendable {
        /// A frame begins.
        case header(WebSocketFrameHeader)
        /// Bytes of its payload, unmasked: a range of the bytes that were passed in.
        case payload(Range<Int>)
        /// The frame is complete.
        case end
    }

    /// The side that reads the frames.
    public let role: WebSocketRole
    /// The longest message in bytes, counting all its fragments.
    public let messageLimit: Int64
    /// Whether the first frame of a message may be marked as compressed.
    public let allowsCompression: Bool
    /// The start of the current or last frame, in bytes from the start of the stream.
    public private(set) var frameOffset: Int64 = 0

    private var offset: Int64 = 0
    private var stage = Stage.first
    /// The header of the current or last frame.
    private(set) var header = WebSocketFrameHeader(.continuation, length: 0)
    /// The number of bytes of the length, or of the mask, that are still to come.
    private var missing = 0
    /// Whether the length has 8 bytes.
    private var isLong = false
    /// The bytes of the mask so far, the first of them lowest.
    private var maskWord: UInt32 = 0
    /// The number of bytes of the payload that are still to come.
    private var remaining: Int64 = 0
    private var key = MaskingKey(0)
    /// The message that is not complete yet.
    private var message: Message?

    private enum Stage { case first, second, length, mask, payload }
    private struct Message {
        var isCompressed: Bool
        var length: Int64 = 0
        var fragments: Int64 = 0
    }

    /// Creates a parser.
    /// - Parameters:
    ///   - role: the side that reads the frames: a server requires masks, a client refuses them.
    ///   - messageLimit: the longest message in bytes, counting all its fragments. A compressed
    ///     message may exceed it by the most that the format adds.
    ///   - allowsCompression: whether permessage-deflate was agreed on.
    public init(
        role: WebSocketRole, messageLimit: Int64 = 1 << 20, allowsCompression: Bool = false
    ) {
        precondition(messageLimit >= 0, "a negative limit")
        self.role = role
        self.messageLimit = messageLimit
        self.allowsCompression = allowsCompression
    }

    /// Whether a frame has begun and is not complete.
    public var isInsideFrame: Bool { stage != .first }

    /// Whether all of a frame was read but its end was not reported.
    var isAtFrameEnd: Bool { stage == .payload && remaining == 0 }

    /// Reads from `position` to the end of the next piece, and moves `position` there.
    /// - Parameters:
    ///   - bytes: the input; payload is unmasked in place.
    ///   - position: the offset of the first unread byte, 0...`bytes.count`. Bytes from the new
    ///     position on are unchanged.
    ///   - count: the most payload bytes of a piece, above 0.
    /// - Returns: nil when all bytes are read.
    /// - Throws: the first violation. The parser must not be used after it.
    public mutating func next(
        _ bytes: inout MutableSpan<UInt8>, from position: inout Int, upTo count: Int = .max
    ) throws(WebSocketError) -> Event? {
        precondition(position >= 0 && position <= bytes.count, "position out of range")
        precondition(count > 0, "no room for payload")
        if stage == .payload { return nextPayload(&bytes, &position, upTo: count) }
        while position < bytes.count {
            let byte = bytes[position]
            if stage == .first { frameOffset = offset }
            position += 1
            offset += 1
            if try take(byte) {
                stage = .payload
                return .header(header)
            }
        }
        return nil
    }

    private mutating func nextPayload(
        _ bytes: inout MutableSpan<UInt8>, _ position: inout Int, upTo count: Int
    ) -> Event? {
        guard remaining > 0 else {
            stage = .first
            return .end
        }
        let count = min(bytes.count - position, count, Int(clamping: remaining))
        guard count > 0 else { return nil }
        let range = position..<(position + count)
        if header.maskingKey != nil {
            unsafe bytes.withUnsafeMutableBytes { bytes in
                unsafe key.apply(to: UnsafeMutableRawBufferPointer(rebasing: bytes[range]))
            }
            key = key.advanced(by: count)
        }
        position += count
        offset += Int64(count)
        remaining -= Int64(count)
        return .payload(range)
    }
}

// The header, byte by byte.
extension FrameParser {
    /// - Returns: whether the header is complete.
    private mutating func take(_ byte: UInt8) throws(WebSocketError) -> Bool {
        switch stage {
        case .first: try takeFirst(byte)
        case .second: return try takeSecond(byte)
        case .length: return try takeLength(byte)
        case .mask, .payload: return takeMask(byte)
        }
        return false
    }

    private mutating func takeFirst(_ byte: UInt8) throws(WebSocketError) {
        guard byte & 0x30 == 0, byte & 0x40 == 0 || allowsCompression else {
            throw error(.reservedBits)
        }
        guard let opcode = WebSocketOpcode(rawValue: byte & 0x0F) else {
            throw error(.reservedOpcode)
        }
        header = WebSocketFrameHeader(
            opcode, isFinal: byte & 0x80 != 0, isCompressed: byte & 0x40 != 0, length: 0)
        try checkOrder()
        stage = .second
    }

    /// Control frames are not fragmented and may come at any time; other frames must be in order.
    private mutating func checkOrder() throws(WebSocketError) {
        let begins = header.opcode == .text || header.opcode == .binary
        // The bit is set only in the first frame of a message (RFC 7692 section 6).
        guard begins || !header.isCompressed else { throw error(.reservedBits) }
        if header.opcode.isControl {
            guard header.isFinal else { throw error(.fragmentedControl) }
            return
        }
        if begins {
            guard message == nil else { throw error(.unfinishedMessage) }
            message = Message(isCompressed: header.isCompressed)
        } else if message == nil {
            throw error(.unexpectedContinuation)
        }
    }

    private mutating func takeSecond(_ byte: UInt8) throws(WebSocketError) -> Bool {
        let isMasked = byte & 0x80 != 0
        guard isMasked == (role == .server) else {
            throw error(isMasked ? .unexpectedMask : .missingMask)
        }
        let length = Int64(byte & 0x7F)
        guard length > 125 else {
            header.length = length
            return try endLength()
        }
        guard !header.opcode.isControl else { throw error(.controlTooLong) }
        missing = length == 126 ? 2 : 8
        stage = .length
        isLong = missing == 8
        return false
    }

    private mutating func takeLength(_ byte: UInt8) throws(WebSocketError) -> Bool {
        guard missing < 8 || byte < 0x80 else { throw error(.lengthTooLarge) }
        header.length = header.length << 8 | Int64(byte)
        missing -= 1
        guard missing == 0 else { return false }
        guard header.length >= (isLong ? 1 << 16 : 126) else { throw error(.lengthNotMinimal) }
        return try endLength()
    }

    /// - Returns: whether the header is complete.
    private mutating func endLength() throws(WebSocketError) -> Bool {
        remaining = header.length
        if header.opcode == .close, header.length == 1 { throw error(.invalidClosePayload) }
        if !header.opcode.isControl { try countMessage() }
        (stage, missing, maskWord) = (.mask, 4, 0)
        return role == .client
    }

    /// Adds the frame to its message.
    private mutating func countMessage() throws(WebSocketError) {
        guard var message else { return }
        let (length, overflow) = message.length.addingReportingOverflow(header.length)
        message.fragments += 1
        let limit =
            message.isCompressed ? compressedLimit(message.fragments) : messageLimit
        guard !overflow, length <= limit else { throw error(.messageTooLong) }
        message.length = length
        self.message = header.isFinal ? nil : message
    }

    /// The limit of a compressed message. Incompressible content grows by 5 bytes for each block of
    /// a few KiB (RFC 1951 section 3.2.4), and by empty blocks. A sender may end a block with each
    /// fragment, which takes up to 7 bytes. The exact limit is applied to the decompressed content.
    private func compressedLimit(_ fragments: Int64) -> Int64 {
        let growth = (messageLimit / 256 + 1_024).addingReportingOverflow(fragments << 4)
        let (limit, overflow) = messageLimit.addingReportingOverflow(growth.partialValue)
        return overflow || growth.overflow ? .max : limit
    }

    private mutating func takeMask(_ byte: UInt8) -> Bool {
        maskWord |= UInt32(byte) << UInt32(8 * (4 - missing))
        missing -= 1
        guard missing == 0 else { return false }
        key = MaskingKey(maskWord)
        header.maskingKey = key
        return true
    }

    private func error(_ kind: WebSocketError.Kind) -> WebSocketError {
        WebSocketError(kind, at: frameOffset)
    }
}
