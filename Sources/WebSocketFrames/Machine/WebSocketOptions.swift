internal import HTTPCodecs
internal import Synchronization

/// How a ``WebSocketMachine`` works: limits, times, compression. A number outside of its range traps
/// where it is set.
public struct WebSocketOptions: Hashable, Sendable {
    /// How long a message may be, in bytes of its content (close code 1009 beyond it); not negative.
    public var messageBytes: Int64 { didSet { checkRanges() } }
    /// Whether a ``WebSocketMachine`` reports the pieces of a message as their bytes arrive, instead of
    /// whole messages. The WebSockets of the server and the client ignore it: they deliver whole
    /// messages.
    public var deliversPieces: Bool
    /// How long a fragment of a message that is sent may be, in bytes, above 0.
    public var fragmentBytes: Int { didSet { checkRanges() } }
    /// The time between two pings; nil for none.
    public var pingInterval: Duration?
    /// How long to wait for a pong once the ping has left.
    public var pongTimeout: Duration
    /// How long to wait for the peer's close frame and on a client for the end of the connection.
    public var closeTimeout: Duration
    /// From how many bytes on a message is compressed.
    public var compressionFloor: Int
    /// How hard compression is tried: 1 (fast) to 9 (small).
    public var compressionLevel: Int { didSet { checkRanges() } }
    /// How many bytes a byte of a compressed message may stand for, at least 1, once there are more
    /// than `ratioFloor`.
    public var ratio: Int64 { didSet { checkRanges() } }
    /// Up to how many bytes of content the ratio does not matter; not negative.
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

    /// A connection would trap otherwise, when its peer sends something.
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

/// Options on the heap: all connections with the same ones share them, which are most of a server's.
final class SharedOptions: Sendable {
    let value: WebSocketOptions
    private static let last = Mutex(SharedOptions(WebSocketOptions()))

    private init(_ value: WebSocketOptions) {
        self.value = value
    }

    /// The ones that were used last, if they are the same.
    static func like(_ value: WebSocketOptions) -> SharedOptions {
        #if THREAD_SANITIZER
            // It does not see into a `Mutex`, and would report each use of the others' options.
            SharedOptions(value)
        #else
            last.withLock { last in
                if last.value != value { last = SharedOptions(value) }
                return last
            }
        #endif
    }
}
