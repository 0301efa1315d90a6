internal import HTTPCodecs

/// Text that a peer has sent, compared byte by byte.
///
/// `String` compares by canonical equivalence, which sorts each run of combining characters: the
/// cost grows with the square of the run. Names in XML, tokens and paths are equal only if all
/// their characters are (Namespaces in XML 1.0 section 2.3, RFC 3986 section 6.2.1).
struct ByteText: Hashable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: ByteText, right: ByteText) -> Bool {
        left.text.hasBytes(of: right.text)
    }

    func hash(into hasher: inout Hasher) {
        text.hashBytes(into: &hasher)
    }
}
