/// A point in time in the format of RFC 3339, the Internet's profile of ISO 8601.
///
/// ```swift
/// InternetTimestamp("1985-04-12T23:20:50.52Z")?.nanoseconds            // 520000000
/// InternetTimestamp("1996-12-19T16:39:57-08:00")?.description          // 1996-12-20T00:39:57Z
/// InternetTimestamp(secondsSinceEpoch: 0).text(offsetMinutes: 90)      // 1970-01-01T01:30:00+01:30
/// ```
///
/// HTTP fields carry dates in another format; see ``HTTPDate``.
public struct InternetTimestamp: Hashable, Sendable {
    /// Seconds since 1970-01-01T00:00:00Z, without leap seconds; negative before it.
    public let secondsSinceEpoch: Int64
    /// The fraction of the second, 0 to 999,999,999 nanoseconds.
    public let nanoseconds: Int

    /// Creates the point in time this long after 1970-01-01T00:00:00Z.
    ///
    /// Every number of seconds is allowed; printing clamps to the years 0 to 9999.
    /// - Parameters:
    ///   - secondsSinceEpoch: whole seconds, negative before 1970-01-01T00:00:00Z.
    ///   - nanoseconds: added to the seconds, 0 to 999,999,999; other values trap.
    public init(secondsSinceEpoch: Int64, nanoseconds: Int = 0) {
        precondition(0..<1_000_000_000 ~= nanoseconds, "nanoseconds are part of one second")
        self.secondsSinceEpoch = secondsSinceEpoch
        self.nanoseconds = nanoseconds
    }

    /// Creates the beginning of the second that an HTTP date names.
    public init(_ date: HTTPDate) {
        self.init(secondsSinceEpoch: date.secondsSinceEpoch)
    }

    /// The second that contains this time, as HTTP fields carry it.
    public var httpDate: HTTPDate { HTTPDate(secondsSinceEpoch: secondsSinceEpoch) }
}

extension InternetTimestamp: Comparable {
    /// Orders by time.
    public static func < (left: InternetTimestamp, right: InternetTimestamp) -> Bool {
        (left.secondsSinceEpoch, left.nanoseconds) < (right.secondsSinceEpoch, right.nanoseconds)
    }
}

extension InternetTimestamp: CustomStringConvertible {
    /// The time in UTC, with as many digits after the decimal point as it needs.
    public var description: String { text() }

    /// The time as text, such as `1985-04-12T23:20:50.52Z`.
    ///
    /// Years outside 0 to 9999 have no such form and are clamped.
    /// - Parameters:
    ///   - fractionDigits: the number of digits after the decimal point, 0 to 9; further digits are
    ///     cut off. `nil` writes as many as the time needs.
    ///   - offsetMinutes: the offset of local time from UTC in minutes, -1439 to 1439; 0 is written
    ///     as `Z`.
    ///
    /// RFC 3339, section 5.6.
    public func text(fractionDigits: Int? = nil, offsetMinutes: Int = 0) -> String {
        precondition(-1_439...1_439 ~= offsetMinutes, "an offset is less than a day")
        precondition(0...9 ~= fractionDigits ?? 0, "a second has at most nine fraction digits")
        // 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z, in local time.
        let seconds = min(max(secondsSinceEpoch, -62_167_219_200), 253_402_300_799)
        let local = seconds + Int64(offsetMinutes) * 60
        let clamped = min(max(local, -62_167_219_200), 253_402_300_799)
        var text = String(CivilTime(secondsSinceEpoch: clamped).rfc3339.dropLast())
        text += fraction(digits: fractionDigits)
        text += Self.offset(minutes: offsetMinutes)
        return text
    }

    private func fraction(digits wanted: Int?) -> String {
        var digits = Array(String(1_000_000_000 + nanoseconds).utf8.dropFirst())
        if let wanted {
            digits.removeLast(9 - wanted)
        } else {
            while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        }
        return digits.isEmpty ? "" : "." + String(decoding: digits, as: UTF8.self)
    }

    private static func offset(minutes: Int) -> String {
        guard minutes != 0 else { return "Z" }
        let (hours, rest) = abs(minutes).quotientAndRemainder(dividingBy: 60)
        let digits = String(10_000 + hours * 100 + rest).dropFirst()
        return (minutes < 0 ? "-" : "+") + digits.prefix(2) + ":" + digits.suffix(2)
    }
}

extension InternetTimestamp {
    /// Parses a date and time with its offset from UTC.
    ///
    /// Nil unless the bytes are exactly that: a valid day of the month, a time up to 23:59:60, `Z`
    /// or an offset in hours and minutes, no white space. `t` and `z` are accepted, too. Digits
    /// after the ninth of a fraction are cut off. A leap second counts as the first second of the
    /// next minute.
    ///
    /// RFC 3339, section 5.6.
    public init?(parsing bytes: Span<UInt8>) {
        var reader = TimestampReader(bytes)
        guard let time = reader.takeDateAndTime(), time.isValid,
            let fraction = reader.takeFraction(), let offset = reader.takeOffset(), reader.isAtEnd
        else { return nil }
        self.init(secondsSinceEpoch: time.secondsSinceEpoch - offset, nanoseconds: fraction)
    }

    /// Parses a date and time with its offset from UTC.
    ///
    /// Parses the UTF-8 of the text like ``init(parsing:)``.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        self.init(parsing: bytes.span)
    }
}

/// Reads the parts of a time stamp, one after the other.
private struct TimestampReader: ~Escapable {
    private let bytes: Span<UInt8>
    private var position = 0

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }

    /// `1985-04-12T23:20:50`
    mutating func takeDateAndTime() -> CivilTime? {
        guard let year = takeNumber(digits: 4), take("-"), let month = takeNumber(digits: 2),
            take("-"), let day = takeNumber(digits: 2), take("T") || take("t"),
            let hour = takeNumber(digits: 2), take(":"), let minute = takeNumber(digits: 2),
            take(":"), let second = takeNumber(digits: 2)
        else { return nil }
        return CivilTime(
            year: Int64(year), month: month, day: day, hour: hour, minute: minute, second: second)
    }

    /// Nanoseconds; 0 without a fraction.
    mutating func takeFraction() -> Int? {
        guard take(".") else { return 0 }
        var (fraction, unit, count) = (0, 100_000_000, 0)
        while let digit = takeNumber(digits: 1) {
            fraction += digit * unit
            unit /= 10
            count += 1
        }
        return count > 0 ? fraction : nil
    }

    /// Seconds ahead of UTC.
    mutating func takeOffset() -> Int64? {
        if take("Z") || take("z") { return 0 }
        let isBehind = take("-")
        guard isBehind || take("+"), let hours = takeNumber(digits: 2), take(":"),
            let minutes = takeNumber(digits: 2), hours < 24, minutes < 60
        else { return nil }
        return Int64(hours * 3_600 + minutes * 60) * (isBehind ? -1 : 1)
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else {
            return false
        }
        position += 1
        return true
    }

    private mutating func takeNumber(digits count: Int) -> Int? {
        guard count <= bytes.count - position else { return nil }
        var number = 0
        for index in position..<position + count {
            guard case 0x30...0x39 = bytes[index] else { return nil }
            number = number * 10 + Int(bytes[index] - 0x30)
        }
        position += count
        return number
    }
}
