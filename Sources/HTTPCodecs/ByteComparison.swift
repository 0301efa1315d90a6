/// Comparisons of text that a peer has sent.
///
/// `==` and hashing use the canonical form of a text, and sort runs of combining marks in quadratic
/// time. The methods here compare bytes.
extension String {
    /// Whether both have the same bytes.
    package func hasBytes(of other: String) -> Bool { utf8.elementsEqual(other.utf8) }

    /// Whether this equals the given ASCII text, ignoring the case of letters.
    /// - Parameter text: ASCII in lower case.
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
