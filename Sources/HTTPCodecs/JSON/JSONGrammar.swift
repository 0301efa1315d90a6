/// Checks the grammar of JSON (RFC 8259) in one pass over the bytes, and lists the values of short
/// content.
///
/// The check runs before Foundation reads the bytes. A level of nesting costs one bit and no stack.
/// Accepted input is JSON in UTF-8, so any later failure is about types. Without this check,
/// Foundation accepts trailing commas, UTF-16, and any text where no value is decoded.
struct JSONGrammar {
    enum Expected { case value, firstElement, firstName, name, colon, afterValue, nothing }

    private(set) var expected = Expected.value
    var position: Int
    private let depthLimit: Int
    let nameByteLimit: Int
    private var nesting = JSONNesting()
    private var values: JSONTreeBuilder
    /// The first error, which ends the reading.
    private var failure: CodecError?

    /// - Parameter listing: the length of the content in bytes if its values are to be listed;
    ///   otherwise 0.
    init(from position: Int, depthLimit: Int, nameByteLimit: Int, listing: Int = 0) {
        self.position = position
        self.depthLimit = depthLimit
        self.nameByteLimit = nameByteLimit
        values = JSONTreeBuilder(byteCount: listing)
    }

    /// Checks that the bytes from `start` on are one JSON value.
    /// - Parameter lists: whether to list the values.
    /// - Returns: the values for a `JSONTree`; none if they are not requested, or if `JSONTree`
    ///   does not support the content.
    /// - Throws: `.invalidJSON`, `.invalidText`, `.nestedTooDeeply`, or `.inputTooLong` for a long
    ///   name or a long run of combining marks.
    @discardableResult
    static func check(
        _ bytes: Span<UInt8>, from start: Int, depthLimit: Int, nameByteLimit: Int,
        lists: Bool = false
    ) throws(CodecError) -> [JSONTree.Node] {
        var grammar = JSONGrammar(
            from: start, depthLimit: depthLimit, nameByteLimit: nameByteLimit,
            listing: lists ? bytes.count : 0)
        try grammar.run(bytes)
        return grammar.values.isUsual ? grammar.values.nodes : []
    }

    var depth: Int { nesting.depth }
    var isInObject: Bool { nesting.isInObject }

    private mutating func run(_ bytes: Span<UInt8>) throws(CodecError) {
        while position < bytes.count {
            if let name = plainName(bytes) {
                values.add(name: name, isPlain: true)
            } else if let text = plainString(bytes) {
                values.add(.string, text)
            } else {
                try step(bytes)
            }
        }
        try end()
    }

    /// Checks that the value is complete.
    mutating func end() throws(CodecError) {
        guard expected == .afterValue, depth == 0 else { throw invalid("unexpected end") }
    }

    /// Reads the next value, name or separator, or a byte of white space.
    @inline(__always)
    mutating func step(_ bytes: Span<UInt8>) throws(CodecError) {
        let byte = bytes[position]
        if Self.isSpace(byte) {
            position += 1
            return
        }
        switch expected {
        case .value, .firstElement: try readValue(byte, bytes)
        case .firstName, .name: _ = try readName(byte, bytes)
        case .colon:
            guard byte == UInt8(ascii: ":") else { throw invalid("a colon is missing") }
            beginValue(at: position + 1)
        case .afterValue: try readSeparator(byte, bytes)
        case .nothing: throw invalid("reading has ended")
        }
    }

    @inline(__always)
    static func isSpace(_ byte: UInt8) -> Bool {
        byte <= 0x20 && (byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09)
    }

    private mutating func readValue(_ byte: UInt8, _ bytes: Span<UInt8>) throws(CodecError) {
        switch byte {
        case UInt8(ascii: "{"): return try open(isObject: true)
        case UInt8(ascii: "["): return try open(isObject: false)
        case UInt8(ascii: "]") where expected == .firstElement: return close(bytes)
        case UInt8(ascii: "\""):
            let text = try readString(bytes)
            values.add(.string, text.range, hasEscape: text.hasEscape)
        case UInt8(ascii: "-"), 0x30...0x39:
            let start = position
            try readNumber(bytes)
            values.add(.number, start..<position)
        case UInt8(ascii: "t"): try readWord("true", .yes, bytes)
        case UInt8(ascii: "f"): try readWord("false", .no, bytes)
        case UInt8(ascii: "n"): try readWord("null", .null, bytes)
        default: throw invalid("not a JSON value")
        }
        endValue(bytes)
    }

    /// Continues after a value, and after its comma if one follows immediately.
    @inline(__always)
    mutating func endValue(_ bytes: Span<UInt8>) {
        expected = .afterValue
        guard position < bytes.count, bytes[position] == UInt8(ascii: ","), depth > 0 else {
            return
        }
        position += 1
        expected = isInObject ? .name : .value
    }

