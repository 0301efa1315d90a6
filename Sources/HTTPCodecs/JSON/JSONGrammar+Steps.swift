/// Reading in steps, as a `JSONReader` is asked for them.
extension JSONGrammar {
    /// Whether a value or white space comes next.
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
                try readSeparator(byte)
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
                close()
                return false
            } else if expected == .value || expected == .firstElement {
                return true
            } else {
                try readSeparator(byte)
                // A closing bracket was it.
                if expected == .afterValue { return false }
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
                try readSeparator(byte)
                if expected == .afterValue { return nil }
            }
        }
        throw invalid("it ends early")
    }

    /// Reads the string that begins here.
    mutating func string(_ bytes: Span<UInt8>) throws(CodecError) -> Text {
        let text = try readString(bytes)
        endScalar(bytes)
        return text
    }

    /// Reads the number that begins here.
    /// - Returns: where it stands.
    mutating func number(_ bytes: Span<UInt8>) throws(CodecError) -> Range<Int> {
        let start = position
        try readNumber(bytes)
        let end = position
        endScalar(bytes)
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
