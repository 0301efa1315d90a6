import Testing
import ToolkitSystem

@Suite("Lazily set references")
struct LazyReferenceTests {
    /// Counts its instances.
    private final class Counted: Sendable {
        let number: Int
        private let alive: Locked<Int>

        init(_ number: Int, _ alive: Locked<Int>) {
            (self.number, self.alive) = (number, alive)
            alive.withLock { $0 += 1 }
        }

        deinit { alive.withLock { $0 -= 1 } }
    }

    private final class Holder: Sendable {
        let reference = LazyReference<Counted>()
    }

    @Test("One of several tasks sets the object, all get the same, and the holder releases it")
    func several() async {
        let alive = Locked(0)
        for _ in 0..<200 {
            var holder: Holder? = Holder()
            #expect(holder?.reference.load() == nil)
            let numbers = await withTaskGroup(of: Int.self) { group in
                for number in 0..<8 {
                    group.addTask { [holder] in
                        holder?.reference.storeIfNil(Counted(number, alive)).number ?? -1
                    }
                }
                return await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(numbers.count == 1)
            #expect(holder?.reference.load().map { $0.number } == numbers.first)
            #expect(alive.withLock { $0 } == 1)
            holder = nil
            #expect(alive.withLock { $0 } == 0)
        }
    }

    @Test("A reference that was never set is nil")
    func unset() {
        let holder = Holder()
        #expect(holder.reference.load() == nil)
    }
}
