internal import HTTPCodecs
internal import Synchronization

/// The options of a ``WebSocketMachine``: limits, times, compression. A number outside its range
/// traps when it is set.
public struct WebSocketOptions: Hashable, Sendable {
    /// The longest incoming message, in bytes of its content (close code 1009 beyond it); not
    /// negative.
    public var messageBytes: Int64 { didSet { checkRanges() } }
    /// Whether the pieces of a message are reported as their bytes arrive, instead of whole
    /// messages. A WebSocket of the server or the client then has pieces for its reader, and joins
    /// them for a reader of whole messages.
    public var deliversPieces: Bool
    /// The longest fragment of an outgoing message, in bytes, above 0.
    public var fragmentBytes: Int { didSet { checkRanges() } }
    /// The time between two pings; nil for none.
    public var pingInterval: Duration?
    /// The time to wait for a pong after the ping was sent.
    public var pongTimeout: Duration
    /// The time to wait for the peer's close frame, and on a client also for the end of the
    /// connection.
    public var closeTimeout: Duration
    /// The shortest message that is compressed, in bytes.
    public var compressionFloor: Int
    /// The compression level, 1 (fast) to 9 (small).
    public var compressionLevel: Int { didSet { checkRanges() } }
    /// The most content bytes for each byte of a compressed message, at least 1. It applies to
    /// messages with more than `ratioFloor` bytes of content.
    public var ratio: Int64 { didSet { checkRanges() } }
    /// The content length up to which `ratio` does not apply, in bytes; not negative.
    public var ratioFloor: Int64 { didSet { checkRanges() } }

    /// Creates options; all have defaults.
    public init(
        messageBytes: Int64 = 1 << 20, deliversPieces: Bool = false, fragmentBytes: Int = .max,
        pingInterval: Duration? = .seconds(30), pongTimeout: Duration = .seconds(20),
        closeTimeout: Duration = .seconds(5), compressionFloor: Int = 512,
        compressionLevel: Int = 6, ratio: Int64 = 100, ratioFloor: Int64 = 1 << 20
    ) {
        self.messageBytes = messageBytes
        self.deliversPieces = deliversPieces
        self.fragmentBytes = fragmentBytes
        self.pingInterval = pingInterval
        self.pongTimeout = pongTimeout
        self.closeTimeout = closeTimeout
        self.compressionFloor = compressionFloor
        self.compressionLevel = compressionLevel
        self.ratio = ratio
        self.ratioFloor = ratioFloor
        checkRanges()
    }

    /// Traps here, because otherwise a connection would trap on a peer's input.
    private func checkRanges() {
        precondition(messageBytes >= 0, "a number of bytes is not negative")
        precondition(fragmentBytes > 0, "a fragment has at least a byte")
        precondition(1...9 ~= compressionLevel, "a level of compression is 1 to 9")
        precondition(ratio >= 1, "a ratio is at least 1")
        precondition(ratioFloor >= 0, "a number of bytes is not negative")
    }

    /// The limits of decompression.
    var decodingLimits: ContentDecodingLimits {
        ContentDecodingLimits(outputBytes: messageBytes, ratio: ratio, ratioFloor: ratioFloor)
    }
}

/// Options on the heap. Connections with equal options share them, as most connections of a server
/// do.
final class SharedOptions: Sendable {
    let value: WebSocketOptions
    private static let last = Mutex(SharedOptions(WebSocketOptions()))

    private init(_ value: WebSocketOptions) {
        self.value = value
    }

    /// The last used options if they are equal to `value`, otherwise new ones.
    static func like(_ value: WebSocketOptions) -> SharedOptions {
        #if THREAD_SANITIZER
            // The sanitizer does not recognise a `Mutex`, and would report each use of options from
            // another thread.
            SharedOptions(value)
        #else
            last.withLock { last in
                if last.value != value { last = SharedOptions(value) }
                return last
            }
        #endif
    }
}
