/// The limits of a parser. Each limit is the largest accepted value, independent of how the input
/// was split.
public struct ParserLimits: Hashable, Sendable {
    /// The longest request or status line in bytes, without its CRLF. Above it: 414.
    public var startLineBytes = 8 << 10
    /// The longest field line in bytes, without its CRLF. Above it: 431.
    public var fieldLineBytes = 8 << 10
    /// The length of all field lines of a head in bytes, with their CRLFs. Above it: 431.
    public var fieldSectionBytes = 64 << 10
    /// The number of field lines of a head or a trailer section. Above it: 431.
    public var fieldCount = 128
    /// The length of the content of one message in bytes, without transfer coding. Above it: 413.
    public var contentBytes = Int64.max
    /// The length of all chunk extensions of one message in bytes. Above it: 413.
    public var chunkExtensionBytes = 4 << 10
    /// The length of the trailer section in bytes, with CRLFs. Above it: 431.
    public var trailerBytes = 8 << 10
    /// The number of empty lines before a start line, which RFC 9112 section 2.2 lets a server
    /// skip. Above it: 400.
    public var leadingEmptyLines = 8

    /// The defaults.
    public init() {}

    /// The defaults: 8 KiB lines, 64 KiB and 128 fields in a head, content of any length.
    public static var standard: Self { Self() }

    /// The same limits with every length of a head at most 512 MiB, so that offsets fit into 32
    /// bits.
    var clamped: Self {
        var limits = self
        let most = 512 << 20
        limits.startLineBytes = min(max(startLineBytes, 0), most)
        limits.fieldLineBytes = min(max(fieldLineBytes, 0), most)
        limits.fieldSectionBytes = min(max(fieldSectionBytes, 0), most)
        limits.trailerBytes = min(max(trailerBytes, 0), most)
        limits.leadingEmptyLines = min(max(leadingEmptyLines, 0), 1 << 20)
        return limits
    }
}

/// Violations of the standard that a parser can tolerate. All are off by default.
public struct ParserLeniency: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Creates a set from its bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// A lone LF ends a line of the head, which RFC 9112 section 2.2 permits. Chunk framing always
    /// needs CRLF.
    public static var bareLineFeed: Self { Self(rawValue: 1) }
    /// `HTTP/1.1 200` without the space that RFC 9112 section 4 puts before an empty reason.
    public static var missingReasonSpace: Self { Self(rawValue: 2) }
    /// Repeated Content-Length fields of the same value count as one (RFC 9110 section 8.6).
    public static var identicalContentLengths: Self { Self(rawValue: 4) }
    /// HTTP/1.1 requests without Host, which old devices send.
    public static var missingHost: Self { Self(rawValue: 8) }
}
