import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem

@Suite("Turns and pulses")
struct TurnsTests {
    @Test("One at a time, however many want to")
    func oneAtATime() async {
        let turns = Turns()
        let inside = Locked((now: 0, most: 0, all: 0))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    await turns.take()
                    inside.withLock { inside in
                        inside.now += 1
                        inside.all += 1
                        inside.most = max(inside.most, inside.now)
                    }
                    await Task.yield()
                    inside.withLock { $0.now -= 1 }
                    turns.give()
                }
            }
        }
        #expect(inside.withLock { $0.all } == 200)
        #expect(inside.withLock { $0.most } == 1)
    }

    @Test("A beat wakes those whose number has come, and who comes later does not wait")
    func beats() async {
        let pulse = Pulse()
        let woken = ServerLog<UInt64>()
        for target: UInt64 in [1, 2] {
            Task {
                await pulse.wait(for: target)
                woken.add(target)
            }
        }
        pulse.beat()
        #expect(await woken.first() == 1)
        #expect(woken.entries == [1])
        pulse.beat()
        #expect(await woken.first() == 2)
        await pulse.wait(for: 2)
        #expect(pulse.count == 2)
    }

    @Test("Waiting ends with the time, in a cancelled task too")
    func time() async {
        let pulse = Pulse()
        await pulse.wait(for: 1, until: .now)
        await pulse.wait(for: 1, until: .now + .milliseconds(1))
        let task = Task {
            await withTaskCancellationHandler {
                await pulse.wait(for: 1, until: .now + .milliseconds(1))
            } onCancel: {
            }
        }
        task.cancel()
        await task.value
        #expect(pulse.count == 0)
    }
}
