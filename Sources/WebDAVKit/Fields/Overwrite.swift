/// Whether COPY and MOVE may replace their destination (RFC 4918 section 10.6).
package enum Overwrite {
    /// - Parameter field: the value of the field; without one, the result is `true`.
    /// - Returns: `nil` if the value is neither `T` nor `F`, in upper or lower case.
    package static func parse(_ field: String?) -> Bool? {
        guard let field else { return true }
        // Comparing a long text of combining characters takes quadratic time.
        guard field.utf8.count == 1 else { return nil }
        switch field {
        case "T", "t": return true
        case "F", "f": return false
        default: return nil
        }
    }
}
