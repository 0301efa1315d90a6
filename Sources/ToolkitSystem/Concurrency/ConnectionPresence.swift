/// Whether any client is connected, as a value: opened and closed connections in, events out.
///
/// Between the requests of one client there may be moments without any connection. So the end is
/// reported only after an interval without connections.
package struct ConnectionPresence: Sendable {
    /// The consequence of an event.
    package enum Step: Equatable, Sendable {
        case none
        /// The first connection was opened.
        case connected
        /// There was no connection for the whole interval, or the server stopped.
        case disconnected
        /// Call `timerFired` after this many nanoseconds.
        case wait(UInt64)
    }

    private let interval: UInt64
    private var emptySince: UInt64?
    private var hasTimer = false
    /// Whether `connected` was reported last; true during the interval after the last connection.
    package private(set) var isConnected = false

    /// - Parameter interval: nanoseconds without a connection before `disconnected` is reported; 0
    ///   to report it immediately.
    package init(interval: UInt64) {
        self.interval = interval
    }

    /// The first connection was opened, or the last one was closed.
    /// - Parameters:
    ///   - isOpen: whether a connection is open now.
    ///   - now: the monotonic clock in nanoseconds.
    package mutating func changed(isOpen: Bool, now: UInt64) -> Step {
        if isOpen {
            emptySince = nil
            if isConnected { return .none }
            isConnected = true
            return .connected
        }
        guard isConnected else { return .none }
        if interval == 0 { return end() }
        emptySince = now
        if hasTimer { return .none }
        hasTimer = true
        return .wait(interval)
    }

    /// The timer of a step has fired. One timer at a time suffices: if a connection was opened and
    /// closed in between, the timer is set again for the rest of the interval.
    package mutating func timerFired(now: UInt64) -> Step {
        hasTimer = false
        guard let emptySince else { return .none }
        // The clock is read before the lock is taken: the last connection may have closed later.
        let passed = now > emptySince ? now - emptySince : 0
        if passed >= interval { return end() }
        hasTimer = true
        return .wait(interval - passed)
    }

    /// The server has stopped, and accepts no more connections.
    package mutating func stopped() -> Step {
        isConnected ? end() : .none
    }

    private mutating func end() -> Step {
        isConnected = false
        emptySince = nil
        return .disconnected
    }
}
