/// Reads step by step on behalf of `JSONReader`.
extension JSONGrammar {
    /// Whether a value is expected and bytes are left. These may also be white space, `]` or wrong.
    @inline(__always)
    func isAtValue(_ bytes: Span<UInt8>) -> Bool {
        (expected == .value || expected == .firstElement) && position < bytes.count
    }

    /// Moves to the next value, or to the end of the open array.
    /// - Returns: the first byte of the value; `nil` if a name precedes it, or if no value can
    ///   follow.
    mutating func valueStart(_ bytes: Span<UInt8>) throws(CodecError) -> UInt8? {
        while position < bytes.count {
            let byte = bytes[position]
            switch expected {
            case _ where Self.isSpace(byte): position += 1
            case .firstElement where byte == UInt8(ascii: "]"): return nil
            case .value, .firstElement: return byte
            case .colon: try step(bytes)
            case .afterValue where depth > 0 && !isInObject && byte == UInt8(ascii: ","):
                try readSeparator(byte, bytes)
            default: return nil
            }
        }
        throw invalid("unexpected end")
    }

    /// Moves to the next element of the open array.
    /// - Returns: false if the array has ended; it is then closed.
    mutating func nextElement(_ bytes: Span<UInt8>) throws(CodecError) -> Bool {
        while position < bytes.count {
            let byte = bytes[position]
            if Self.isSpace(byte) {
                position += 1
            } else if expected == .firstElement, byte == UInt8(ascii: "]") {
                close(bytes)
                return false
            } else if expected == .value || expected == .firstElement {
                return true
            } else {
                let inner = depth
                try readSeparator(byte, bytes)
                if depth < inner { return false }
            }
        }
        throw invalid("unexpected end")
    }

    /// Reads the next name in the open object.
    /// - Returns: the name; `nil` after the last one, when the object is closed.
    mutating func nextName(_ bytes: Span<UInt8>) throws(CodecError) -> Text? {
        while position < bytes.count {
            let byte = bytes[position]
            if Self.isSpace(byte) {
                position += 1
            } else if expected == .firstName || expected == .name {
                return try readName(byte, bytes)
            } else {
                let inner = depth
                try readSeparator(byte, bytes)
                if depth < inner { return nil }
            }
        }
        throw invalid("unexpected end")
    }

    // MARK: The usual kinds
    //
    // These methods do not fill `values`: the tree is built only by `run`.

    /// Reads a name and its colon in their usual form: ASCII without escapes, and no white space
    /// except one space before the quotation mark and one after the colon.
    /// - Returns: the range of the name. `nil`, with nothing read, if the form is another or the
    ///   name too long.
    @inline(__always)
    mutating func plainName(_ bytes: Span<UInt8>) -> Range<Int>? {
        guard expected == .name || expected == .firstName, position < bytes.count else {
            return nil
        }
        let start = bytes[position] == 0x20 ? position + 1 : position
        guard let text = Self.plainText(bytes, from: start), text.upperBound + 2 < bytes.count,
            bytes[text.upperBound + 1] == UInt8(ascii: ":"), text.count <= nameByteLimit
        else { return nil }
        beginValue(at: text.upperBound + (bytes[text.upperBound + 2] == 0x20 ? 3 : 2))
        return text
    }

    /// Closes the open object if its end follows a value immediately.
    @inline(__always)
    mutating func closesObject(_ bytes: Span<UInt8>) -> Bool {
        guard expected == .afterValue, isInObject, depth > 0, position < bytes.count,
            bytes[position] == UInt8(ascii: "}")
        else { return false }
        close(bytes)
        return true
    }

    /// Reads a string of ASCII without escapes, with no white space before it.
    /// - Returns: the range of the text. `nil`, with nothing read, if anything else follows.
    @inline(__always)
    mutating func plainString(_ bytes: Span<UInt8>) -> Range<Int>? {
        guard isAtValue(bytes), let text = Self.plainText(bytes, from: position) else { return nil }
        position = text.upperBound + 1
        endValue(bytes)
        return text
    }

    @inline(__always)
    private static func plainText(_ bytes: Span<UInt8>, from start: Int) -> Range<Int>? {
        guard start < bytes.count, bytes[start] == UInt8(ascii: "\"") else { return nil }
        let end = plainEnd(bytes, from: start + 1)
        guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { return nil }
        return start + 1..<end
    }

    /// Reads a short number, with no white space before it.
    /// - Parameter value: converts the number; returns `nil` if it cannot.
    /// - Returns: the value. `nil`, with nothing read, if anything else follows.
    @inline(__always)
    mutating func shortNumber<Value>(
        _ bytes: Span<UInt8>, _ value: (JSONNumber.Short) -> Value?
    ) -> Value? {
        guard isAtValue(bytes), let number = JSONNumber.Short(bytes, from: position),
            let value = value(number)
        else { return nil }
        position = number.end
        endValue(bytes)
        return value
    }

    // MARK: Any kind

    /// Reads the string that begins here.
    mutating func string(_ bytes: Span<UInt8>) throws(CodecError) -> Text {
        let text = try readString(bytes)
        endValue(bytes)
        return text
    }

    /// Reads the number that begins here.
    /// - Returns: the range of the number.
    mutating func number(_ bytes: Span<UInt8>) throws(CodecError) -> Range<Int> {
        let start = position
        try readNumber(bytes)
        let end = position
        endValue(bytes)
        return start..<end
    }

    /// Reads the value of any kind that begins here.
    mutating func skip(_ bytes: Span<UInt8>) throws(CodecError) {
        let outer = depth
        repeat {
            guard position < bytes.count else { throw invalid("unexpected end") }
            try step(bytes)
        } while depth > outer
    }

    /// Checks that nothing but white space follows the value.
    mutating func finish(_ bytes: Span<UInt8>) throws(CodecError) {
        while position < bytes.count {
            guard Self.isSpace(bytes[position]) else { throw invalid("bytes after the value") }
            position += 1
        }
        try end()
    }
}
