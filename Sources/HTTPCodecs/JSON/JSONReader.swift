/// Reads one JSON value front to back, in place, as types ask for it that are `JSONReadable`.
///
/// Everything that is read or skipped is checked against the grammar and the limits of its
/// `JSONBody`. A value that no type reads is skipped.
///
/// After an error nothing more is read, and each call throws that error again: a type that takes
/// values of several kinds asks ``nextKind()`` before it reads. It cannot outlive the bytes that it
/// reads. RFC 8259.
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

        /// Other bytes begin no value.
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
    /// Whether an element was announced that was not read yet.
    private var hasElement = false

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, _ grammar: JSONGrammar) {
        self.bytes = bytes
        self.grammar = grammar
    }

    /// Checks that nothing follows the value that was read.
    mutating func finish() throws(CodecError) { try grammar.finish(bytes) }

    // MARK: Objects and arrays

    /// Enters the object that comes next; ``nextName()`` then leads from member to member.
    /// - Throws: `.unexpectedJSON` for another kind of value, and what is wrong with the content.
    public mutating func beginObject() throws(CodecError) {
        try begin(.object)
        try grammar.open(isObject: true)
    }

    /// Goes to the next member of the object that was entered last, and skips the value of the one
    /// before if it was not read.
    /// - Returns: the name, whose value comes next; `nil` after the last one, when the object is
    ///   left.
    /// - Throws: what is wrong with the content.
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

    /// Enters the array that comes next; ``nextElement()`` then leads from element to element.
    /// - Throws: `.unexpectedJSON` for another kind of value, and what is wrong with the content.
    public mutating func beginArray() throws(CodecError) {
        try begin(.array)
        try grammar.open(isObject: false)
    }

    /// Goes to the next element of the array that was entered last, and skips the one before if it
    /// was not read.
    /// - Returns: whether there is one, which comes next; if not, the array is left.
    /// - Throws: what is wrong with the content.
    public mutating func nextElement() throws(CodecError) -> Bool {
        guard grammar.depth > 0, !grammar.isInObject else { throw misplaced("no array was begun") }
        if hasElement { try skipValue() }
        hasElement = try grammar.nextElement(bytes)
        return hasElement
    }

    // MARK: Values

    /// The kind of the value that comes next, which is not read.
    /// - Throws: what is wrong with the content.
    public mutating func nextKind() throws(CodecError) -> Kind {
        guard let byte = try grammar.valueStart(bytes) else {
            throw misplaced("no value comes next")
        }
        guard let kind = Kind(byte) else {
            // The grammar knows what is wrong with it.
            try grammar.skip(bytes)
            throw misplaced("no value comes next")
        }
        return kind
    }

    /// Reads the next value.
    /// - Throws: `.unexpectedJSON` for another kind of value, what is wrong with the content, and
    ///   what `Value` itself throws.
    @inlinable
    public mutating func next<Value: JSONReadable>(
        _ type: Value.Type = Value.self
    ) throws -> Value {
        try Value(reading: &self)
    }

    /// Reads the next value if it is `null`.
    /// - Returns: whether it was.
    /// - Throws: what is wrong with the content.
    public mutating func nextNull() throws(CodecError) -> Bool {
        guard try nextKind() == .null else { return false }
        try skipValue()
        return true
    }

    /// Reads the next value and keeps nothing of it.
    /// - Throws: what is wrong with the content.
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
            // Foundation takes one that is too small for a `Double`, such as `1e-999`, as zero.
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

    /// The value of a number; `nil` when it is infinite, or zero though it is written otherwise.
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

    /// Goes to the next value, which must be of a kind.
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

    /// A type reads in another order than it may.
    private mutating func misplaced(_ detail: String) -> CodecError {
        unexpected(detail, at: grammar.position)
    }
}

/// The name of a member, which is compared in place.
///
/// A `switch` compares it with literals, as the example of ``JSONReadable`` shows. Names compare by
/// their bytes, after escapes are resolved. It cannot outlive the bytes that are read.
public struct JSONName: ~Escapable {
    @usableFromInline let bytes: Span<UInt8>
    /// Whether it has escapes, which are resolved when it is compared.
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

    /// Whether a name is a given one.
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
