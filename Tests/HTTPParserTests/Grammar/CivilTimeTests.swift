import HTTPParser
import Testing

@Suite("Civil time")
struct CivilTimeTests {
    @Test(
        "Seconds since the epoch and calendar form are converted to each other",
        arguments: [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (-2_203_891_200, "1900-03-01T00:00:00Z"),
            (1_795_287_900, "2026-11-21T19:05:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
            (-62_167_219_200, "0000-01-01T00:00:00Z"),
        ] as [(Int64, String)])
    func calendarForm(seconds: Int64, stamp: String) {
        let time = CivilTime(secondsSinceEpoch: seconds)
        #expect(time.rfc3339 == stamp)
        #expect(time.secondsSinceEpoch == seconds)
    }

    @Test("Every day of two cycles of the calendar follows the day before")
    func everyDay() {
        var previous = CivilTime(secondsSinceEpoch: -12_700_000_000)
        for day in 1...(2 * 146_097) {
            let seconds = -12_700_000_000 + Int64(day) * 86_400
            let time = CivilTime(secondsSinceEpoch: seconds)
            guard time.isValid, time.secondsSinceEpoch == seconds, time.follows(previous) else {
                Issue.record("day \(day): \(previous.rfc3339) then \(time.rfc3339)")
                return
            }
            previous = time
        }
    }

    @Test("The smallest and greatest seconds do not trap", arguments: [Int64.min, Int64.max])
    func extremes(seconds: Int64) {
        #expect(CivilTime(secondsSinceEpoch: seconds).isValid)
    }

    @Test(
        "Dates that do not exist in the calendar are invalid",
        arguments: [
            (2_026, 2, 29), (1_900, 2, 29), (2_026, 4, 31), (2_026, 0, 1), (2_026, 13, 1),
            (2_026, 1, 0), (2_026, 1, 32),
        ] as [(Int64, Int, Int)])
    func invalidDays(year: Int64, month: Int, day: Int) {
        let time = CivilTime(year: year, month: month, day: day, hour: 0, minute: 0, second: 0)
        #expect(!time.isValid)
    }

    @Test("Weekdays are right before and after 1970-01-01, a Thursday")
    func weekdays() {
        let days = (-8...8).map { CivilTime.weekday(secondsSinceEpoch: $0 * 86_400) }
        #expect(days == [3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5])
    }
}

extension CivilTime {
    /// Whether this is the day after the other one; checks only months and days, not seconds.
    fileprivate func follows(_ other: CivilTime) -> Bool {
        if year == other.year, month == other.month { return day == other.day + 1 }
        guard day == 1, other.day >= 28 else { return false }
        if year == other.year { return month == other.month + 1 }
        return month == 1 && other.month == 12 && other.day == 31 && year == other.year + 1
    }
}
