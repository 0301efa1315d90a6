internal import HTTPParser

/// The lock duration that a client requests (RFC 4918 section 10.7).
package enum Timeout {
    /// The seconds of the first valid entry; `nil` when there is none.
    ///
    /// `Infinite` is `Int.max`, as is any number that is too large.
    package static func seconds(_ field: String) -> Int? {
        let bytes = Array(field.utf8)
        var reader = FieldValueReader(bytes.span)
        repeat {
            reader.skipWhitespace()
            let range = reader.takeWhile { $0 != 0x20 && $0 != 0x09 && $0 != 0x2C }
            let word = bytes.span.extracting(range)
            if begins(word, with: "infinite") { return .max }
            if begins(word, with: "second-"), let seconds = number(word.extracting(7...)) {
                return seconds
            }
            _ = reader.takeWhile { $0 != 0x2C }
        } while reader.take(0x2C)
        return nil
    }

    /// - Parameter start: in lower case.
    private static func begins(_ word: Span<UInt8>, with start: StaticString) -> Bool {
        guard word.count >= start.utf8CodeUnitCount else { return false }
        for index in 0..<start.utf8CodeUnitCount {
            let byte = unsafe start.utf8Start[index]
            guard word[index] == byte || word[index] | 0x20 == byte else { return false }
        }
        return true
    }

    private static func number(_ digits: Span<UInt8>) -> Int? {
        for index in digits.indices {
            guard case 0x30...0x39 = digits[index] else { return nil }
        }
        guard !digits.isEmpty else { return nil }
        return FieldValues.parseDecimal(digits).flatMap { Int(exactly: $0) } ?? .max
    }
}
