/// Reading in steps, as a `JSONReader` is asked for them.
extension JSONGrammar {
    /// Whether a value is expected and bytes are left. These may also be white space, `]` or wrong.
    @inline(__always)
    func isAtValue(_ bytes: Span<UInt8>) -> Bool {
        (expected == .value || expected == .firstElement) && position < bytes.count
    }

    /// Goes to the next value, or to the end of the array that is open.
    /// - Returns: its first byte; `nil` where a name comes first, or no value can follow.
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
        throw invalid("it ends early")
    }

    /// Goes to the next element of the array that is open.
    /// - Returns: whether there is one; if not, the array was closed.
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
        throw invalid("it ends early")
    }

    /// Reads the next name in the object that is open.
    /// - Returns: the name; `nil` after the last, when the object was closed.
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
        throw invalid("it ends early")
    }

    // MARK: The usual kinds
    //
    // They do not fill `values`: only a grammar that reads the whole builds a tree.

    /// Reads a name and its colon if they are as most are: no white space but a space before the
    /// quotation mark and one behind the colon, no escape, all of it ASCII.
    /// - Returns: where the name stands; `nil`, with nothing read, if it is another or too long.
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

    /// Closes the object that is open if its end stands right behind a value.
    @inline(__always)
    mutating func closesObject(_ bytes: Span<UInt8>) -> Bool {
        guard expected == .afterValue, isInObject, depth > 0, position < bytes.count,
            bytes[position] == UInt8(ascii: "}")
        else { return false }
        close(bytes)
        return true
    }

    /// Reads a string if no white space comes before, and it has no escape and is all ASCII.
    /// - Returns: where it stands; `nil`, with nothing read, if it is anything else.
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

    /// Reads a number if no white space comes before, and it is short.
    /// - Parameter value: makes a value of it, if it can.
    /// - Returns: the value; `nil`, with nothing read, where there is none.
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
    /// - Returns: where it stands.
    mutating func number(_ bytes: Span<UInt8>) throws(CodecError) -> Range<Int> {
        let start = position
        try readNumber(bytes)
        let end = position
        endValue(bytes)
        return start..<end
    }

    /// Reads the value that begins here, whatever it is.
    mutating func skip(_ bytes: Span<UInt8>) throws(CodecError) {
        let outer = depth
        repeat {
            guard position < bytes.count else { throw invalid("it ends early") }
            try step(bytes)
        } while depth > outer
    }

    /// Checks that nothing but white space follows the value.
    mutating func finish(_ bytes: Span<UInt8>) throws(CodecError) {
        while position < bytes.count {
            guard Self.isSpace(bytes[position]) else { throw invalid("more follows the value") }
            position += 1
        }
        try end()
    }
}
