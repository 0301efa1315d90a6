/// The grammar of JSON (RFC 8259) as a check that goes over the bytes once and builds nothing.
///
/// It runs before Foundation sees the bytes. A level of nesting costs one bit and no stack;
/// accepted input is JSON in UTF-8, so that any later failure is about types. Foundation alone
/// accepts trailing commas, UTF-16, and any text where no value is decoded.
struct JSONGrammar {
    private enum Expected { case value, firstElement, firstName, name, colon, afterValue }

    private var expected = Expected.value
    private var position: Int
    private let depthLimit: Int
    private let nameByteLimit: Int
    private var depth = 0
    /// For each open array or object whether it is an object, 64 in a word.
    private var objects: [UInt64] = []

    private init(from position: Int, depthLimit: Int, nameByteLimit: Int) {
        self.position = position
        self.depthLimit = depthLimit
        self.nameByteLimit = nameByteLimit
    }

    /// Checks that the bytes from `start` on are one JSON value.
    /// - Throws: `.invalidJSON`, `.invalidText`, `.nestedTooDeeply`, or `.inputTooLong` for a name.
    static func check(
        _ bytes: Span<UInt8>, from start: Int, depthLimit: Int, nameByteLimit: Int
    ) throws(CodecError) {
        var grammar = JSONGrammar(
            from: start, depthLimit: depthLimit, nameByteLimit: nameByteLimit)
        try grammar.run(bytes)
    }

