extension HTTPDate {
    /// Parses a date in any of the three formats of HTTP.
    ///
    /// Nil unless the bytes are exactly one date: names in the case that the RFC prints, a valid
    /// day of the month, a time up to 23:59:60, no white space around it. The weekday must be a
    /// valid name, but need not match the date. A leap second counts as the first second of the
    /// next minute.
    ///
    /// - Parameters:
    ///   - bytes: The field value, without white space around it.
    ///   - now: The current time. It decides the century of a two-digit year: the latest one that
    ///     puts the date at most 50 years ahead.
    ///
    /// RFC 9110, section 5.6.7.
    public init?(parsing bytes: Span<UInt8>, now: HTTPDate) {
        let reader = DateReader(bytes)
        guard let time = reader.fixdate() ?? reader.asctime() ?? reader.rfc850(now: now),
            time.isValid
        else { return nil }
        self.init(secondsSinceEpoch: time.secondsSinceEpoch)
    }

    /// Parses a date in any of the three formats of HTTP.
    ///
    /// Parses the UTF-8 of the text like ``init(parsing:now:)``. RFC 9110, section 5.6.7.
    public init?(_ text: String, now: HTTPDate) {
        let bytes = Array(text.utf8)
        self.init(parsing: bytes.span, now: now)
    }
}

/// Reads the pieces of a date at fixed offsets.
///
/// Every method accepts any offset, and returns nil or `false` if the bytes there do not match.
private struct DateReader: ~Escapable {
    private let bytes: Span<UInt8>

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>) {
        self.bytes = bytes
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    func fixdate() -> CivilTime? {
        guard bytes.count == HTTPDate.byteCount,
            name(of: DateText.weekdays, at: 0) != nil, matches(", ", at: 3),
            let day = digits(2, at: 5), matches(" ", at: 7),
            let month = name(of: DateText.months, at: 8), matches(" ", at: 11),
            let year = digits(4, at: 12), matches(" ", at: 16), matches(" GMT", at: 25)
        else { return nil }
        return time(at: 17, year: Int64(year), month: month + 1, day: day)
    }

    /// `Sun Nov  6 08:49:37 1994`
    func asctime() -> CivilTime? {
        guard bytes.count == 24,
            name(of: DateText.weekdays, at: 0) != nil, matches(" ", at: 3),
            let month = name(of: DateText.months, at: 4), matches(" ", at: 7),
            let day = matches(" ", at: 8) ? digits(1, at: 9) : digits(2, at: 8),
            matches(" ", at: 10), matches(" ", at: 19), let year = digits(4, at: 20)
        else { return nil }
        return time(at: 11, year: Int64(year), month: month + 1, day: day)
    }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`
    func rfc850(now: HTTPDate) -> CivilTime? {
        guard let start = longWeekdayLength(), bytes.count == start + 24,
            matches(", ", at: start), let day = digits(2, at: start + 2),
            matches("-", at: start + 4), let month = name(of: DateText.months, at: start + 5),
            matches("-", at: start + 8), let year = digits(2, at: start + 9),
            matches(" ", at: start + 11), matches(" GMT", at: start + 20),
            let time = time(at: start + 12, year: Int64(year), month: month + 1, day: day)
        else { return nil }
        return time.placedInCentury(of: now)
    }

    private func longWeekdayLength() -> Int? {
        DateText.longWeekdays.first { matches($0, at: 0) }?.count
    }

    /// `08:49:37`
    private func time(at offset: Int, year: Int64, month: Int, day: Int) -> CivilTime? {
        guard let hour = digits(2, at: offset), matches(":", at: offset + 2),
            let minute = digits(2, at: offset + 3), matches(":", at: offset + 5),
            let second = digits(2, at: offset + 6)
        else { return nil }
        return CivilTime(
            year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    }

    /// The index of the three-letter name at the offset.
    private func name(of names: [UInt8], at offset: Int) -> Int? {
        guard offset + 3 <= bytes.count else { return nil }
        for index in 0..<names.count / 3
        where names[index * 3] == bytes[offset] && names[index * 3 + 1] == bytes[offset + 1]
            && names[index * 3 + 2] == bytes[offset + 2]
        {
            return index
        }
        return nil
    }

    private func digits(_ count: Int, at offset: Int) -> Int? {
        guard offset + count <= bytes.count else { return nil }
        var number = 0
        for index in offset..<offset + count {
            guard case 0x30...0x39 = bytes[index] else { return nil }
            number = number * 10 + Int(bytes[index] - 0x30)
        }
        return number
    }

    private func matches(_ text: String, at offset: Int) -> Bool {
        matches(text.utf8, at: offset)
    }

    private func matches(_ text: some Collection<UInt8>, at offset: Int) -> Bool {
        guard offset + text.count <= bytes.count else { return false }
        var position = offset
        for byte in text {
            guard bytes[position] == byte else { return false }
            position += 1
        }
        return true
    }
}

extension CivilTime {
    /// The same date with a century added to its year of two digits.
    ///
    /// It is the latest century that puts the date at most 50 years ahead.
    fileprivate func placedInCentury(of now: HTTPDate) -> CivilTime {
        // Limits the clock to the years 0 to 9999: extreme times could overflow the sums below.
        let clock = min(max(now.secondsSinceEpoch, -62_167_219_200), 253_402_300_799)
        var limit = CivilTime(secondsSinceEpoch: clock)
        var placed = self
        placed.year += limit.year / 100 * 100 + 100
        limit.year += 50
        while placed.isAfter(limit) {
            placed.year -= 100
        }
        return placed
    }

    private func isAfter(_ other: CivilTime) -> Bool {
        if (year, month, day) != (other.year, other.month, other.day) {
            return (year, month, day) > (other.year, other.month, other.day)
        }
        return (hour, minute, second) > (other.hour, other.minute, other.second)
    }
}
