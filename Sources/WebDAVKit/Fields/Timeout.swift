internal import HTTPParser

/// The lock duration that a client requests (RFC 4918 section 10.7).
package enum Timeout {
    /// The seconds of the first valid entry; `nil` when there is none.
    ///
    /// `Infinite` is `Int.max`, as is any number that is too large.
    package static func seconds(_ field: String) -> Int? {
        for entry in Array(field.utf8).split(separator: UInt8(ascii: ",")) {
            let entry = entry.drop { $0 == 0x20 || $0 == 0x09 }
            if begins(entry, with: "infinite") { return .max }
            guard begins(entry, with: "second-") else { continue }
            let digits = entry.dropFirst(7).prefix { $0 != 0x20 && $0 != 0x09 }
            if let seconds = number(digits) { return seconds }
        }
        return nil
    }

    /// - Parameter word: in small letters.
    private static func begins(_ entry: ArraySlice<UInt8>, with word: StaticString) -> Bool {
        var rest = entry
        for index in 0..<word.utf8CodeUnitCount {
            let byte = unsafe word.utf8Start[index]
            guard let first = rest.popFirst(), first == byte || first | 0x20 == byte else {
                return false
            }
        }
        return true
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard !digits.isEmpty, digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
            return nil
        }
        let number = FieldValues.parseDecimal(String(decoding: digits, as: UTF8.self))
        return number.flatMap { Int(exactly: $0) } ?? .max
    }
}
