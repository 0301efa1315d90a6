/// The reference path: reads any line, byte by byte.
extension HeadParser {
    /// The offset by which the content of the line at `lineStart` must end, and the error if it
    /// does not. It includes the limit of the section, so that the first error does not depend on
    /// how the input was split. The empty line at the end of a section does not count towards that
    /// limit.
    private var bound: (end: Int, kind: HTTPParseError.Kind) {
        if phase == .startLine { return (lineStart + limits.startLineBytes, .requestLineTooLong) }
        let line = lineStart + limits.fieldLineBytes
        let section = max(fieldsStart + sectionLimit - 2, lineStart)
        if line <= section { return (line, .fieldTooLong) }
        return (section, kind == .trailers ? .trailersTooLong : .fieldsTooLong)
    }

    /// Finds the end of the line at `lineStart`, examining only bytes that were not examined
    /// before.
    /// - Returns: the end of the line's content and the start of the next line; `nil` if the line
    ///   is incomplete.
    mutating func lineEnd(
        _ base: UnsafeRawPointer, _ count: Int
    ) throws(HTTPParseError) -> (end: Int, next: Int)? {
        let bound = self.bound
        var position = max(scanned, lineStart)
        while position < count {
            let byte = unsafe Scanner.byte(base, position)
            if position > bound.end { break }
            if ByteClass.isFieldContent(byte) {
                position += 1
                continue
            }
            if byte == UInt8(ascii: "\n"), leniency.contains(.bareLineFeed) {
                return (position, position + 1)
            }
            guard byte == UInt8(ascii: "\r") else {
                throw unsafe HTTPParseError(fault(byte, at: position, base), at: position)
            }
            guard position + 1 < count else {
                scanned = position
                return nil
            }
            guard unsafe Scanner.byte(base, position + 1) == UInt8(ascii: "\n") else {
                throw HTTPParseError(.bareCarriageReturn, at: position)
            }
            return (position, position + 2)
        }
        if position > bound.end { throw HTTPParseError(bound.kind, at: bound.end) }
        scanned = position
        return nil
    }

    /// Whether a line that was incomplete is complete now. The line is not parsed here.
    mutating func finishesLine(
        _ base: UnsafeRawPointer, _ count: Int
    ) throws(HTTPParseError) -> Bool {
        try unsafe lineEnd(base, count) != nil
    }

    /// The error for a control byte, which depends on the part of the line around it.
    func fault(
        _ byte: UInt8, at position: Int, _ base: UnsafeRawPointer
    ) -> HTTPParseError.Kind {
        if byte == UInt8(ascii: "\n") { return .bareLineFeed }
        let separator = phase == .fields ? UInt8(ascii: ":") : UInt8(ascii: " ")
        var index = lineStart
        while index < position, unsafe Scanner.byte(base, index) != separator { index += 1 }
        let isFirstPart = index == position
        if phase == .fields { return isFirstPart ? .invalidFieldName : .invalidFieldValue }
        if kind == .response { return .invalidStatusLine }
        return isFirstPart ? .invalidMethod : .invalidTarget
    }

    mutating func parseStartLine(
        _ base: UnsafeRawPointer, _ count: Int
    ) throws(HTTPParseError) -> Bool {
        while let line = try unsafe lineEnd(base, count) {
            if line.end > lineStart {
                if kind == .request {
                    try unsafe parseRequestLine(base, lineStart, line.end)
                } else {
                    try unsafe parseStatusLine(base, lineStart, line.end)
                }
                beginFields(at: line.next)
                return true
            }
            // RFC 9112 section 2.2: a server skips empty lines that clients send after a message.
            emptyLines += 1
            guard emptyLines <= limits.leadingEmptyLines, kind == .request else {
                throw HTTPParseError(
                    kind == .request ? .tooManyEmptyLines : .invalidStatusLine, at: lineStart)
            }
            lineStart = line.next
            scanned = line.next
        }
        return false
    }

    /// method SP request-target SP HTTP-version (RFC 9112 section 3), single spaces only.
    mutating func parseRequestLine(
        _ base: UnsafeRawPointer, _ start: Int, _ end: Int
    ) throws(HTTPParseError) {
        var position = start
        while position < end, unsafe ByteClass.isToken(Scanner.byte(base, position)) {
            position += 1
        }
        guard position > start, position < end,
            unsafe Scanner.byte(base, position) == UInt8(ascii: " ")
        else { throw HTTPParseError(.invalidMethod, at: position) }
        method = unsafe HTTPMethod.Known(
            UnsafeRawBufferPointer(start: base + start, count: position - start))
        methodStart = start
        position += 1
        targetStart = position
        while position < end, unsafe ByteClass.isTarget(Scanner.byte(base, position)) {
            position += 1
        }
        targetEnd = position
        guard position > targetStart, position < end,
            unsafe Scanner.byte(base, position) == UInt8(ascii: " ")
        else {
            throw HTTPParseError(
                position == end && position > targetStart ? .invalidVersion : .invalidTarget,
                at: position)
        }
        try unsafe parseVersion(base, position + 1, end, closed: true)
        try unsafe parseTargetForm(base)
    }

