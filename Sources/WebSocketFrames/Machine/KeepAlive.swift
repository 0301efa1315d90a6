/// The pings that check whether the peer is alive, as a value that gets the time from its caller.
///
/// The timeout of a ping begins when the ping has been sent: a large message queued before it must
/// not end the connection.
struct KeepAlive: Sendable {
    /// The most remembered pings of the caller.
    private static let laterLimit = 8

    private var state: State
    /// The number of pings that were written.
    private(set) var number: UInt64 = 0
    /// The payloads of pings of the caller since the last ping: all of them, or some if there are many.
    private var later: [[UInt8]] = []

    private enum State {
        /// The next ping is due at a time.
        case idle(next: Duration)
        /// A ping is queued; it ends at byte `end` of the output.
        case waiting(end: Int64, next: Duration)
        /// A ping was sent, and its pong is due at `deadline`.
        case sent(deadline: Duration, next: Duration)
        case off
    }

    /// - Parameter firstPing: when the first ping is due; nil for no pings.
    init(firstPing: Duration?) {
        state = firstPing.map { .idle(next: $0) } ?? .off
    }

    /// The time of the next ping or timeout; nil for none.
    var deadline: Duration? {
        switch state {
        case .idle(let next): next
        case .sent(let deadline, _): deadline
        case .waiting, .off: nil
        }
    }

    /// Whether a ping is due.
    func isDue(at now: Duration) -> Bool {
        if case .idle(let next) = state { next <= now } else { false }
    }

    /// Whether the pong is overdue.
    func isExpired(at now: Duration) -> Bool {
        if case .sent(let deadline, _) = state { deadline <= now } else { false }
    }

    /// The number of pings that were answered. Only the last ping can be unanswered.
    var answeredCount: UInt64 {
        switch state {
        case .waiting, .sent: number - 1
        case .idle, .off: number
        }
    }

    /// The payload of the next ping, which identifies its pong.
    mutating func nextPayload() -> [UInt8] {
        number &+= 1
        return payload
    }

    private var payload: [UInt8] {
        stride(from: UInt64(56), through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    /// Records that a ping was written, up to byte `end` of the output. The next ping is due at
    /// `next`.
    mutating func written(upTo end: Int64, next: Duration) {
        state = .waiting(end: end, next: next)
        later = []
    }

    /// Records that the caller has written a ping. A peer may answer only the newest of several
    /// pings (RFC 6455 section 5.5.3).
    mutating func wrotePing(_ payload: [UInt8]) {
        switch state {
        case .idle, .off: return
        case .waiting, .sent: break
        }
        if later.count == Self.laterLimit {
            // A peer at the end of a slow link may answer an old ping, or a new one.
            later = stride(from: 0, to: later.count, by: 2).map { later[$0] }
        }
        later.append(payload)
    }

    /// Records that the output was sent up to byte `end`. A ping in it must be answered by
    /// `deadline`.
    mutating func left(upTo end: Int64, pongBy deadline: Duration) {
        guard case .waiting(let place, let next) = state, place <= end else { return }
        state = .sent(deadline: deadline, next: next)
    }

    /// Records that a frame of the peer is incomplete; no pong can arrive before the end of the
    /// frame.
    mutating func sawPartOfFrame(pongBy later: Duration) {
        guard case .sent(let deadline, let next) = state else { return }
        state = .sent(deadline: max(deadline, later), next: next)
    }

    /// Takes a pong. It answers the last ping if its payload is that of this ping or of a later
    /// ping of the caller.
    /// - Returns: whether the payload is that of the last ping itself.
    mutating func takePong(_ pong: [UInt8]) -> Bool {
        switch state {
        case .waiting(_, let next), .sent(_, let next):
            let isOwn = pong == payload
            guard isOwn || later.contains(pong) else { return false }
            state = .idle(next: next)
            later = []
            return isOwn
        case .idle, .off: return false
        }
    }
}
