internal import HTTPParser

/// How long a client would like to have a lock (RFC 4918 section 10.7).
package enum Timeout {
    /// The seconds of the first wish that can be read; `nil` when there is none.
    ///
    /// `Infinite` is `Int.max`, as is any number that is too large.
    package static func seconds(_ field: String) -> Int? {
        for wish in field.split(separator: ",") {
            let wish = wish.drop { $0 == " " || $0 == "\t" }
            if wish.lowercased().hasPrefix("infinite") { return .max }
            guard wish.lowercased().hasPrefix("second-") else { continue }
            let digits = wish.dropFirst(7).prefix { $0 != " " && $0 != "\t" }
            if let seconds = number(digits) { return seconds }
        }
        return nil
    }

    private static func number(_ digits: Substring) -> Int? {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
            return nil
        }
        return FieldValues.parseDecimal(String(digits)).flatMap { Int(exactly: $0) } ?? .max
    }
}
