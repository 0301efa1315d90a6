/// The limits of decoded content.
///
/// A megabyte of compressed data can expand to a gigabyte, so every decoder needs a limit.
public struct ContentDecodingLimits: Hashable, Sendable {
    /// The most bytes of content (413 above it).
    public var outputBytes: Int64
    /// The most bytes of content for each byte of compressed data, at least 1 (413 above it). It
    /// applies to content that is longer than ``ratioFloor``.
    ///
    /// Text rarely exceeds 20; the maximum of DEFLATE is 1032. The ratio is checked at the floor
    /// and then every 64 KiB.
    public var ratio: Int64
    /// The length of content, in bytes, up to which the ratio is not checked.
    public var ratioFloor: Int64
    /// The longest head of a gzip member, in bytes. Its names, comments and other data are skipped.
    public var memberHeadBytes: Int

    /// Creates limits.
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
