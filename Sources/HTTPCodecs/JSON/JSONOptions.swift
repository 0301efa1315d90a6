#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// How values become JSON and back.
public struct JSONOptions: Hashable, Sendable {
    /// How points in time are written.
    public enum Dates: Hashable, Sendable {
        /// As text of RFC 3339, such as `2030-01-02T03:04:05Z`.
        case iso8601
        /// As a number of seconds since 1970.
        case secondsSinceEpoch
        /// As a number of milliseconds since 1970.
        case millisecondsSinceEpoch
    }

    /// How the names of properties are written.
    public enum Names: Hashable, Sendable {
        /// As they are.
        case asDeclared
        /// `fileName` as `file_name`.
        case snakeCase
    }

    /// How points in time are written.
    public var dates = Dates.iso8601
    /// How the names of properties are written.
    public var names = Names.asDeclared
    /// Whether the members of objects come in the order of their names, so that equal values make
    /// equal bytes.
    public var sortsNames = false
    /// Whether the output is spread over lines for people to read.
    public var isIndented = false

    /// The defaults: ISO 8601 dates, names as declared, compact.
    public init() {}

    /// Whether a reader need not know of them, but for dates.
    var readsPlainly: Bool { names == .asDeclared }
    /// Whether a writer need not know of them, but for dates.
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
