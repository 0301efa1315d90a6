import HTTPParser
import Testing

@Suite("RFC 9110, 5.6.7: Date/Time Formats")
struct HTTPDateTests {
    /// 2026-11-21T19:05:00Z
    static let now = HTTPDate(secondsSinceEpoch: 1_795_287_900)

    @Test(
        "All three formats name the same second",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun Nov 06 08:49:37 1994",
        ])
    func threeFormats(text: String) {
        #expect(HTTPDate(text, now: Self.now)?.secondsSinceEpoch == 784_111_777)
    }

    @Test("The preferred format is read, and written in the same form", arguments: roundTrips)
    func roundTrip(text: String, seconds: Int64) {
        #expect(HTTPDate(secondsSinceEpoch: seconds).description == text)
        #expect(HTTPDate(text, now: Self.now)?.secondsSinceEpoch == seconds)
    }

    static let roundTrips: [(String, Int64)] = [
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
        ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
        ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
        ("Sat, 21 Nov 2026 19:05:00 GMT", 1_795_287_900),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200),
    ]

    @Test("Text that is not exactly a date is refused", arguments: refused)
    func refusal(text: String) {
        #expect(HTTPDate(text, now: Self.now) == nil)
    }

    static let refused = [
        "", "0", "now", " Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
        "sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 gmt", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
        "Sux, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nox 1994 08:49:37 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
        "Wed, 29 Feb 1995 08:49:37 GMT", "Thu, 29 Feb 1900 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
        "Sun,\t06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08-49-37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sunday, 06 Nov 94 08:49:37 GMT", "sunday, 06-Nov-94 08:49:37 GMT",
        "Sonntag, 06-Nov-94 08:49:37 GMT", "Sunday, 31-Feb-94 08:49:37 GMT",
        "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 94", "Sun Nov  6 08:49:37 1994 GMT",
        "Sun Nov  0 08:49:37 1994", "Sun, 06 Nov 1994 08:49:3\u{665} GMT",
    ]

    static func date(_ bytes: [UInt8]) -> HTTPDate? {
        HTTPDate(parsing: bytes.span, now: now)
    }

    @Test("Every beginning of a date, and a date with a byte 0xFF, is refused")
    func mutations() {
        for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT"] {
            let bytes = Array(text.utf8)
            for index in bytes.indices {
                var changed = bytes
                changed[index] = 0xFF
                #expect(Self.date(changed) == nil)
                #expect(Self.date(Array(bytes[..<index])) == nil)
            }
        }
    }

    @Test("A leap second is the first second of the next minute")
    func leapSecond() {
        let leap = HTTPDate("Sat, 31 Dec 2016 23:59:60 GMT", now: Self.now)
        #expect(leap?.description == "Sun, 01 Jan 2017 00:00:00 GMT")
    }

    @Test(
        "A year of two digits is the latest one that is at most 50 years in the future",
        arguments: [
            ("Saturday, 21-Nov-76 19:05:00 GMT", "Sat, 21 Nov 2076 19:05:00 GMT"),
            ("Sunday, 21-Nov-76 19:05:01 GMT", "Sun, 21 Nov 1976 19:05:01 GMT"),
            ("Monday, 22-Nov-76 00:00:00 GMT", "Mon, 22 Nov 1976 00:00:00 GMT"),
            ("Friday, 01-Jan-77 00:00:00 GMT", "Sat, 01 Jan 1977 00:00:00 GMT"),
            ("Tuesday, 29-Feb-00 00:00:00 GMT", "Tue, 29 Feb 2000 00:00:00 GMT"),
        ])
    func twoDigitYear(text: String, meaning: String) {
        #expect(HTTPDate(text, now: Self.now)?.description == meaning)
    }

    @Test("Near the end of a century, a year of two digits may be in the next century")
    func nextCentury() {
        // 2090-01-01T00:00:00Z
        let late = HTTPDate(secondsSinceEpoch: 3_786_912_000)
        let date = HTTPDate("Thursday, 01-Jan-05 00:00:00 GMT", now: late)
        #expect(date?.description == "Thu, 01 Jan 2105 00:00:00 GMT")
    }

    @Test(
        "A clock at the smallest or greatest time does not trap", arguments: [Int64.min, Int64.max])
    func strangeClock(seconds: Int64) {
        let now = HTTPDate(secondsSinceEpoch: seconds)
        #expect(HTTPDate("Sunday, 06-Nov-94 08:49:37 GMT", now: now) != nil)
    }

    @Test("Writing fills 29 bytes and leaves the rest unchanged")
    func writing() {
        var bytes = ContiguousArray<UInt8>(repeating: 0x2E, count: 31)
        var span = bytes.mutableSpan
        HTTPDate(secondsSinceEpoch: 784_111_777).write(into: &span)
        #expect(String(decoding: bytes, as: UTF8.self) == "Sun, 06 Nov 1994 08:49:37 GMT..")
    }

    @Test("Times without a year of four digits are clamped")
    func clamping() {
        let early = HTTPDate(secondsSinceEpoch: .min).description
        let late = HTTPDate(secondsSinceEpoch: .max).description
        #expect(early == "Sat, 01 Jan 0000 00:00:00 GMT")
        #expect(late == "Fri, 31 Dec 9999 23:59:59 GMT")
    }

    @Test("Dates are ordered by time")
    func order() {
        #expect(HTTPDate(secondsSinceEpoch: -1) < HTTPDate(secondsSinceEpoch: 0))
    }
}
