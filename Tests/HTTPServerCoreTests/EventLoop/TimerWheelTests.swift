import HTTPServerCore
import Testing
import ToolkitSystem

@Suite("Timer wheel")
struct TimerWheelTests {
    private static let tick = TimerWheel.tick
    /// Some time after the clock's start, not on the boundary of a tick.
    private static let start: UInt64 = 1_000 * TimerWheel.tick + 7

    /// Inserts deadlines and returns the time after the start at which each one is due.
    private func ticks(_ deadlines: [UInt64], step: UInt64, upTo last: UInt64) -> [UInt64: UInt64] {
        var wheel = TimerWheel(now: Self.start)
        for (token, deadline) in deadlines.enumerated() {
            _ = wheel.insert(UInt64(token), at: TimerWheel.tick(of: Self.start + deadline))
        }
        var seen: [UInt64: UInt64] = [:]
        var elapsed: UInt64 = 0
        while elapsed <= last {
            wheel.advance(to: Self.start + elapsed) { token, _ in
                #expect(seen[token] == nil, "an entry comes out once")
                seen[token] = elapsed
            }
            elapsed += step
        }
        #expect(wheel.count == deadlines.count - seen.count)
        return seen
    }

    @Test(
        "An entry is due after its deadline, at most two ticks late",
        arguments: [
            0, 1, tick - 8, tick - 1, tick, tick + 1, 10 * tick, 2_047 * tick, 2_048 * tick,
            2_049 * tick, 5_000 * tick + 3, 10_000 * tick,
        ])
    func dueTime(_ deadline: UInt64) throws {
        let seen = ticks([deadline], step: Self.tick, upTo: deadline + 3 * Self.tick)
        let elapsed = try #require(seen[0])
        #expect(elapsed >= deadline)
        #expect(elapsed <= deadline + 2 * Self.tick)
    }

    @Test("Entries of one slot in different turns of the wheel are due at different times")
    func turns() {
        let turn = 2_048 * Self.tick
        let seen = ticks([turn, 0, 2 * turn], step: Self.tick, upTo: 2 * turn + 2 * Self.tick)
        #expect(seen[1] ?? .max < seen[0] ?? 0)
        #expect(seen[0] ?? .max < seen[2] ?? 0)
    }

    @Test("After a jump of the clock all due entries come out", arguments: [1, 2_048, 100_000])
    func jumps(_ ticksPerStep: UInt64) {
        let deadlines = (0..<50).map { UInt64($0) * 97 * Self.tick }
        let step = ticksPerStep * Self.tick
        let seen = ticks(deadlines, step: step, upTo: 50 * 97 * Self.tick + 2 * step)
        #expect(seen.count == deadlines.count)
        for (token, deadline) in deadlines.enumerated() {
            #expect(seen[UInt64(token)] ?? 0 >= deadline)
        }
    }

    @Test("The time of the next entry is known")
    func next() throws {
        var wheel = TimerWheel(now: Self.start)
        #expect(wheel.next == nil)
        _ = wheel.insert(1, at: TimerWheel.tick(of: Self.start + 300 * Self.tick))
        _ = wheel.insert(2, at: TimerWheel.tick(of: Self.start + 64 * Self.tick))
        let next = try #require(wheel.next)
        var due: [UInt64] = []
        wheel.advance(to: next - 1) { token, _ in due.append(token) }
        #expect(due.isEmpty)
        wheel.advance(to: next) { token, _ in due.append(token) }
        #expect(due == [2])
    }

    @Test("An entry beyond one turn of the wheel comes out at its time after few wakes")
    func farAway() throws {
        var wheel = TimerWheel(now: Self.start)
        let far = TimerWheel.tick(of: Self.start + 10_000 * Self.tick)
        _ = wheel.insert(1, at: far)
        var wakes = 0
        var tick: UInt64?
        while tick == nil, wakes < 20, let next = wheel.next {
            wakes += 1
            wheel.advance(to: next) { tick = $1 }
        }
        #expect(tick == far)
        #expect(wheel.count == 0)
        #expect(wheel.next == nil)
    }

    @Test("A deadline in the past is due at the next tick")
    func past() {
        var wheel = TimerWheel(now: Self.start)
        let tick = wheel.insert(1, at: 3)
        #expect(tick == 1_001)
        var due: [UInt64] = []
        wheel.advance(to: Self.start + Self.tick) { token, _ in due.append(token) }
        #expect(due == [1])
    }
}
