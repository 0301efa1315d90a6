internal import HTTPParser

/// Parses `application/x-www-form-urlencoded` content as it arrives.
///
/// ```swift
/// var parser = FormURLEncodedParser()
/// try parser.append(first.span)
/// try parser.append(second.span)
/// let form = try parser.finish()
/// ```
///
/// Neither pairs nor errors depend on how the input was split. Time is linear in the length of the
/// input; memory is bounded by that length and by the number of pairs.
///
/// The parser throws `.inputTooLong`, `.tooManyPairs` at the first byte of the first pair too many,
/// and, if the options require it, `.invalidPercentEncoding` at the `%` and `.invalidText` at the
/// first byte that is not UTF-8. An error is final: each later call throws it again.
public struct FormURLEncodedParser: Sendable {
    /// How much of an escape was read.
    private enum Escape: Sendable {
        case none
        case percent
        /// `%` and one digit, which is kept in case no other digit follows.
        case digit(UInt8)
    }

    private let options: FormURLEncoded.Options
    private var form = FormURLEncoded()
    /// How many bytes were read before the current input.
    private var consumed: Int64 = 0
    private var isInPair = false
    private var isInValue = false
    /// The indices in the decoded bytes at which the current input, the current pair, and its value
    /// begin.
    private var base = 0
    private var start = 0
    private var nameEnd = 0
    private var escape = Escape.none
    private var escapeOffset: Int64 = 0
    private var text = UTF8Checker()
    private var failure: CodecError?

    /// Creates a parser.
    public init(options: FormURLEncoded.Options = .standard) {
        self.options = options
    }

    /// Parses more of the form.
    public mutating func append(_ bytes: Span<UInt8>) throws(CodecError) {
        if let failure { throw failure }
        do throws(CodecError) {
            let room = max(0, Int64(clamping: options.byteLimit) - consumed)
            let taken = Int(min(Int64(bytes.count), room))
            try decode(bytes.extracting(first: taken))
            guard taken == bytes.count else { throw CodecError(.inputTooLong, at: consumed) }
        } catch {
            failure = error
            throw error
        }
    }

    /// Ends the form and returns it. The parser cannot be used again.
    public mutating func finish() throws(CodecError) -> FormURLEncoded {
        if let failure { throw failure }
        do throws(CodecError) {
            try decode(Span(), isLast: true)
            try endPair(at: consumed, form.bytes.count)
        } catch {
            failure = error
            throw error
        }
        return form
    }

    /// Decodes into reserved capacity for all possible output: one byte for each byte of input, and
    /// two for an escape that began before.
    private mutating func decode(_ bytes: Span<UInt8>, isLast: Bool = false) throws(CodecError) {
        var decoded: [UInt8] = []
        swap(&decoded, &form.bytes)
        base = decoded.count
        defer { swap(&decoded, &form.bytes) }
        try decoded.append(addingCapacity: bytes.count + 2) { output throws(CodecError) in
            try read(bytes, into: &output)
            if isLast { try endEscape(into: &output) }
        }
        consumed += Int64(bytes.count)
    }

