/// The part of a collection that a request affects (RFC 4918 section 10.2).
package enum Depth: Hashable, Sendable {
    case zero
    case one
    case infinity

    /// - Returns: `nil` unless the value is `0`, `1` or `infinity`.
    package init?(_ field: String) {
        // Longer values match none of these, and comparing them could take long.
        switch field.utf8.count <= 8 ? field.lowercased() : "" {
        case "0": self = .zero
        case "1": self = .one
        case "infinity": self = .infinity
        default: return nil
        }
    }

    /// The value of the field.
    package var text: String {
        switch self {
        case .zero: "0"
        case .one: "1"
        case .infinity: "infinity"
        }
    }
}
