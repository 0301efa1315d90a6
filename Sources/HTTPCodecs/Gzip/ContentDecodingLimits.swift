/// The limits of decoded content.
///
/// A megabyte of compressed data can stand for a gigabyte, so there is no decoder without a limit.
public struct ContentDecodingLimits: Hashable, Sendable {
    /// How long the content may be, in bytes (413 beyond it).
    public var outputBytes: Int64
    /// How many bytes of content a byte of compressed data may stand for, at least 1, once there
    /// are more than ``ratioFloor`` (413 beyond it).
    ///
    /// Text rarely exceeds 20; DEFLATE ends at 1032. It is looked at when the content reaches the
    /// floor and every 64 KiB from there on.
    public var ratio: Int64
    /// Up to how many bytes of content the ratio does not matter.
    public var ratioFloor: Int64
    /// How long the head of each gzip member may be, in bytes: it can carry names, comments and
    /// other data, all of which are skipped.
    public var memberHeadBytes: Int

    /// Creates limits; all but the first have defaults.
    public init(
        outputBytes: Int64, ratio: Int64 = 100, ratioFloor: Int64 = 1 << 20,
        memberHeadBytes: Int = 16 << 10
    ) {
        precondition(outputBytes >= 0 && ratioFloor >= 0, "a negative limit")
        precondition(ratio >= 1, "a ratio below 1")
        self.outputBytes = outputBytes
        self.ratio = ratio
        self.ratioFloor = ratioFloor
        self.memberHeadBytes = memberHeadBytes
    }
}
