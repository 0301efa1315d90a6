internal import HTTPCodecs
internal import HTTPParser

/// Joins the payloads of frames into messages, within a limit.
///
/// Text is checked as it arrives: the first byte that is not UTF-8 is refused, wherever the
/// fragments are cut. Memory grows with the received bytes, never with an announced length, and a
/// fragment costs no more than its bytes.
///
/// ```swift
/// var assembler = MessageAssembler(limit: 1 << 20)
/// assembler.begin(.text)
/// try assembler.append(first.span)
/// try assembler.append(second.span)
/// let message = try assembler.finish()
/// ```
///
/// RFC 6455, sections 5.4 and 8.1.
public struct MessageAssembler: Sendable {
    /// The longest message, in bytes.
    public let limit: Int64
    /// The kind of the message.
    public private(set) var kind = WebSocketMessage.Kind.binary
    /// The content that was not taken as a piece.
    var content: [UInt8] = []
    /// The number of bytes of `content` that were checked.
    private var checkedCount = 0
    /// The length of the pieces that were taken.
    private var takenCount: Int64 = 0
    private var text = UTF8Checker()

    /// Creates an assembler.
    /// - Parameter limit: the longest message, in bytes.
    public init(limit: Int64 = 1 << 20) {
        precondition(limit >= 0, "a negative limit")
        self.limit = limit
    }

    /// Begins a message, and discards an unfinished one.
    public mutating func begin(_ kind: WebSocketMessage.Kind) {
        self.kind = kind
        content = []
        (checkedCount, takenCount) = (0, 0)
        text = UTF8Checker()
    }

    /// Adds bytes to the message.
    /// - Throws: `.messageTooLong`, `.invalidText`.
    public mutating func append(_ bytes: Span<UInt8>) throws(WebSocketError) {
        // Checked before the copy, so that refused bytes are not copied.
        guard bytes.count <= limit - takenCount - Int64(content.count) else {
            throw WebSocketError(.messageTooLong)
        }
        content.append(copying: bytes)
        try check()
    }

    /// Ends the message, and returns it.
    /// - Throws: `.invalidText` if the message ends inside a character.
    public mutating func finish() throws(WebSocketError) -> WebSocketMessage {
        try checkEnd()
        defer { begin(kind) }
        switch kind {
        case .text: return WebSocketMessage(kind, checked: content.span)
        case .binary: return .binary(content)
        }
    }

    /// Takes the content that was added after the last piece.
    /// - Parameter isLast: whether the message is complete.
    /// - Throws: `.invalidText` if the message is complete and ends inside a character.
    public mutating func takePiece(isLast: Bool) throws(WebSocketError) -> WebSocketPiece {
        if isLast { try checkEnd() }
        defer {
            takenCount += Int64(content.count)
            (content, checkedCount) = ([], 0)
        }
        return WebSocketPiece(kind, content, isLast: isLast)
    }

    /// Checks a message that arrived in one piece, without copying it to the assembler's memory
    /// first.
    func whole(
        _ kind: WebSocketMessage.Kind, _ bytes: Span<UInt8>
    ) throws(WebSocketError) -> WebSocketMessage {
        guard bytes.count <= limit else { throw WebSocketError(.messageTooLong) }
        if kind == .text {
            var text = UTF8Checker()
            guard text.take(bytes), text.isComplete else { throw WebSocketError(.invalidText) }
        }
        return WebSocketMessage(kind, checked: bytes)
    }

    /// Checks what was added to `content`.
    mutating func check() throws(WebSocketError) {
        defer { checkedCount = content.count }
        guard kind == .text else { return }
        var text = text
        guard text.take(content.span.extracting(checkedCount...)) else {
            throw WebSocketError(.invalidText)
        }
        self.text = text
    }

    private func checkEnd() throws(WebSocketError) {
        guard kind == .binary || text.isComplete else { throw WebSocketError(.invalidText) }
    }
}
