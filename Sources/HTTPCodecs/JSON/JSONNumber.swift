internal import HTTPParser

/// Numbers that are exact in few steps.
enum JSONNumber {
    private static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]

    /// A number of at most 15 digits without exponent, read in one go; it may be followed by
    /// anything else.
    struct Short {
        private(set) var digits: Int64 = 0
        private(set) var isNegative = false
        /// How many of the digits are behind the point.
        private(set) var fractionCount = 0
        /// The index behind it.
        private(set) var end: Int

        /// - Returns: `nil` for a number that is longer, and for anything else.
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

        /// - Returns: whether there is a digit.
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

        /// The value of one without a fraction; `nil` where it is out of range.
        @inline(__always)
        func integer<Value: FixedWidthInteger>() -> Value? {
            fractionCount == 0 ? Value(exactly: isNegative ? -digits : digits) : nil
        }

        /// The value. Digits and power of ten are exact, so that their quotient is rounded once,
        /// as it must be.
        @inline(__always)
        var double: Double {
            let number = Double(digits) / powers[fractionCount]
            return isNegative ? -number : number
        }
    }

    /// A number without fraction and exponent; `nil` for others, and for those out of range.
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

    /// A number that is an integer, however it is written; `nil` for others, and for those out of
    /// range.
    static func wholeNumber<Value: FixedWidthInteger>(_ text: Span<UInt8>) -> Value? {
        let isNegative = text[0] == UInt8(ascii: "-")
        var value: Value = 0
        // The zeros since the last other digit, and the digits behind the point.
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

    /// A value times a power of ten; `nil` when it is too great, or the power negative.
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

    /// The digits behind an `e`, with a sign or without; no content has room for greater ones.
    private static func exponent(_ text: Span<UInt8>) -> Int {
        let isNegative = text[0] == UInt8(ascii: "-")
        var value = 0
        for index in text.indices where text[index] >= 0x30 {
            value = min(value * 10 + Int(text[index] - 0x30), 1 << 40)
        }
        return isNegative ? -value : value
    }
}
