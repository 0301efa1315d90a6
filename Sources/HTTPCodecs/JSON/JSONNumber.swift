internal import HTTPParser

/// Reads JSON numbers exactly: integers, and short decimal fractions.
enum JSONNumber {
    private static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]

    /// A number of at most 15 digits without an exponent, read in one scan. Any text may follow it.
    struct Short {
        private(set) var digits: Int64 = 0
        private(set) var isNegative = false
        /// How many of the digits follow the decimal point.
        private(set) var fractionCount = 0
        /// The index after the number.
        private(set) var end: Int

        /// - Returns: `nil` for a longer number, a number with an exponent, and any other text.
        @inline(__always)
        init?(_ text: Span<UInt8>, from start: Int) {
            end = start
            isNegative = text[start] == UInt8(ascii: "-")
            if isNegative { end += 1 }
            let first = end
            guard readDigits(text), end == first + 1 || text[first] != UInt8(ascii: "0") else {
                return nil
            }
            var count = end - first
            if end < text.count, text[end] == UInt8(ascii: ".") {
                end += 1
                let point = end
                guard readDigits(text) else { return nil }
                fractionCount = end - point
                count += fractionCount
            }
            guard count <= 15, end == text.count || text[end] | 0x20 != UInt8(ascii: "e") else {
                return nil
            }
        }

        /// - Returns: whether there is at least one digit.
        @inline(__always)
        private mutating func readDigits(_ text: Span<UInt8>) -> Bool {
            let start = end
            while end < text.count {
                let digit = text[end] &- 0x30
                guard digit <= 9 else { break }
                digits = digits &* 10 &+ Int64(digit)
                end += 1
            }
            return end > start
        }

        /// The value of a number without a fraction; `nil` with a fraction or out of range.
        @inline(__always)
        func integer<Value: FixedWidthInteger>() -> Value? {
            fractionCount == 0 ? Value(exactly: isNegative ? -digits : digits) : nil
        }

        /// The value. The digits and the power of ten are exact, so their quotient is rounded only
        /// once and is the nearest `Double`.
        @inline(__always)
        var double: Double {
            let number = Double(digits) / powers[fractionCount]
            return isNegative ? -number : number
        }
    }

    /// The value of a number without fraction and exponent; `nil` for other numbers, or out of
    /// range.
    static func integer<Value: FixedWidthInteger>(_ text: Span<UInt8>) -> Value? {
        let isNegative = text[0] == UInt8(ascii: "-")
        var value: Value = 0
        for index in (isNegative ? 1 : 0)..<text.count {
            let digit = text[index] &- 0x30
            guard digit <= 9 else { return nil }
            let (scaled, isTooLong) = value.multipliedReportingOverflow(by: 10)
            let (next, isTooGreat) =
                isNegative
                ? scaled.subtractingReportingOverflow(Value(digit))
                : scaled.addingReportingOverflow(Value(digit))
            guard !isTooLong, !isTooGreat else { return nil }
            value = next
        }
        return value
    }

    /// The value of a number that is an integer, also with a fraction or an exponent, as `1.50e2`;
    /// `nil` for other numbers, or out of range.
    static func wholeNumber<Value: FixedWidthInteger>(_ text: Span<UInt8>) -> Value? {
        let isNegative = text[0] == UInt8(ascii: "-")
        var value: Value = 0
        // The zeros since the last nonzero digit, and the digits after the point (-1 without one).
        var (zeros, fraction, index) = (0, -1, isNegative ? 1 : 0)
        while index < text.count, text[index] | 0x20 != UInt8(ascii: "e") {
            defer { index += 1 }
            guard text[index] != UInt8(ascii: ".") else {
                fraction = 0
                continue
            }
            if fraction >= 0 { fraction += 1 }
            zeros += 1
            guard text[index] != UInt8(ascii: "0") else { continue }
            guard let scaled = shifted(value, by: zeros) else { return nil }
            let digit = Value(text[index] - 0x30)
            let (next, isTooGreat) =
                isNegative
                ? scaled.subtractingReportingOverflow(digit)
                : scaled.addingReportingOverflow(digit)
            guard !isTooGreat else { return nil }
            (value, zeros) = (next, 0)
        }
        guard value != 0 else { return 0 }
        let exponent = index < text.count ? exponent(text.extracting((index + 1)...)) : 0
        return shifted(value, by: exponent - max(fraction, 0) + zeros)
    }

    /// `value` times ten to the power of `power`; `nil` on overflow, or for a negative power.
    private static func shifted<Value: FixedWidthInteger>(
        _ value: Value, by power: Int
    ) -> Value? {
        guard value != 0 else { return 0 }
        guard power >= 0 else { return nil }
        var value = value
        for _ in 0..<power {
            let (next, isTooGreat) = value.multipliedReportingOverflow(by: 10)
            guard !isTooGreat else { return nil }
            value = next
        }
        return value
    }

    /// The exponent after an `e`, with or without a sign. Exponents above 2^40 count as 2^40: no
    /// content has enough digits to make up for them.
    private static func exponent(_ text: Span<UInt8>) -> Int {
        let isNegative = text[0] == UInt8(ascii: "-")
        var value = 0
        for index in text.indices where text[index] >= 0x30 {
            value = min(value * 10 + Int(text[index] - 0x30), 1 << 40)
        }
        return isNegative ? -value : value
    }
}
