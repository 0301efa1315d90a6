internal import HTTPParser

/// Parses dates of cookies, which are more lenient than those of other fields: a time, a day, a
/// month and a year in any order (RFC 6265bis, section 5.1.1).
enum CookieDate {
    static func parse(_ text: String) -> HTTPDate? {
        var found = Parts()
        for token in text.utf8.split(whereSeparator: isDelimiter) {
            found.take(Array(token))
        }
        return found.date
    }

    private struct Parts {
        var time: (hour: Int, minute: Int, second: Int)?
        var day: Int?
        var month: Int?
        var year: Int?

        mutating func take(_ token: [UInt8]) {
            if time == nil, let value = CookieDate.time(token) {
                time = value
            } else if day == nil, let value = CookieDate.number(token, digits: 1...2) {
                day = value
            } else if month == nil, let value = CookieDate.month(token) {
                month = value
            } else if year == nil, let value = CookieDate.number(token, digits: 2...4) {
                year = value
            }
        }

        var date: HTTPDate? {
            guard let time, let day, let month, var year else { return nil }
            switch year {
            case 70...99: year += 1_900
            case 0...69: year += 2_000
            default: break
            }
            let moment = CivilTime(
                year: Int64(year), month: month, day: day, hour: time.hour, minute: time.minute,
                second: time.second)
            guard year >= 1_601, moment.isValid, time.second <= 59 else { return nil }
            return HTTPDate(secondsSinceEpoch: moment.secondsSinceEpoch)
        }
    }

    /// delimiter = %x09 / %x20-2F / %x3B-40 / %x5B-60 / %x7B-7E
    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// hms-time, possibly followed by a character that is no digit and any others.
    private static func time(_ token: [UInt8]) -> (hour: Int, minute: Int, second: Int)? {
        let fields = token.split(
            separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3, fields[0].allSatisfy(ByteClass.isDigit),
            fields[1].allSatisfy(ByteClass.isDigit),
            let hour = number(Array(fields[0]), digits: 1...2),
            let minute = number(Array(fields[1]), digits: 1...2),
            let second = number(Array(fields[2]), digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    /// The number at the beginning of a token; nil if it has another number of digits.
    private static func number(_ token: [UInt8], digits: ClosedRange<Int>) -> Int? {
        let text = token.prefix(while: ByteClass.isDigit)
        guard digits.contains(text.count) else { return nil }
        return text.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static func month(_ token: [UInt8]) -> Int? {
        let names = Array("janfebmaraprmayjunjulaugsepoctnovdec".utf8)
        let start = token.prefix(3).map(ByteClass.lowercased)
        guard start.count == 3 else { return nil }
        return (0..<12).first { Array(names[$0 * 3..<$0 * 3 + 3]) == start }.map { $0 + 1 }
    }
}