    mutating func parseTargetForm(
        _ base: UnsafeRawPointer
    ) throws(HTTPParseError) {
        let target = unsafe UnsafeRawBufferPointer(
            start: base + targetStart, count: targetEnd - targetStart)
        let form = unsafe TargetGrammar.form(of: target, isConnect: method == .connect)
        guard let form, form != .asterisk || method == .options else {
            throw HTTPParseError(.invalidTarget, at: targetStart)
        }
        targetForm = form
    }

    /// "HTTP/" DIGIT "." DIGIT, of major version 1. With `closed` the line must end there.
    mutating func parseVersion(
        _ base: UnsafeRawPointer, _ start: Int, _ end: Int, closed: Bool
    ) throws(HTTPParseError) {
        guard end - start >= 8, !closed || end - start == 8,
            unsafe matchesExactly(base + start, "HTTP/"),
            unsafe ByteClass.isDigit(Scanner.byte(base, start + 5)),
            unsafe Scanner.byte(base, start + 6) == UInt8(ascii: "."),
            unsafe ByteClass.isDigit(Scanner.byte(base, start + 7))
        else { throw HTTPParseError(.invalidVersion, at: start) }
        guard unsafe Scanner.byte(base, start + 5) == UInt8(ascii: "1") else {
            throw HTTPParseError(.unsupportedVersion, at: start + 5)
        }
        minorVersion = unsafe Scanner.byte(base, start + 7) - 0x30
    }

    func matchesExactly(_ bytes: UnsafeRawPointer, _ text: StaticString) -> Bool {
        for index in 0..<text.utf8CodeUnitCount {
            guard unsafe Scanner.byte(bytes, index) == text.utf8Start[index] else { return false }
        }
        return true
    }

    /// HTTP-version SP 3DIGIT SP [ reason-phrase ] (RFC 9112 section 4).
    mutating func parseStatusLine(
        _ base: UnsafeRawPointer, _ start: Int, _ end: Int
    ) throws(HTTPParseError) {
        try unsafe parseVersion(base, start, end, closed: false)
        let digits = start + 9
        guard digits + 3 <= end, unsafe Scanner.byte(base, start + 8) == UInt8(ascii: " ") else {
            throw HTTPParseError(.invalidStatusLine, at: start + 8)
        }
        var code: UInt16 = 0
        for index in digits..<(digits + 3) {
            let byte = unsafe Scanner.byte(base, index)
            guard ByteClass.isDigit(byte) else {
                throw HTTPParseError(.invalidStatusLine, at: index)
            }
            code = code * 10 + UInt16(byte - 0x30)
        }
        guard code >= 100 else { throw HTTPParseError(.invalidStatusLine, at: digits) }
        statusCode = code
        reasonStart = min(digits + 4, end)
        reasonEnd = end
        if digits + 3 == end, leniency.contains(.missingReasonSpace) { return }
        guard digits + 3 < end, unsafe Scanner.byte(base, digits + 3) == UInt8(ascii: " ") else {
            throw HTTPParseError(.invalidStatusLine, at: digits + 3)
        }
    }

    /// Reads one field line, or the empty line that ends the section.
    /// - Returns: `false` if the line is incomplete.
    mutating func parseFieldLine(
        _ base: UnsafeRawPointer, _ count: Int
    ) throws(HTTPParseError) -> Bool {
        guard let line = try unsafe lineEnd(base, count) else { return false }
        if line.end == lineStart {
            phase = .complete
        } else {
            try unsafe parseField(base, lineStart, line.end)
        }
        lineStart = line.next
        scanned = line.next
        return true
    }

    mutating func parseField(
        _ base: UnsafeRawPointer, _ start: Int, _ end: Int
    ) throws(HTTPParseError) {
        guard fieldCount < limits.fieldCount else {
            throw HTTPParseError(.tooManyFields, at: start)
        }
        guard unsafe !ByteClass.isBlank(Scanner.byte(base, start)) else {
            throw HTTPParseError(.obsoleteFolding, at: start)
        }
        var nameEnd = start
        while nameEnd < end, unsafe ByteClass.isToken(Scanner.byte(base, nameEnd)) { nameEnd += 1 }
        guard nameEnd < end else { throw HTTPParseError(.missingColon, at: end) }
        let byte = unsafe Scanner.byte(base, nameEnd)
        guard byte == UInt8(ascii: ":"), nameEnd > start else {
            let isBlank = ByteClass.isBlank(byte)
            throw HTTPParseError(isBlank ? .whitespaceBeforeColon : .invalidFieldName, at: nameEnd)
        }
        var (valueStart, valueEnd) = (nameEnd + 1, end)
        while valueStart < valueEnd, unsafe ByteClass.isBlank(Scanner.byte(base, valueStart)) {
            valueStart += 1
        }
        while valueEnd > valueStart, unsafe ByteClass.isBlank(Scanner.byte(base, valueEnd - 1)) {
            valueEnd -= 1
        }
        let slot = FieldSlot(
            nameStart: UInt32(truncatingIfNeeded: start),
            nameEnd: UInt32(truncatingIfNeeded: nameEnd),
            valueStart: UInt32(truncatingIfNeeded: valueStart),
            valueEnd: UInt32(truncatingIfNeeded: valueEnd))
        try unsafe record(slot, base)
        if fieldCount == slotCapacity { growSlots() }
        unsafe slots[fieldCount] = slot
        fieldCount += 1
    }
}
