extension Duration {
    /// In nanoseconds, clamped to the range of the type.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, overflowed) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        guard !overflowed else { return seconds < 0 ? .min : .max }
        return sum
    }

    /// In milliseconds, rounded up.
    var milliseconds: Int {
        let nanoseconds = nanoseconds
        return Int(nanoseconds / 1_000_000) + (nanoseconds % 1_000_000 > 0 ? 1 : 0)
    }
}
