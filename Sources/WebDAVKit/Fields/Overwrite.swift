/// Whether COPY and MOVE may replace what is at their destination (RFC 4918 section 10.6).
package enum Overwrite {
    /// - Parameter field: the value of the field; without one the answer is yes.
    /// - Returns: `nil` for a value that is neither `T` nor `F`.
    package static func parse(_ field: String?) -> Bool? {
        switch field {
        case nil, "T", "t": true
        case "F", "f": false
        default: nil
        }
    }
}
