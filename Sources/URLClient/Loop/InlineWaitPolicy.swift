/// Whether it is worth a wait that an answer may come at once.
struct InlineWaitPolicy {
    /// Within which time answers are worth a wait, in nanoseconds; none are if it is 0.
    let limit: Int64
    /// How long a wait is at most. A timer that is due before the kernel looks at its clock anyhow
    /// would have to be set and taken back for each answer, which costs more than the rest of a wait.
    var longest: Int64 { min(limit * 40, 10_000_000) }
    /// How long answers have taken lately.
    private var usual: Int64
    private var failures = 0
    private var rests = 0

    init(_ limit: Duration, usual: Int64 = .max / 8) {
        self.usual = usual
        self.limit = min(limit.nanoseconds, 10_000_000)
    }

    /// Whether nobody has waited for nothing of late. Also counts the times that it is asked.
    var isHopeful: Bool {
        mutating get {
            guard limit > 0 else { return false }
            guard rests > 0 else { return true }
            rests -= 1
            return false
        }
    }

    /// Also counts the times that nobody waits after it was for nothing.
    var isWorthwhile: Bool {
        mutating get {
            guard usual < limit, !MultiHandle.isOnMainThread else { return false }
            return isHopeful
        }
    }

    mutating func note(answer nanoseconds: Int64) {
        usual = usual / 4 * 3 + nanoseconds / 4
    }

    mutating func note(isRewarded: Bool) {
        failures = isRewarded ? 0 : min(failures + 1, 10)
        rests = isRewarded ? 0 : 4 << failures
    }
}