    /// Moves to the value of a member whose name was read.
    @inline(__always)
    mutating func beginValue(at position: Int) {
        self.position = position
        expected = .value
    }

    /// - Returns: the name; `nil` if the object ends instead.
    @inline(__always)
    mutating func readName(
        _ byte: UInt8, _ bytes: Span<UInt8>
    ) throws(CodecError) -> Text? {
        if byte == UInt8(ascii: "}"), expected == .firstName {
            close(bytes)
            return nil
        }
        guard byte == UInt8(ascii: "\"") else { throw invalid("a name is missing") }
        let text = try readString(bytes)
        guard text.range.count <= nameByteLimit else {
            throw fail(
                CodecError(
                    .inputTooLong, at: Int64(text.range.lowerBound), "the name of a member"))
        }
        values.add(name: text.range, isPlain: text.isASCII && !text.hasEscape)
        expected = .colon
        // Usually no white space precedes the colon.
        if position < bytes.count, bytes[position] == UInt8(ascii: ":") {
            beginValue(at: position + 1)
        }
        return text
    }

    mutating func readSeparator(_ byte: UInt8, _ bytes: Span<UInt8>) throws(CodecError) {
        guard expected == .afterValue else { throw invalid("a value is missing") }
        guard depth > 0 else { throw invalid("bytes after the value") }
        switch (byte, isInObject) {
        case (UInt8(ascii: ","), true): expected = .name
        case (UInt8(ascii: ","), false): expected = .value
        case (UInt8(ascii: "}"), true), (UInt8(ascii: "]"), false): return close(bytes)
        default: throw invalid("a comma is missing")
        }
        position += 1
    }

    // MARK: Nesting

    /// Opens the object or array that begins here.
    mutating func open(isObject: Bool) throws(CodecError) {
        guard depth < depthLimit else {
            throw fail(CodecError(.nestedTooDeeply, at: Int64(position), "JSON"))
        }
        nesting.open(isObject: isObject)
        values.open(isObject ? .object : .array, at: position)
        position += 1
        expected = isObject ? .firstName : .firstElement
    }

    /// Closes the object or array that ends here.
    mutating func close(_ bytes: Span<UInt8>) {
        nesting.close()
        position += 1
        values.close()
        endValue(bytes)
    }

    // MARK: Scalars

    private mutating func readWord(
        _ word: StaticString, _ kind: JSONTree.Kind, _ bytes: Span<UInt8>
    ) throws(CodecError) {
        let start = position
        for index in 0..<word.utf8CodeUnitCount {
            guard position < bytes.count, unsafe bytes[position] == word.utf8Start[index] else {
                throw invalid("not a JSON value")
            }
            position += 1
        }
        values.add(kind, start..<position)
    }

