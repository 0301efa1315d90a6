/// Whether COPY and MOVE may replace their destination (RFC 4918 section 10.6).
package enum Overwrite {
    /// - Parameter field: the value of the field; without one, the result is `true`.
    /// - Returns: `nil` if the value is neither `T` nor `F`, in upper or lower case.
    package static func parse(_ field: String?) -> Bool? {
        switch field {
        case nil, "T", "t": true
        case "F", "f": false
        default: nil
        }
    }
}
