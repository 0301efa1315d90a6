/// Reads one JSON value from front to back without copying it. Used by types that are
/// `JSONReadable`.
///
/// All content, read or skipped, is checked against the grammar and the limits of its `JSONBody`.
/// Members and elements that are not read are skipped.
///
/// After an error nothing more is read, and each call throws the error again: a type that accepts
/// several kinds of values must call ``nextKind()`` before it reads. The reader cannot outlive its
/// bytes. RFC 8259.
public struct JSONReader: ~Escapable {
    /// The kinds of JSON values (RFC 8259 section 3).
    public enum Kind: Sendable {
        case object, array, string, number, boolean, null

        /// The name in messages, with the article.
        fileprivate var name: String {
            switch self {
            case .object: "an object"
            case .array: "an array"
            case .string: "a string"
            case .number: "a number"
            case .boolean: "a boolean"
            case .null: "null"
            }
        }

        /// The kind of a value by its first byte; nil for other bytes.
        fileprivate init?(_ byte: UInt8) {
            switch byte {
            case UInt8(ascii: "{"): self = .object
            case UInt8(ascii: "["): self = .array
            case UInt8(ascii: "\""): self = .string
            case UInt8(ascii: "-"), 0x30...0x39: self = .number
            case UInt8(ascii: "t"), UInt8(ascii: "f"): self = .boolean
            case UInt8(ascii: "n"): self = .null
            default: return nil
            }
        }
    }

    private let bytes: Span<UInt8>
    private var grammar: JSONGrammar
    /// Whether `nextElement()` has announced an element that was not read yet.
    private var hasElement = false

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, _ grammar: JSONGrammar) {
        self.bytes = bytes
        self.grammar = grammar
    }

    /// Checks that nothing follows the value that was read.
    mutating func finish() throws(CodecError) { try grammar.finish(bytes) }

    // MARK: Objects and arrays

    /// Enters the next value, an object; ``nextName()`` then moves from member to member.
    /// - Throws: `.unexpectedJSON` for another kind of value, and the errors of invalid content.
    public mutating func beginObject() throws(CodecError) {
        try begin(.object)
        try grammar.open(isObject: true)
    }

    /// Moves to the next member of the innermost object, and skips the previous member's value if
    /// it was not read.
    /// - Returns: the name, whose value is read next; `nil` at the end of the object, which is then
    ///   left.
    /// - Throws: the errors of invalid content.
    @_lifetime(copy self)
    public mutating func nextName() throws(CodecError) -> JSONName? {
        if let name = grammar.plainName(bytes) {
            return JSONName(bytes.extracting(name), hasEscape: false)
        }
        if grammar.closesObject(bytes) { return nil }
        guard grammar.depth > 0, grammar.isInObject else { throw misplaced("no object was begun") }
        if grammar.expected == .value || grammar.expected == .colon { try skipValue() }
        guard let name = try grammar.nextName(bytes) else { return nil }
        let span = bytes.extracting(name.range)
        if name.hasEscape, JSONEscapes.decoded(span) == nil {
            throw unexpected("half of a surrogate pair", at: name.range)
        }
        return JSONName(span, hasEscape: name.hasEscape)
    }

    /// Enters the next value, an array; ``nextElement()`` then moves from element to element.
    /// - Throws: `.unexpectedJSON` for another kind of value, and the errors of invalid content.
    public mutating func beginArray() throws(CodecError) {
        try begin(.array)
        try grammar.open(isObject: false)
    }

    /// Moves to the next element of the innermost array, and skips the previous element if it was
    /// not read.
    /// - Returns: whether the array has another element, which is read next; if not, the array is
    ///   left.
    /// - Throws: the errors of invalid content.
    public mutating func nextElement() throws(CodecError) -> Bool {
        guard grammar.depth > 0, !grammar.isInObject else { throw misplaced("no array was begun") }
        if hasElement { try skipValue() }
        hasElement = try grammar.nextElement(bytes)
        return hasElement
    }

    // MARK: Values

    /// The kind of the next value, which is not read.
    /// - Throws: the errors of invalid content.
    public mutating func nextKind() throws(CodecError) -> Kind {
        guard let byte = try grammar.valueStart(bytes) else {
            throw misplaced("expected a value")
        }
        guard let kind = Kind(byte) else {
            // The grammar throws the error for these bytes.
            try grammar.skip(bytes)
            throw misplaced("expected a value")
        }
        return kind
    }

    /// Reads the next value.
    /// - Throws: `.unexpectedJSON` for another kind of value, the errors of invalid content, and
    ///   errors of `Value` itself.
    @inlinable
    public mutating func next<Value: JSONReadable>(
        _ type: Value.Type = Value.self
    ) throws -> Value {
        try Value(reading: &self)
    }

    /// Skips the next value if it is `null`.
    /// - Returns: whether the value was `null`.
    /// - Throws: the errors of invalid content.
    public mutating func nextNull() throws(CodecError) -> Bool {
        guard try nextKind() == .null else { return false }
        try skipValue()
        return true
    }

    /// Skips the next value.
    /// - Throws: the errors of invalid content.
    public mutating func skipValue() throws(CodecError) {
        _ = try nextKind()
        hasElement = false
        try grammar.skip(bytes)
    }

    /// Reads a string.
    mutating func string() throws(CodecError) -> String {
        if let text = grammar.plainString(bytes) {
            hasElement = false
            return string(text)
        }
        try begin(.string)
        let start = grammar.position
        let text = try grammar.string(bytes)
        guard text.hasEscape else { return string(text.range) }
        guard let decoded = JSONEscapes.decoded(bytes.extracting(text.range)) else {
            throw unexpected("half of a surrogate pair", at: start)
        }
        return decoded
    }

    /// Reads a boolean.
    @inline(__always)
    mutating func boolean() throws(CodecError) -> Bool {
        try begin(.boolean)
        let value = bytes[grammar.position] == UInt8(ascii: "t")
        try grammar.skip(bytes)
        return value
    }

    /// Reads a number that is an integer, such as `10`, `10.0` or `1e1`.
    mutating func integer<Value: FixedWidthInteger>() throws(CodecError) -> Value {
        if let value: Value = grammar.shortNumber(bytes, { $0.integer() }) {
            hasElement = false
            return value
        }
        let text = try number()
        if let value: Value = JSONNumber.integer(bytes.extracting(text)) { return value }
        guard let value: Value = JSONNumber.wholeNumber(bytes.extracting(text)) else {
            // Foundation reads a number that is too small for a `Double`, such as `1e-999`, as
            // zero.
            if Double(string(text)) == 0 { return 0 }
            throw unexpected("the number is no integer from \(Value.min) to \(Value.max)", at: text)
        }
        return value
    }

    /// Reads a number.
    mutating func double() throws(CodecError) -> Double {
        if let value = grammar.shortNumber(bytes, { $0.double }) {
            hasElement = false
            return value
        }
        let text = try number()
        guard let value = double(text) else { throw outOfRange(text) }
        return value
    }

    /// Reads a number.
    mutating func float() throws(CodecError) -> Float {
        let text = try number()
        guard let value: Float = float(text) else { throw outOfRange(text) }
        return value
    }

    private mutating func number() throws(CodecError) -> Range<Int> {
        try begin(.number)
        return try grammar.number(bytes)
    }

    private func double(_ text: Range<Int>) -> Double? {
        JSONNumber.Short(bytes, from: text.lowerBound)?.double ?? float(text)
    }

    /// The value of a number; `nil` if it overflows to infinity or underflows to zero.
    private func float<Value: BinaryFloatingPoint & LosslessStringConvertible>(
        _ text: Range<Int>
    ) -> Value? {
        guard let value = Value(string(text)), value.isFinite else { return nil }
        return value != 0 || isZero(text) ? value : nil
    }

    private func isZero(_ text: Range<Int>) -> Bool {
        for index in text {
            switch bytes[index] {
            case 0x31...0x39: return false
            case UInt8(ascii: "e"), UInt8(ascii: "E"): return true
            default: continue
            }
        }
        return true
    }

    private func string(_ text: Range<Int>) -> String {
        unsafe bytes.extracting(text).withUnsafeBufferPointer { bytes in
            unsafe String(decoding: bytes, as: UTF8.self)
        }
    }

    // MARK: Errors

    /// Moves to the next value, which must be of this kind.
    @inline(__always)
    private mutating func begin(_ wanted: Kind) throws(CodecError) {
        if grammar.isAtValue(bytes), Kind(bytes[grammar.position]) == wanted {
            hasElement = false
            return
        }
        let kind = try nextKind()
        guard kind == wanted else {
            throw unexpected("expected \(wanted.name), found \(kind.name)", at: grammar.position)
        }
        hasElement = false
    }

    private mutating func outOfRange(_ text: Range<Int>) -> CodecError {
        unexpected("the number is too large or too small", at: text)
    }

    private mutating func unexpected(_ detail: String, at text: Range<Int>) -> CodecError {
        unexpected(detail, at: text.lowerBound)
    }

    private mutating func unexpected(_ detail: String, at position: Int) -> CodecError {
        grammar.fail(CodecError(.unexpectedJSON, at: Int64(position), detail))
    }

    /// The error for a call in a wrong place.
    private mutating func misplaced(_ detail: String) -> CodecError {
        unexpected(detail, at: grammar.position)
    }
}