    /// number = [ "-" ] int [ frac ] [ exp ] (section 6).
    mutating func readNumber(_ bytes: Span<UInt8>) throws(CodecError) {
        if bytes[position] == UInt8(ascii: "-") { position += 1 }
        if position < bytes.count, bytes[position] == UInt8(ascii: "0") {
            position += 1
        } else {
            try readDigits(bytes)
        }
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            position += 1
            try readDigits(bytes)
        }
        guard position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") else { return }
        position += 1
        if position < bytes.count,
            bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-")
        {
            position += 1
        }
        try readDigits(bytes)
    }

    private mutating func readDigits(_ bytes: Span<UInt8>) throws(CodecError) {
        let start = position
        while position < bytes.count, 0x30...0x39 ~= bytes[position] { position += 1 }
        guard position > start else { throw invalid("a digit is missing") }
    }

    /// A string or a name.
    struct Text {
        /// The range between the quotation marks.
        var range: Range<Int>
        var isASCII: Bool
        var hasEscape: Bool
    }

    /// string = quotation-mark *char quotation-mark (section 7).
    mutating func readString(_ bytes: Span<UInt8>) throws(CodecError) -> Text {
        let start = position + 1
        var index = start
        var (isASCII, hasEscape) = (true, false)
        defer { position = index }
        while true {
            index = Self.plainEnd(bytes, from: index)
            guard index < bytes.count else { break }
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") {
                index += 1
                let text = Text(
                    range: start..<index - 1, isASCII: isASCII, hasEscape: hasEscape)
                if !isASCII || hasEscape, text.range.count > JSONMarks.uncheckedBytes {
                    try checkMarks(text.range, bytes)
                }
                return text
            }
            if byte == UInt8(ascii: "\\") {
                hasEscape = true
                try readEscape(bytes, &index)
            } else if byte < 0x20 {
                throw invalid("a control character in a string", at: index)
            } else {
                guard let length = UTF8Text.sequenceLength(bytes, at: index) else {
                    throw fail(CodecError(.invalidText, at: Int64(index), "JSON"))
                }
                isASCII = false
                index += length
            }
        }
        throw invalid("unexpected end", at: index)
    }

    @inline(never)
    private mutating func checkMarks(
        _ range: Range<Int>, _ bytes: Span<UInt8>
    ) throws(CodecError) {
        guard JSONMarks.areTooMany(bytes.extracting(range)) else { return }
        throw fail(
            CodecError(
                .inputTooLong, at: Int64(range.lowerBound), "too many combining marks in a row"))
    }

    /// The index of the first byte from `start` on that is not a plain character of a string: a
    /// quotation mark, a backslash, a control character, or a byte beyond ASCII. Searches eight
    /// bytes at a time.
    @inline(__always)
    static func plainEnd(_ bytes: Span<UInt8>, from start: Int) -> Int {
        unsafe bytes.withUnsafeBytes { unsafe plainEnd($0, from: start) }
    }

    @inline(__always)
    static func plainEnd(_ room: UnsafeRawBufferPointer, from start: Int) -> Int {
        guard let base = room.baseAddress else { return start }
        var index = start
        while index <= room.count &- 8 {
            let found = unsafe plainStops(
                base.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            if found != 0 { return index &+ found.trailingZeroBitCount >> 3 }
            index &+= 8
            // Only long texts are searched in blocks; names and most texts are shorter.
            if index &- start == 16 { index = unsafe plainBlocksEnd(room, from: index) }
        }
        while index < room.count, unsafe isPlain(room[index]) { index += 1 }
        return index
    }

    /// A word whose lowest set bit is in the first of eight bytes that is not plain; 0 if all are
    /// plain.
    @inline(__always)
    private static func plainStops(_ bytes: UInt64) -> UInt64 {
        let word = UInt64(littleEndian: bytes)
        let quote = word ^ 0x2222_2222_2222_2222
        let backslash = word ^ 0x5C5C_5C5C_5C5C_5C5C
        let (ones, highs) = (0x0101_0101_0101_0101 as UInt64, 0x8080_8080_8080_8080 as UInt64)
        let controls = (word &- 0x2020_2020_2020_2020) & ~word
        // Only the lowest of the high bits is reliable: a borrow may have set the bits above it.
        let signs = (quote &- ones) & ~quote | (backslash &- ones) & ~backslash
        return (word | controls | signs) & highs
    }

    /// The same in steps of 64 bytes. All bytes before the result are plain; one of the next 64 is
    /// not, or fewer than 64 are left.
    private static func plainBlocksEnd(_ room: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        while index + 64 <= room.count {
            let first = unsafe stops(room, index) .| stops(room, index + 16)
            let second = unsafe stops(room, index + 32) .| stops(room, index + 48)
            let words = unsafe unsafeBitCast(first .| second, to: SIMD2<UInt64>.self)
            guard words[0] | words[1] == 0 else { break }
            index += 64
        }
        return index
    }

    /// Which of 16 bytes are not plain.
    @inline(__always)
    private static func stops(
        _ room: UnsafeRawBufferPointer, _ offset: Int
    ) -> SIMDMask<SIMD16<Int8>> {
        let block = unsafe room.loadUnaligned(fromByteOffset: offset, as: SIMD16<Int8>.self)
        // Bytes above 0x7F are negative.
        return (block .< SIMD16(repeating: 0x20)) .| (block .== SIMD16(repeating: 0x22))
            .| (block .== SIMD16(repeating: 0x5C))
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        0x20..<0x80 ~= byte && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private mutating func readEscape(_ bytes: Span<UInt8>, _ index: inout Int) throws(CodecError) {
        let start = index
        index += 2
        guard index <= bytes.count else { throw invalid("unexpected end", at: bytes.count) }
        switch bytes[index - 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
            UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return
        case UInt8(ascii: "u"):
            let end = index + 4
            while index < end, index < bytes.count, Self.isHexDigit(bytes[index]) { index += 1 }
            guard index == end else { throw invalid("unknown escape", at: start) }
        default: throw invalid("unknown escape", at: start)
        }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        0x30...0x39 ~= byte || 0x61...0x66 ~= byte | 0x20
    }

    mutating func invalid(_ detail: String, at offset: Int? = nil) -> CodecError {
        fail(CodecError(.invalidJSON, at: Int64(offset ?? position), detail))
    }

    /// Notes an error, and ends the reading.
    /// - Returns: the error to throw: the first error, even if a caller has dropped it and
    ///   continues to read.
    mutating func fail(_ error: CodecError) -> CodecError {
        expected = .nothing
        let first = failure ?? error
        failure = first
        return first
    }
}