    private mutating func run(_ bytes: Span<UInt8>) throws(CodecError) {
        while position < bytes.count {
            let byte = bytes[position]
            if byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
                position += 1
                continue
            }
            switch expected {
            case .value, .firstElement: try readValue(byte, bytes)
            case .firstName, .name: try readName(byte, bytes)
            case .colon:
                guard byte == UInt8(ascii: ":") else { throw invalid("a colon is missing") }
                position += 1
                expected = .value
            case .afterValue: try readSeparator(byte)
            }
        }
        guard expected == .afterValue, depth == 0 else { throw invalid("it ends early") }
    }

    private mutating func readValue(_ byte: UInt8, _ bytes: Span<UInt8>) throws(CodecError) {
        switch byte {
        case UInt8(ascii: "{"): return try open(isObject: true)
        case UInt8(ascii: "["): return try open(isObject: false)
        case UInt8(ascii: "]") where expected == .firstElement: return close()
        case UInt8(ascii: "\""): try readString(bytes)
        case UInt8(ascii: "-"), 0x30...0x39: try readNumber(bytes)
        case UInt8(ascii: "t"): try readWord("true", bytes)
        case UInt8(ascii: "f"): try readWord("false", bytes)
        case UInt8(ascii: "n"): try readWord("null", bytes)
        default: throw invalid("no value begins so")
        }
        expected = .afterValue
    }

    private mutating func readName(_ byte: UInt8, _ bytes: Span<UInt8>) throws(CodecError) {
        if byte == UInt8(ascii: "}"), expected == .firstName { return close() }
        guard byte == UInt8(ascii: "\"") else { throw invalid("a name is missing") }
        let start = position + 1
        try readString(bytes)
        guard position - 1 - start <= nameByteLimit else {
            throw CodecError(.inputTooLong, at: Int64(start), "the name of a member")
        }
        expected = .colon
    }

    private mutating func readSeparator(_ byte: UInt8) throws(CodecError) {
        guard depth > 0 else { throw invalid("more follows the value") }
        switch (byte, isInObject) {
        case (UInt8(ascii: ","), true): expected = .name
        case (UInt8(ascii: ","), false): expected = .value
        case (UInt8(ascii: "}"), true), (UInt8(ascii: "]"), false): return close()
        default: throw invalid("a comma is missing")
        }
        position += 1
    }

    // MARK: Nesting

    private var isInObject: Bool {
        let index = depth - 1
        return objects[index >> 6] >> UInt64(index & 63) & 1 == 1
    }

    private mutating func open(isObject: Bool) throws(CodecError) {
        guard depth < depthLimit else {
            throw CodecError(.nestedTooDeeply, at: Int64(position), "JSON")
        }
        if objects.count == depth >> 6 { objects.append(0) }
        let bit = UInt64(1) << UInt64(depth & 63)
        if isObject { objects[depth >> 6] |= bit } else { objects[depth >> 6] &= ~bit }
        depth += 1
        position += 1
        expected = isObject ? .firstName : .firstElement
    }

    private mutating func close() {
        depth -= 1
        position += 1
        expected = .afterValue
    }

    // MARK: Scalars

    private mutating func readWord(
        _ word: StaticString, _ bytes: Span<UInt8>
    ) throws(CodecError) {
        for index in 0..<word.utf8CodeUnitCount {
            guard position < bytes.count, unsafe bytes[position] == word.utf8Start[index] else {
                throw invalid("no value begins so")
            }
            position += 1
        }
    }

    /// number = [ "-" ] int [ frac ] [ exp ] (section 6).
    private mutating func readNumber(_ bytes: Span<UInt8>) throws(CodecError) {
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

    /// string = quotation-mark *char quotation-mark (section 7).
    private mutating func readString(_ bytes: Span<UInt8>) throws(CodecError) {
        var index = position + 1
        defer { position = index }
        while true {
            index = Self.plainEnd(bytes, from: index)
            guard index < bytes.count else { break }
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") {
                index += 1
                return
            }
            if byte == UInt8(ascii: "\\") {
                try readEscape(bytes, &index)
            } else if byte < 0x20 {
                throw invalid("a control character in a string", at: index)
            } else {
                guard let length = UTF8Text.sequenceLength(bytes, at: index) else {
                    throw CodecError(.invalidText, at: Int64(index), "JSON")
                }
                index += length
            }
        }
        throw invalid("it ends early", at: index)
    }

    /// The first byte from `start` on that is no plain character of a string: a quotation mark, a
    /// backslash, a control character, or one that is not ASCII. Eight bytes at once.
    static func plainEnd(_ bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start
        unsafe bytes.withUnsafeBytes { room in
            while index + 8 <= room.count {
                let word = unsafe UInt64(
                    littleEndian: room.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                let quote = word ^ 0x2222_2222_2222_2222
                let backslash = word ^ 0x5C5C_5C5C_5C5C_5C5C
                let (ones, highs) = (
                    0x0101_0101_0101_0101 as UInt64, 0x8080_8080_8080_8080 as UInt64
                )
                let controls = (word &- 0x2020_2020_2020_2020) & ~word
                // The lowest of the high bits is right; those above may owe theirs to it.
                let signs = (quote &- ones) & ~quote | (backslash &- ones) & ~backslash
                let found = (word | controls | signs) & highs
                guard found == 0 else {
                    index += found.trailingZeroBitCount >> 3
                    return
                }
                index += 8
            }
            while index < room.count, unsafe isPlain(room[index]) { index += 1 }
        }
        return index
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        0x20..<0x80 ~= byte && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private func readEscape(_ bytes: Span<UInt8>, _ index: inout Int) throws(CodecError) {
        let start = index
        index += 2
        guard index <= bytes.count else { throw invalid("it ends early", at: bytes.count) }
        switch bytes[index - 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
            UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return
        case UInt8(ascii: "u"):
            let end = index + 4
            while index < end, index < bytes.count, Self.isHexDigit(bytes[index]) { index += 1 }
            guard index == end else { throw invalid("no escape is so", at: start) }
        default: throw invalid("no escape is so", at: start)
        }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        0x30...0x39 ~= byte || 0x61...0x66 ~= byte | 0x20
    }

    private func invalid(_ detail: String, at offset: Int? = nil) -> CodecError {
        CodecError(.invalidJSON, at: Int64(offset ?? position), detail)
    }
}

/// Well-formed UTF-8 (RFC 3629 section 4).
enum UTF8Text {
    /// The length of the well-formed sequence that begins at `index`; `nil` when none does.
    static func sequenceLength(_ bytes: Span<UInt8>, at index: Int) -> Int? {
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch bytes[index] {
        case ..<0x80: return 1
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: length = 4
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: return nil
        }
        guard bytes.count - index >= length, second ~= bytes[index + 1] else { return nil }
        for offset in 2..<max(length, 2) where bytes[index + offset] & 0xC0 != 0x80 { return nil }
        return length
    }
}