/// The name of a member, which is compared without a copy.
///
/// A `switch` compares names with literals, as the example of ``JSONReadable`` shows. Names are
/// compared by their bytes, after escapes are resolved. A name cannot outlive the bytes that are
/// read.
public struct JSONName: ~Escapable {
    @usableFromInline let bytes: Span<UInt8>
    /// Whether the name has escapes, which are resolved when it is compared.
    @usableFromInline let hasEscape: Bool

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, hasEscape: Bool) {
        self.bytes = bytes
        self.hasEscape = hasEscape
    }

    /// The name as text.
    public var string: String {
        if hasEscape, let decoded = JSONEscapes.decoded(bytes) { return decoded }
        return unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// Whether a name has the bytes of a literal.
    @inlinable
    public static func == (name: borrowing JSONName, text: StaticString) -> Bool {
        name.equals(text)
    }

    /// Lets a `switch` compare names.
    @inlinable
    public static func ~= (text: StaticString, name: borrowing JSONName) -> Bool {
        name.equals(text)
    }

    @inlinable
    func equals(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { wanted in
            guard !hasEscape else { return unsafe isSameWithEscapes(as: wanted) }
            return unsafe bytes.withUnsafeBufferPointer { bytes in
                guard wanted.count == bytes.count else { return false }
                for index in 0..<bytes.count {
                    guard unsafe bytes[index] == wanted[index] else { return false }
                }
                return true
            }
        }
    }

    @usableFromInline
    func isSameWithEscapes(as wanted: UnsafeBufferPointer<UInt8>) -> Bool {
        unsafe JSONEscapes.isSame(bytes, as: wanted)
    }
}
