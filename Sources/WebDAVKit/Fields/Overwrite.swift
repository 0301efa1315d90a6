/// Whether COPY and MOVE may replace their destination (RFC 4918 section 10.6).
package enum Overwrite {
    /// - Parameter field: the value of the field; without one the answer is yes.
    /// - Returns: `nil` unless the value is `T` or `F`.
    package static func parse(_ field: String?) -> Bool? {
        switch field {
        case nil, "T", "t": true
        case "F", "f": false
        default: nil
        }
    }
}
