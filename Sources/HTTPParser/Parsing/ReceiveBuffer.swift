/// The bytes that a parser was given and has not read yet, with the stream offset of the first one.
struct ReceiveBuffer: ~Copyable {
    private var buffer = ByteBuffer()
    /// How many bytes of the stream came before the first one kept. It stays at `Int.max` where the
    /// stream has more: 2 GiB are enough on processors of 32 bits.
    private(set) var offset = 0

    var count: Int { buffer.count }

    /// How many bytes of the stream have come.
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
    /// The sum with a number that is not negative, or the greatest number.
    func clampedSum(_ other: Int) -> Int {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}

/// The state both parsers share: where in a message they are, and how they stopped.
struct MessageProgress: ~Copyable {
    var body: BodyParser?
    var stop: StopReason?
    var failure: HTTPParseError?
    /// Whether no more bytes come, which only matters to content that ends so.
    var inputEnded = false
    /// Whether the connection ends after the message that is being read, and why.
    var stopAtEnd: StopReason?
    /// Whether an interim response waits for its final one.
    var sawInterim = false

    init() {}

    /// The next step of the content and how many bytes it took.
    mutating func step(
        _ bytes: UnsafeRawBufferPointer
    ) throws(HTTPParseError) -> (step: BodyParser.Step, taken: Int) {
        var position = 0
        let step = try unsafe body?.next(bytes, from: &position) ?? .more
        return (step, position)
    }

    /// Closes the message and gives its trailers.
    mutating func endMessage() -> HTTPFields {
        let trailers = body?.trailers ?? HTTPFields()
        body = nil
        stop = stopAtEnd
        return trailers
    }
}

/// A range of bytes as a span without a lifetime; the caller ties it to what owns the bytes.
@_lifetime(immortal)
func lend(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Span<UInt8> {
    let piece = unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
    let span = unsafe Span<UInt8>(_unsafeElements: piece.assumingMemoryBound(to: UInt8.self))
    return unsafe _overrideLifetime(span, copying: ())
}

/// Why a parser reads no further, though nothing is wrong.
public enum StopReason: String, Sendable {
    /// The connection carries no message after the last one (RFC 9112 section 9.3).
    case close
    /// Another protocol was offered or agreed on (RFC 9110 section 7.8).
    case upgrade
    /// A tunnel was asked for or opened (RFC 9110 section 9.3.6).
    case tunnel
}
