internal import HTTPParser

// The bytes between the parts: delimiters, preamble and epilogue.
extension PartParser {
    /// Skips a preamble or an epilogue: up to the next delimiter, or after the last delimiter to
    /// the end of the input.
    mutating func skipFiller(
        _ bytes: UnsafeRawBufferPointer, from position: inout Int
    ) throws(CodecError) -> Step? {
        guard delimiters.count > 0 else {
            try skipFiller(to: bytes.count, from: &position)
            return .more
        }
        let (place, verdict) = unsafe nextDelimiter(in: bytes, from: position)
        try skipFiller(to: place, from: &position)
        return try enter(verdict, from: &position)
    }

    private mutating func skipFiller(
        to end: Int, from position: inout Int
    ) throws(CodecError) {
        let room = max(limits.fillerBytes - fillerBytes, 0)
        guard Int64(end - position) <= room else {
            throw CodecError(.fillerTooLong, at: origin + Int64(position) + room)
        }
        fillerBytes += Int64(end - position)
        position = end
    }

    /// Skips the rest of a delimiter's line; the head of a part follows.
    mutating func skipLineEnd(
        _ bytes: UnsafeRawBufferPointer, from position: inout Int
    ) throws(CodecError) -> Step? {
        guard let lineEnd = try unsafe skipPadding(in: bytes, from: &position) else {
            return .more
        }
        position = lineEnd
        guard partCount < limits.parts else {
            throw CodecError(.tooManyParts, at: origin + Int64(position))
        }
        partCount += 1
        state = .head
        return nil
    }

    /// Skips the rest of a closing delimiter's line. The line end is left for the epilogue, because
    /// an outer delimiter may begin with it.
    mutating func skipCloseEnd(
        _ bytes: UnsafeRawBufferPointer, from position: inout Int
    ) throws(CodecError) -> Step? {
        guard try unsafe skipPadding(in: bytes, from: &position) != nil else { return .more }
        enterFiller(atLineStart: false)
        return nil
    }

    /// Skips spaces and tabs.
    /// - Returns: the offset after the line end that follows them; `nil` if more bytes are needed.
    private mutating func skipPadding(
        in bytes: UnsafeRawBufferPointer, from position: inout Int
    ) throws(CodecError) -> Int? {
        while position < bytes.count, unsafe ByteClass.isBlank(bytes[position]) {
            try skipFiller(to: position + 1, from: &position)
        }
        guard position < bytes.count else { return nil }
        if isLenient, unsafe bytes[position] == 0x0A { return position + 1 }
        guard unsafe bytes[position] == 0x0D else {
            throw CodecError(.invalidDelimiter, at: origin + Int64(position))
        }
        guard position + 1 < bytes.count else { return nil }
        guard unsafe bytes[position + 1] == 0x0A else {
            throw CodecError(.invalidDelimiter, at: origin + Int64(position))
        }
        return position + 2
    }

    mutating func enterFiller(atLineStart: Bool) {
        state = .filler
        fillerBytes = 0
        isAtLineStart = atLineStart
    }

    mutating func nextDelimiter(
        in bytes: UnsafeRawBufferPointer, from position: Int
    ) -> (place: Int, verdict: Delimiters.Verdict) {
        if isAtLineStart {
            let verdict = unsafe delimiters.verdict(at: position, in: bytes)
            if verdict != .none { return (position, verdict) }
            isAtLineStart = false
        }
        return unsafe delimiters.next(in: bytes, from: position)
    }

    /// Moves past the delimiter at the position.
    mutating func enter(
        _ verdict: Delimiters.Verdict, from position: inout Int
    ) throws(CodecError) -> Step? {
        let endsPart = state == .content
        switch verdict {
        case .none, .perhaps: return .more
        case .delimiter(let level, let end):
            try checkInnermost(level, position)
            position = end
            state = .delimiterEnd
        case .close(let level, let end):
            try checkInnermost(level, position)
            position = end
            delimiters.closeInnermost()
            _ = outerNames.popLast()
            state = delimiters.count == 0 ? .end : .closeEnd
        }
        fillerBytes = 0
        return endsPart ? .partEnd : nil
    }

    /// Refuses an outer delimiter before the closing delimiter of the inner level: the inner level
    /// would be cut off.
    private func checkInnermost(_ level: Int, _ position: Int) throws(CodecError) {
        guard level == delimiters.count - 1 else {
            throw CodecError(.truncated, at: origin + Int64(position), "nested parts")
        }
    }
}
