import TestSupport
import Testing
import WebDAVKit

@Suite("Queue of changes to paths")
struct PathQueueTests {
    private func paths() throws -> [ResourcePath] {
        let names = ["a", "a/b", "a/b/c", "a.b", "a/c", "b", "ab", "b/a/c", "b/a"]
        return try names.map { try #require(ResourcePath($0)) } + [.root]
    }

    private func meet(_ some: [ResourcePath], _ others: [ResourcePath]) -> Bool {
        some.contains { one in others.contains { $0.isWithin(one) || one.isWithin($0) } }
    }

    /// Compares every set of paths with a plain search.
    @Test func pathsThatMeetAreFound() throws {
        let paths = try paths()
        for chosen in 0..<(1 << paths.count) {
            var queue = PathQueue()
            let some = paths.indices.filter { chosen >> $0 & 1 == 1 }.map { paths[$0] }
            for path in some.reversed() { _ = queue.add([path]) }
            for path in paths {
                guard queue.isFree([path]) != meet(some, [path]) else {
                    Issue.record("\(some) and \(path)")
                    return
                }
            }
        }
    }

    /// Compares the queue with a list in which each request waits for all earlier ones with
    /// overlapping paths. Removed requests are running or still wait.
    @Test(
        "A request waits exactly as long as an earlier one has an overlapping path",
        arguments: 0..<20)
    func noRequestPassesAnother(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let paths = try paths()
        var queue = PathQueue()
        var list: [(number: Int, paths: [ResourcePath])] = []
        var waiting: Set<Int> = []
        for step in 0..<1_000 {
            if list.count < 12, Bool.random(using: &random) {
                var chosen: [ResourcePath] = []
                for _ in 0..<Int.random(in: 1...2, using: &random) {
                    chosen.append(paths[Int.random(in: paths.indices, using: &random)])
                }
                let isFree = queue.isFree(chosen)
                let (number, isWaiting) = queue.add(chosen)
                #expect(isFree != isWaiting)
                list.append((number, chosen))
                if isWaiting { waiting.insert(number) }
            } else if let index = list.indices.randomElement(using: &random) {
                let number = list.remove(at: index).number
                let ready = queue.remove(number)
                #expect(ready == ready.sorted() && !queue.contains(number))
                waiting.remove(number)
                waiting.subtract(ready)
            }
            var expected: Set<Int> = []
            for (index, request) in list.enumerated()
            where list[..<index].contains(where: { meet($0.paths, request.paths) }) {
                expected.insert(request.number)
            }
            guard waiting == expected, queue.waitingCount == expected.count,
                list.allSatisfy({ queue.isWaiting($0.number) == expected.contains($0.number) })
            else {
                Issue.record("step \(step): \(waiting) in place of \(expected) of \(list)")
                return
            }
        }
    }
}
