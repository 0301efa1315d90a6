/// The deadlines of many connections. It takes tokens with ticks, and reports the tokens when their
/// ticks have come. It reads no clock.
///
/// Postponing a deadline costs nothing here: the owner of an entry checks its deadline only when
/// the tick comes, and then inserts the entry again if the deadline has moved. So a connection may
/// move its deadline with each request.
package struct TimerWheel {
    /// One entry: its owner and its tick.
    private struct Entry {
        var token: UInt64
        var tick: UInt64
    }

    /// The length of a tick in nanoseconds. Deadlines are reported up to one tick late.
    package static let tick: UInt64 = 50_000_000
    private static let slotCount = 2048

    private var slots: [[Entry]]
    private var occupied: [UInt64]
    private var current: UInt64
    /// The number of entries.
    package private(set) var count = 0

    /// - Parameter now: the monotonic clock in nanoseconds.
    package init(now: UInt64) {
        slots = Array(repeating: [], count: Self.slotCount)
        occupied = Array(repeating: 0, count: Self.slotCount / 64)
        current = now / Self.tick
    }

    /// The tick at which a deadline in nanoseconds has passed.
    package static func tick(of deadline: UInt64) -> UInt64 {
        deadline / tick + 1
    }

    /// Inserts an entry; a tick that has passed counts as the next tick.
    /// - Returns: the tick at which the entry is due.
    package mutating func insert(_ token: UInt64, at tick: UInt64) -> UInt64 {
        let due = max(tick, current + 1)
        // An entry beyond one turn waits in the last slot, and is inserted again from there.
        let stop = min(due, current + UInt64(Self.slotCount) - 1)
        let slot = Int(stop % UInt64(Self.slotCount))
        slots[slot].append(Entry(token: token, tick: due))
        occupied[slot / 64] |= 1 << UInt64(slot % 64)
        count += 1
        return due
    }

    /// Advances the clock and removes all entries whose tick has come.
    package mutating func advance(to now: UInt64, _ due: (_ token: UInt64, _ tick: UInt64) -> Void)
    {
        let target = now / Self.tick
        while current < target {
            guard count > 0 else {
                current = target
                return
            }
            current += 1
            let slot = Int(current % UInt64(Self.slotCount))
            guard !slots[slot].isEmpty else { continue }
            let entries = slots[slot]
            slots[slot] = []
            occupied[slot / 64] &= ~(1 << UInt64(slot % 64))
            count -= entries.count
            for entry in entries {
                if entry.tick > current {
                    _ = insert(entry.token, at: entry.tick)
                } else {
                    due(entry.token, entry.tick)
                }
            }
        }
    }

    /// The time to call `advance` next, in nanoseconds; `nil` without entries.
    package var next: UInt64? {
        guard count > 0 else { return nil }
        var tick = current + 1
        while tick < current + UInt64(Self.slotCount) {
            let slot = Int(tick % UInt64(Self.slotCount))
            // The slots of this word from here on.
            let ahead = occupied[slot / 64] >> UInt64(slot % 64)
            guard ahead == 0 else { return (tick + UInt64(ahead.trailingZeroBitCount)) * Self.tick }
            tick += UInt64(64 - slot % 64)
        }
        return nil
    }
}