    private mutating func read(
        _ bytes: Span<UInt8>, into output: inout OutputSpan<UInt8>
    ) throws(CodecError) {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            let offset = consumed + Int64(index)
            if case .none = escape {
                if !isInPair, byte != UInt8(ascii: "&") {
                    try beginPair(at: offset, base + output.count)
                }
            } else if try continueEscape(with: byte, into: &output) {
                index += 1
                continue
            }
            switch byte {
            case UInt8(ascii: "&"):
                try endPair(at: offset, base + output.count)
            case UInt8(ascii: "=") where !isInValue:
                try endText(at: offset)
                nameEnd = base + output.count
                isInValue = true
            case UInt8(ascii: "%"):
                escapeOffset = offset
                escape = .percent
                index += try takeWholeEscape(bytes, from: index + 1, into: &output)
            case UInt8(ascii: "+"):
                try put(UInt8(ascii: " "), from: offset, into: &output)
            default:
                index = try readRun(bytes, from: index, into: &output)
                continue
            }
            index += 1
        }
    }

    /// Takes the current byte, which stands for itself, and the following bytes that are not
    /// special.
    private mutating func readRun(
        _ bytes: Span<UInt8>, from start: Int, into output: inout OutputSpan<UInt8>
    ) throws(CodecError) -> Int {
        var index = start
        let checksText = options.refusesInvalidText
        repeat {
            if checksText, !text.take(bytes[index]) {
                throw CodecError(.invalidText, at: consumed + Int64(index))
            }
            output.append(bytes[index])
            index += 1
        } while index < bytes.count && !Self.isSpecial(bytes[index])
        return index
    }

    /// `%`, `&`, `+` and `=`.
    @inline(__always)
    private static func isSpecial(_ byte: UInt8) -> Bool {
        byte < 64 && (0x2000_0860_0000_0000 as UInt64) >> UInt64(byte) & 1 == 1
    }

    /// Takes both digits of the escape that just began, if they are available.
    ///
    /// - Returns: the number of bytes taken, 0 or 2.
    private mutating func takeWholeEscape(
        _ bytes: Span<UInt8>, from index: Int, into output: inout OutputSpan<UInt8>
    ) throws(CodecError) -> Int {
        guard index + 2 <= bytes.count, let high = ByteClass.hexValue(bytes[index]),
            let low = ByteClass.hexValue(bytes[index + 1])
        else { return 0 }
        escape = .none
        try put(high << 4 | low, from: escapeOffset, into: &output)
        return 2
    }

    /// Takes the byte if it belongs to an escape. If not, the bytes of the unfinished escape stand
    /// for themselves.
    private mutating func continueEscape(
        with byte: UInt8, into output: inout OutputSpan<UInt8>
    ) throws(CodecError) -> Bool {
        guard let value = ByteClass.hexValue(byte) else {
            try endEscape(into: &output)
            return false
        }
        guard case .digit(let first) = escape, let high = ByteClass.hexValue(first) else {
            escape = .digit(byte)
            return true
        }
        escape = .none
        try put(high << 4 | value, from: escapeOffset, into: &output)
        return true
    }

    /// Ends an unfinished escape: no digit follows, so its bytes stand for themselves.
    private mutating func endEscape(into output: inout OutputSpan<UInt8>) throws(CodecError) {
        let begun = escape
        if case .none = begun { return }
        guard !options.refusesInvalidEscapes else {
            throw CodecError(.invalidPercentEncoding, at: escapeOffset)
        }
        escape = .none
        try put(UInt8(ascii: "%"), from: escapeOffset, into: &output)
        if case .digit(let digit) = begun {
            try put(digit, from: escapeOffset + 1, into: &output)
        }
    }

    @inline(__always)
    private mutating func put(
        _ byte: UInt8, from offset: Int64, into output: inout OutputSpan<UInt8>
    ) throws(CodecError) {
        if options.refusesInvalidText, !text.take(byte) {
            throw CodecError(.invalidText, at: offset)
        }
        output.append(byte)
    }

    private mutating func beginPair(at offset: Int64, _ position: Int) throws(CodecError) {
        guard form.count < options.pairLimit else { throw CodecError(.tooManyPairs, at: offset) }
        isInPair = true
        start = position
    }

    private mutating func endPair(at offset: Int64, _ end: Int) throws(CodecError) {
        guard isInPair else { return }
        try endText(at: offset)
        let nameEnd = isInValue ? nameEnd : end
        form.extents.append(FormURLEncoded.Extent(start: start, nameEnd: nameEnd, end: end))
        isInPair = false
        isInValue = false
    }

    /// Checks that no character is unfinished: characters do not continue from a name into its
    /// value.
    private func endText(at offset: Int64) throws(CodecError) {
        guard text.isComplete else { throw CodecError(.invalidText, at: offset) }
    }
}
