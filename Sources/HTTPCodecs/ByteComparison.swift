/// Comparisons of text that a peer has sent.
///
/// `==` and hashing take text in canonical form, and sorting a run of combining marks for that takes
/// time that grows with the square of its length. These look at bytes.
extension String {
    /// Whether both have the same bytes.
    package func hasBytes(of other: String) -> Bool { utf8.elementsEqual(other.utf8) }

    /// Whether this is an ASCII text, in any case.
    /// - Parameter text: in lower case.
    package func isASCII(_ text: StaticString) -> Bool {
        guard utf8.count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { text in
            unsafe zip(utf8, text).allSatisfy { byte, wanted in
                let isUpper = 0x41...0x5A ~= byte
                return (isUpper ? byte | 0x20 : byte) == wanted
            }
        }
    }
}
