import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem

@Suite("Asynchronous locks and event counts")
struct AsyncLockTests {
    @Test("One task at a time holds the lock")
    func oneAtATime() async {
        let lock = AsyncLock()
        let inside = Locked((now: 0, most: 0, all: 0))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    await lock.lock()
                    inside.withLock { inside in
                        inside.now += 1
                        inside.all += 1
                        inside.most = max(inside.most, inside.now)
                    }
                    await Task.yield()
                    inside.withLock { $0.now -= 1 }
                    lock.unlock()
                }
            }
        }
        #expect(inside.withLock { $0.all } == 200)
        #expect(inside.withLock { $0.most } == 1)
    }

    @Test("An advance wakes tasks whose count is reached; later waits for it return at once")
    func advances() async {
        let count = EventCount()
        let woken = ServerLog<UInt64>()
        for target: UInt64 in [1, 2] {
            Task {
                await count.wait(for: target)
                woken.add(target)
            }
        }
        count.advance()
        #expect(await woken.first() == 1)
        #expect(woken.entries == [1])
        count.advance()
        #expect(await woken.first() == 2)
        await count.wait(for: 2)
        #expect(count.count == 2)
    }

    @Test("A wait ends at its deadline, in a cancelled task, too")
    func time() async {
        let count = EventCount()
        await count.wait(for: 1, until: .now)
        await count.wait(for: 1, until: .now + .milliseconds(1))
        let task = Task {
            await withTaskCancellationHandler {
                await count.wait(for: 1, until: .now + .milliseconds(1))
            } onCancel: {
            }
        }
        task.cancel()
        await task.value
        #expect(count.count == 0)
    }
}
