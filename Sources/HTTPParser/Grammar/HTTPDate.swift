/// A point in time as HTTP fields carry it: whole seconds in UTC.
///
/// Parses the three formats of RFC 9110, section 5.6.7, and prints the preferred one.
///
/// ```swift
/// let now = HTTPDate(secondsSinceEpoch: 1_795_287_900)
/// HTTPDate("Sun, 06 Nov 1994 08:49:37 GMT", now: now)?.secondsSinceEpoch  // 784111777
/// HTTPDate(secondsSinceEpoch: 784_111_777).description  // Sun, 06 Nov 1994 08:49:37 GMT
/// ```
public struct HTTPDate: Hashable, Comparable, Sendable {
    /// Seconds since 1970-01-01T00:00:00Z, without leap seconds; negative before it.
    public var secondsSinceEpoch: Int64

    /// Creates the point in time this many seconds after 1970-01-01T00:00:00Z.
    ///
    /// Every value is allowed; printing clamps to the years 0 to 9999.
    public init(secondsSinceEpoch: Int64) {
        self.secondsSinceEpoch = secondsSinceEpoch
    }

    /// Orders by time.
    public static func < (left: HTTPDate, right: HTTPDate) -> Bool {
        left.secondsSinceEpoch < right.secondsSinceEpoch
    }
}

extension HTTPDate: CustomStringConvertible {
    /// The length of a date in the preferred format, in bytes.
    public static let byteCount = 29

    /// The date in the preferred format, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// Times outside the years 0 to 9999 have no such form and are clamped. RFC 9110, section
    /// 5.6.7 (IMF-fixdate).
    public var description: String {
        unsafe String(unsafeUninitializedCapacity: Self.byteCount) { room in
            var span = unsafe MutableSpan(_unsafeElements: room)
            write(into: &span)
            return Self.byteCount
        }
    }

    /// Writes the date in the preferred format into the first 29 bytes of a buffer.
    ///
    /// Allocates nothing. The buffer must hold at least ``byteCount`` bytes, otherwise this traps;
    /// further bytes are not changed. Times outside the years 0 to 9999 are clamped. RFC 9110,
    /// section 5.6.7.
    public func write(into bytes: inout MutableSpan<UInt8>) {
        precondition(bytes.count >= Self.byteCount, "a date needs 29 bytes")
        // 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z.
        let seconds = min(max(secondsSinceEpoch, -62_167_219_200), 253_402_300_799)
        let time = CivilTime(secondsSinceEpoch: seconds)
        let weekday = CivilTime.weekday(secondsSinceEpoch: seconds)
        DateText.copy(DateText.weekdays, from: weekday * 3, count: 3, to: &bytes, at: 0)
        DateText.copy(DateText.separators, from: 0, count: 26, to: &bytes, at: 3)
        DateText.writeDigits(time.day, to: &bytes, at: 5)
        DateText.copy(DateText.months, from: (time.month - 1) * 3, count: 3, to: &bytes, at: 8)
        DateText.writeDigits(Int(time.year / 100), to: &bytes, at: 12)
        DateText.writeDigits(Int(time.year % 100), to: &bytes, at: 14)
        DateText.writeDigits(time.hour, to: &bytes, at: 17)
        DateText.writeDigits(time.minute, to: &bytes, at: 20)
        DateText.writeDigits(time.second, to: &bytes, at: 23)
    }
}

/// The fixed texts of a date and functions to write them.
enum DateText {
    static let weekdays = Array("SunMonTueWedThuFriSat".utf8)
    static let months = Array("JanFebMarAprMayJunJulAugSepOctNovDec".utf8)
    static let longWeekdays = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ].map { Array($0.utf8) }
    /// The text after the weekday, with spaces in place of the numbers and the month.
    static let separators = Array(",               :  :   GMT".utf8)

    static func copy(
        _ text: [UInt8], from start: Int, count: Int,
        to bytes: inout MutableSpan<UInt8>, at offset: Int
    ) {
        for index in 0..<count {
            bytes[offset + index] = text[start + index]
        }
    }

    /// Writes a number of 0 to 99 as two digits.
    static func writeDigits(_ number: Int, to bytes: inout MutableSpan<UInt8>, at offset: Int) {
        bytes[offset] = 0x30 + UInt8(number / 10)
        bytes[offset + 1] = 0x30 + UInt8(number % 10)
    }
}
