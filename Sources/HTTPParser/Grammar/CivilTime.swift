/// A point in time of the proleptic Gregorian calendar in UTC, without leap seconds.
///
/// Years may be negative; the year before 1 is 0. The arithmetic is exact for every `Int64` of
/// seconds.
package struct CivilTime: Hashable, Sendable {
    /// The year, such as 1994.
    package var year: Int64
    /// The month, 1 to 12.
    package var month: Int
    /// The day of the month, 1 to 31.
    package var day: Int
    /// The hour, 0 to 23.
    package var hour: Int
    /// The minute, 0 to 59.
    package var minute: Int
    /// The second, 0 to 60; 60 is a leap second and counts as second 0 of the next minute.
    package var second: Int

    package init(year: Int64, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
    }

    /// Whether every component is in its range and the month has this day.
    package var isValid: Bool {
        guard 1...12 ~= month, 0...23 ~= hour, 0...59 ~= minute, 0...60 ~= second else {
            return false
        }
        return 1...Self.dayCount(ofMonth: month, year: year) ~= day
    }

    private static func dayCount(ofMonth month: Int, year: Int64) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func isLeap(_ year: Int64) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }
}

// Years are counted from March, so that the leap day is the last day of its year and of every
// cycle: a cycle of 400 such years always has 146,097 days.
extension CivilTime {
    private static let secondsPerDay: Int64 = 86_400
    /// Days from 0000-03-01 to 1970-01-01.
    private static let epochDay: Int64 = 719_468
    /// Days before each month of a year that begins in March.
    private static let daysBeforeMonth: [Int64] = [
        0, 31, 61, 92, 122, 153, 184, 214, 245, 275, 306, 337,
    ]

    /// Creates the time this many seconds after 1970-01-01T00:00:00Z, or before it if negative.
    package init(secondsSinceEpoch seconds: Int64) {
        let (days, rest) = Self.floorDivide(seconds, Self.secondsPerDay)
        let (cycle, dayOfCycle) = Self.floorDivide(days + Self.epochDay, 146_097)
        // The last century of a cycle and the last year of four are one day longer, hence `min`.
        let century = min(dayOfCycle / 36_524, 3)
        let dayOfCentury = dayOfCycle - century * 36_524
        let (four, dayOfFour) = Self.floorDivide(dayOfCentury, 1_461)
        let yearOfFour = min(dayOfFour / 365, 3)
        let dayOfYear = dayOfFour - yearOfFour * 365
        let monthIndex = (Self.daysBeforeMonth.lastIndex { $0 <= dayOfYear }) ?? 0
        let marchYear = cycle * 400 + century * 100 + four * 4 + yearOfFour

        year = monthIndex >= 10 ? marchYear + 1 : marchYear
        month = monthIndex >= 10 ? monthIndex - 9 : monthIndex + 3
        day = Int(dayOfYear - Self.daysBeforeMonth[monthIndex]) + 1
        hour = Int(rest / 3_600)
        minute = Int(rest / 60 % 60)
        second = Int(rest % 60)
    }

    /// Seconds since 1970-01-01T00:00:00Z.
    ///
    /// The value must be valid, and its year within 100 thousand million years of today.
    package var secondsSinceEpoch: Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let monthIndex = month <= 2 ? month + 9 : month - 3
        let (cycle, yearOfCycle) = Self.floorDivide(marchYear, 400)
        let leapDays = yearOfCycle / 4 - yearOfCycle / 100
        let dayOfCycle =
            yearOfCycle * 365 + leapDays + Self.daysBeforeMonth[monthIndex] + Int64(day) - 1
        let days = cycle * 146_097 + dayOfCycle - Self.epochDay
        return days * Self.secondsPerDay + Int64(hour * 3_600 + minute * 60 + second)
    }

    /// The day of the week, 0 for Sunday to 6 for Saturday.
    package static func weekday(secondsSinceEpoch seconds: Int64) -> Int {
        // 1970-01-01 was a Thursday.
        let days = floorDivide(seconds, secondsPerDay).quotient
        return Int(floorDivide(days + 4, 7).remainder)
    }

    private static func floorDivide(
        _ dividend: Int64, _ divisor: Int64
    ) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = dividend.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension CivilTime {
    /// The time stamp of RFC 3339 in UTC, such as `1994-11-06T08:49:37Z`.
    ///
    /// The value must be valid. Years outside 0 to 9999 have no such form and are clamped.
    package var rfc3339: String {
        var text: [UInt8] = []
        appendRFC3339(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends `rfc3339` to the text.
    package func appendRFC3339(to text: inout [UInt8]) {
        let year = Int(min(max(year, 0), 9_999))
        func append(_ pair: Int, _ separator: UInt8?) {
            text.append(0x30 + UInt8(pair / 10))
            text.append(0x30 + UInt8(pair % 10))
            if let separator { text.append(separator) }
        }
        append(year / 100, nil)
        append(year % 100, 0x2D)
        append(month, 0x2D)
        append(day, 0x54)
        append(hour, 0x3A)
        append(minute, 0x3A)
        append(second, 0x5A)
    }
}
