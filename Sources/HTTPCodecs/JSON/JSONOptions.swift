#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The format of dates and names, and the layout of output.
public struct JSONOptions: Hashable, Sendable {
    /// The format of dates that are read and written.
    public enum Dates: Hashable, Sendable {
        /// Text as in RFC 3339, such as `2030-01-02T03:04:05Z`.
        case iso8601
        /// A number of seconds since 1970.
        case secondsSinceEpoch
        /// A number of milliseconds since 1970.
        case millisecondsSinceEpoch
    }

    /// The form of property names that are read and written.
    public enum Names: Hashable, Sendable {
        /// Names as declared.
        case asDeclared
        /// Snake case: `fileName` is `file_name` in JSON.
        case snakeCase
    }

    /// The format of dates that are read and written.
    public var dates = Dates.iso8601
    /// The form of property names that are read and written.
    public var names = Names.asDeclared
    /// Whether the members of objects are sorted by name, so that equal values give equal bytes.
    public var sortsNames = false
    /// Whether the output is indented for human readers.
    public var isIndented = false

    /// The defaults: ISO 8601 dates, names as declared, compact.
    public init() {}

    /// Whether a reader can ignore the options, except for dates.
    var readsPlainly: Bool { names == .asDeclared }
    /// Whether a writer can ignore the options, except for dates.
    var writesPlainly: Bool { names == .asDeclared && !sortsNames && !isIndented }

    var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        if sortsNames { encoder.outputFormatting.insert(.sortedKeys) }
        if isIndented { encoder.outputFormatting.insert(.prettyPrinted) }
        if names == .snakeCase { encoder.keyEncodingStrategy = .convertToSnakeCase }
        switch dates {
        case .iso8601: encoder.dateEncodingStrategy = .iso8601
        case .secondsSinceEpoch: encoder.dateEncodingStrategy = .secondsSince1970
        case .millisecondsSinceEpoch: encoder.dateEncodingStrategy = .millisecondsSince1970
        }
        return encoder
    }

    var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        if names == .snakeCase { decoder.keyDecodingStrategy = .convertFromSnakeCase }
        switch dates {
        case .iso8601: decoder.dateDecodingStrategy = .iso8601
        case .secondsSinceEpoch: decoder.dateDecodingStrategy = .secondsSince1970
        case .millisecondsSinceEpoch: decoder.dateDecodingStrategy = .millisecondsSince1970
        }
        return decoder
    }
}
