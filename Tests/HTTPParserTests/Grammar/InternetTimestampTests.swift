import HTTPParser
import Testing

@Suite("RFC 3339: Date and Time on the Internet")
struct InternetTimestampTests {
    @Test(
        "5.8: The examples of the RFC are read, and printed in UTC",
        arguments: [
            ("1985-04-12T23:20:50.52Z", 482_196_050, 520_000_000, "1985-04-12T23:20:50.52Z"),
            ("1996-12-19T16:39:57-08:00", 851_042_397, 0, "1996-12-20T00:39:57Z"),
            ("1990-12-31T23:59:60Z", 662_688_000, 0, "1991-01-01T00:00:00Z"),
            ("1990-12-31T15:59:60-08:00", 662_688_000, 0, "1991-01-01T00:00:00Z"),
            (
                "1937-01-01T12:00:27.87+00:20", -1_041_337_173, 870_000_000,
                "1937-01-01T11:40:27.87Z"
            ),
        ] as [(String, Int64, Int, String)])
    func examples(text: String, seconds: Int64, nanoseconds: Int, printed: String) throws {
        let time = try #require(InternetTimestamp(text))
        #expect(time.secondsSinceEpoch == seconds)
        #expect(time.nanoseconds == nanoseconds)
        #expect(time.description == printed)
        #expect(InternetTimestamp(printed) == time)
    }

    @Test(
        "4.3, 5.6: Offsets, lower-case letters and fractions of any length are read",
        arguments: [
            ("1970-01-01t00:00:00z", 0, 0), ("1970-01-01T00:00:00-00:00", 0, 0),
            ("1970-01-01T00:00:00+00:00", 0, 0), ("1970-01-02T00:00:00+23:59", 60, 0),
            ("1969-12-31T00:01:00-23:59", 0, 0), ("1970-01-01T00:00:00.0Z", 0, 0),
            ("1970-01-01T00:00:00.1234567899Z", 0, 123_456_789),
            ("1970-01-01T00:00:00.000000001+00:00", 0, 1),
            ("1969-12-31T23:59:59.5Z", -1, 500_000_000),
            ("2000-02-29T00:00:00Z", 951_782_400, 0),
        ] as [(String, Int64, Int)])
    func reading(text: String, seconds: Int64, nanoseconds: Int) {
        let expected = InternetTimestamp(secondsSinceEpoch: seconds, nanoseconds: nanoseconds)
        #expect(InternetTimestamp(text) == expected)
    }

    @Test(
        "Text that is not exactly a time stamp is refused",
        arguments: [
            "", "1970-01-01", "1970-01-01T00:00:00", "1970-01-01 00:00:00Z", "1970-01-01T00:00Z",
            "1970-01-01T00:00:00.Z", "1970-01-01T00:00:00,5Z", "1970-01-01T00:00:00+0000",
            "1970-01-01T00:00:00+24:00", "1970-01-01T00:00:00+00:60", "1970-01-01T00:00:00+1:00",
            "1970-13-01T00:00:00Z", "1970-02-29T00:00:00Z", "1970-01-01T24:00:00Z",
            "1970-01-01T00:60:00Z", "1970-01-01T00:00:61Z", "+970-01-01T00:00:00Z",
            " 1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z ", "70-01-01T00:00:00Z",
            "19700101T000000Z", "1970-01-01T00:00:00ZZ", "1970-01-01T00:00:00.-1Z",
        ])
    func refusal(text: String) {
        #expect(InternetTimestamp(text) == nil)
    }

    @Test("Every beginning of a time stamp is refused, and no changed byte traps")
    func mutations() {
        let bytes = Array("1937-01-01T12:00:27.87+00:20".utf8)
        for end in bytes.indices {
            let beginning = Array(bytes[..<end])
            let time = InternetTimestamp(parsing: beginning.span)
            #expect(time == nil)
        }
        for index in bytes.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = bytes
                changed[index] = byte
                guard let time = InternetTimestamp(parsing: changed.span) else { continue }
                #expect(InternetTimestamp(time.description) == time)
            }
        }
    }

    @Test(
        "The caller chooses the digits of the fraction and the offset",
        arguments: [
            (nil, 0, "1985-04-12T23:20:50.5Z"), (0, 0, "1985-04-12T23:20:50Z"),
            (3, 0, "1985-04-12T23:20:50.500Z"), (9, 0, "1985-04-12T23:20:50.500000000Z"),
            (0, 120, "1985-04-13T01:20:50+02:00"), (nil, -570, "1985-04-12T13:50:50.5-09:30"),
            (0, 1_439, "1985-04-13T23:19:50+23:59"), (0, -1_439, "1985-04-11T23:21:50-23:59"),
        ] as [(Int?, Int, String)])
    func writing(digits: Int?, offset: Int, expected: String) {
        let time = InternetTimestamp(secondsSinceEpoch: 482_196_050, nanoseconds: 500_000_000)
        let text = time.text(fractionDigits: digits, offsetMinutes: offset)
        #expect(text == expected)
        #expect(InternetTimestamp(text)?.httpDate == time.httpDate)
    }

    @Test("Times without a year of four digits are clamped", arguments: [-1_439, 0, 1_439])
    func clamping(offset: Int) {
        let last = InternetTimestamp(secondsSinceEpoch: .max, nanoseconds: 999_999_999)
        #expect(last.text(offsetMinutes: offset).hasPrefix("9999-12-3"))
        let first = InternetTimestamp(secondsSinceEpoch: .min)
        #expect(first.text(offsetMinutes: offset).hasPrefix("0000-01-0"))
    }

    @Test("Times are ordered by nanoseconds, and converted to and from dates of whole seconds")
    func order() {
        let early = InternetTimestamp(secondsSinceEpoch: -1, nanoseconds: 999_999_999)
        let late = InternetTimestamp(HTTPDate(secondsSinceEpoch: 0))
        #expect(early < late)
        #expect(late < InternetTimestamp(secondsSinceEpoch: 0, nanoseconds: 1))
        #expect(early.httpDate == HTTPDate(secondsSinceEpoch: -1))
    }
}
