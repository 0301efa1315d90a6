/// The limits of a parser of multipart content. Each limit is the largest value that still passes,
/// and none depends on how the input was split.
public struct MultipartLimits: Hashable, Sendable {
    /// Parts, nested ones and those that nest others among them; above it `.tooManyParts`.
    public var parts = 1_000
    /// The field lines of one part in bytes, with their CRLFs; above it `.partHeadTooLong`.
    public var partHeadBytes = 8 << 10
    /// Field lines of one part; above it `.partHeadTooLong`.
    public var fieldCount = 32
    /// A name or file name in bytes of UTF-8; above it `.partHeadTooLong`.
    public var nameBytes = 1 << 10
    /// Content in bytes of a form's part without a file name, which usually ends up in memory;
    /// above it `.partTooLong`.
    public var fieldBytes: Int64 = 1 << 20
    /// Content of any other part in bytes; above it `.partTooLong`.
    public var fileBytes = Int64.max
    /// The whole input in bytes; above it `.inputTooLong`.
    public var totalBytes: Int64 = 4 << 30
    /// Each preamble, each epilogue, and the blanks after each boundary, in bytes; above it
    /// `.fillerTooLong`.
    public var fillerBytes: Int64 = 8 << 10
    /// Levels of multipart in a form, itself counted; above it `.nestedTooDeeply`.
    public var depth = 2

    /// The defaults.
    public init() {}

    /// The defaults: 1,000 parts, each with a head of 8 KiB and 32 fields, names of 1 KiB, fields
    /// of 1 MiB, files of any length, 4 GiB in all.
    public static var standard: Self { Self() }
}

/// Violations of the standard that a parser of multipart content can tolerate. All are off by
/// default.
public struct MultipartLeniency: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Creates a set from its bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// A lone LF ends lines of part heads and surrounds boundaries, as in content written by hand.
    /// RFC 2046 section 4.1.1 knows CRLF only.
    public static var bareLineFeed: Self { Self(rawValue: 1) }
}
