/// How much of a collection a request is about (RFC 4918 section 10.2).
package enum Depth: Hashable, Sendable {
    case zero
    case one
    case infinity

    /// - Returns: `nil` for a value that is none of `0`, `1` and `infinity`.
    package init?(_ field: String) {
        // Longer ones are none of these, and to compare them could take long.
        switch field.utf8.count <= 8 ? field.lowercased() : "" {
        case "0": self = .zero
        case "1": self = .one
        case "infinity": self = .infinity
        default: return nil
        }
    }

    /// As the field has it.
    package var text: String {
        switch self {
        case .zero: "0"
        case .one: "1"
        case .infinity: "infinity"
        }
    }
}
