/// The limits of a parser of multipart content. Each limit is the largest accepted value, and does
/// not depend on how the input was split.
public struct MultipartLimits: Hashable, Sendable {
    /// The number of parts, including nested parts and parts that contain others; above it
    /// `.tooManyParts`.
    public var parts = 1_000
    /// The length of the field lines of one part in bytes, including CRLFs; above it
    /// `.partHeadTooLong`.
    public var partHeadBytes = 8 << 10
    /// The number of field lines of one part; above it `.partHeadTooLong`.
    public var fieldCount = 32
    /// The length of a name or file name in bytes of UTF-8; above it `.partHeadTooLong`.
    public var nameBytes = 1 << 10
    /// The content in bytes of a form's part without a file name, which is usually kept in memory;
    /// above it `.partTooLong`.
    public var fieldBytes: Int64 = 1 << 20
    /// The content in bytes of any other part; above it `.partTooLong`.
    public var fileBytes = Int64.max
    /// The whole input in bytes; above it `.inputTooLong`.
    public var totalBytes: Int64 = 4 << 30
    /// The length in bytes of each preamble, each epilogue, and the spaces and tabs after each
    /// boundary; above it `.fillerTooLong`.
    public var fillerBytes: Int64 = 8 << 10
    /// The levels of multipart in a form, including the form; above it `.nestedTooDeeply`.
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

    /// A lone LF ends the lines of part heads and the lines around boundaries. RFC 2046 section
    /// 4.1.1 allows only CRLF.
    public static var bareLineFeed: Self { Self(rawValue: 1) }
}
