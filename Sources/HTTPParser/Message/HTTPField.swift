/// A field name: a token, compared without regard to case (RFC 9110 section 5.1).
///
/// The spelling is kept, and written on the wire unchanged.
public struct HTTPFieldName: Sendable {
    /// The name as it was spelled.
    public let text: String

    /// Creates a name from a text that the caller knows to be a token.
    @inlinable
    package init(unchecked text: String) {
        self.text = text
    }

    /// Creates a name, or `nil` when `text` is not a token (RFC 9110 section 5.6.2).
    public init?(_ text: String) {
        guard Self.isToken(text) else { return nil }
        self.init(unchecked: text)
    }

    private static func isToken(_ text: String) -> Bool {
        // The bytes are usually contiguous, and then they are read without iterators.
        let isToken = unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
            unsafe !bytes.isEmpty && bytes.allSatisfy(ByteClass.isToken)
        }
        return isToken ?? (!text.isEmpty && text.utf8.allSatisfy(ByteClass.isToken))
    }
}

extension HTTPFieldName: Hashable {
    /// Whether both names are equal, ignoring the case of ASCII letters.
    public static func == (left: Self, right: Self) -> Bool {
        guard left.text.utf8.count == right.text.utf8.count else { return false }
        if left.text == right.text { return true }
        var (left, right) = (left.text, right.text)
        return left.withUTF8 { left in
            right.withUTF8 { right in
                unsafe equalsIgnoringCase(UnsafeRawBufferPointer(left), right)
            }
        }
    }

    /// Hashes the lower-case spelling.
    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(ByteClass.lowercased(byte)) }
    }
}

extension HTTPFieldName: CustomStringConvertible, ExpressibleByStringLiteral {
    /// The name as it was spelled.
    public var description: String { text }

    /// Creates a name from a literal; traps if the literal is not a token.
    public init(stringLiteral text: String) {
        precondition(Self.isToken(text), "not a field name: \(text)")
        self.init(unchecked: text)
    }
}

/// One field line: a name and its value (RFC 9110 section 5).
///
/// Values are not checked here; the serialisers refuse those with control characters.
public struct HTTPField: Hashable, Sendable {
    /// The field's name.
    public var name: HTTPFieldName
    /// The field's value without white space around it.
    public var value: String

    /// Creates a field.
    @inlinable
    public init(_ name: HTTPFieldName, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether the names are equal, ignoring case, and the values have the same bytes. `String`
    /// would also equate canonically equivalent values, which differ on the wire.
    public static func == (left: Self, right: Self) -> Bool {
        left.name == right.name && left.value.utf8.elementsEqual(right.value.utf8)
    }

    /// Hashes the name in lower case and the bytes of the value.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(0xFF as UInt8)
        for byte in value.utf8 { hasher.combine(byte) }
    }
}
