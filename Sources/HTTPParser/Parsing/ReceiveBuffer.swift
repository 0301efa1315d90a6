/// The input that a parser has not read yet, with the stream offset of its first byte.
struct ReceiveBuffer: ~Copyable {
    private var buffer = ByteBuffer()
    /// The number of bytes of the stream before those in the buffer. It stops at `Int.max`: on
    /// 32-bit processors offsets are exact only up to 2 GiB.
    private(set) var offset = 0

    var count: Int { buffer.count }

    /// The number of bytes of the stream that were appended so far.
    var end: Int { offset.clampedSum(buffer.count) }

    var bytes: UnsafeRawBufferPointer { unsafe buffer.unsafeBytes }

    mutating func append(_ bytes: Span<UInt8>) {
        buffer.append(bytes)
    }

    mutating func consume(_ count: Int) {
        offset = offset.clampedSum(count)
        buffer.consume(count)
    }

    mutating func takeAll() -> [UInt8] {
        let rest = unsafe Array(buffer.unsafeBytes)
        offset = offset.clampedSum(rest.count)
        buffer.removeAll()
        return rest
    }
}

extension Int {
    /// The sum with a number that is not negative; `Int.max` if the sum overflows.
    func clampedSum(_ other: Int) -> Int {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}

/// The state that both parsers share: the position in a message, and how parsing stopped.
struct MessageProgress: ~Copyable {
    var body: BodyParser?
    var stop: StopReason?
    var failure: HTTPParseError?
    /// Whether the input has ended, which completes content that ends with the connection.
    var inputEnded = false
    /// The reason to stop after the current message; `nil` to continue.
    var stopAtEnd: StopReason?
    /// Whether an interim response was read whose final response has not arrived.
    var sawInterim = false

    init() {}

    /// The next step of the content, and the number of bytes that it has used.
    mutating func step(
        _ bytes: UnsafeRawBufferPointer
    ) throws(HTTPParseError) -> (step: BodyParser.Step, taken: Int) {
        var position = 0
        let step = try unsafe body?.next(bytes, from: &position) ?? .more
        return (step, position)
    }

    /// Ends the message and returns its trailers.
    mutating func endMessage() -> HTTPFields {
        let trailers = body?.trailers ?? HTTPFields()
        body = nil
        stop = stopAtEnd
        return trailers
    }
}

/// A range of bytes as a span without a lifetime; the caller ties it to the owner of the bytes.
@_lifetime(immortal)
func lend(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Span<UInt8> {
    let piece = unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
    let span = unsafe Span<UInt8>(_unsafeElements: piece.assumingMemoryBound(to: UInt8.self))
    return unsafe _overrideLifetime(span, copying: ())
}

/// The reason why a parser stopped without an error.
public enum StopReason: String, Sendable {
    /// The connection carries no message after the last one (RFC 9112 section 9.3).
    case close
    /// Another protocol was offered or agreed on (RFC 9110 section 7.8).
    case upgrade
    /// A tunnel was requested or opened (RFC 9110 section 9.3.6).
    case tunnel
}
