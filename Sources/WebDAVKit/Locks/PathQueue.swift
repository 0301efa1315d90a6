/// Requests in the order of their arrival, each with the paths that it changes. A request waits
/// while an earlier request has an overlapping path: the same path, an ancestor or a descendant.
///
/// A waiting request watches only one of the requests that block it. When that blocker leaves, the
/// queue looks for another one. So arriving and leaving cost little more when many requests wait.
package struct PathQueue: Sendable {
    private struct Entry: Sendable {
        let paths: [ResourcePath]
        /// The earlier request that this one watches; `nil` once it need not wait.
        var blocker: Int?
        /// The later requests that watch this one.
        var watchers: [Int] = []
    }

    /// A request that arrived at an empty queue. It usually leaves before another one arrives, so
    /// its paths are not indexed until then.
    private var lone: (number: Int, paths: [ResourcePath])?
    private var entries: [Int: Entry] = [:]
    /// The requests at each path, in their order.
    private var numbers: [ResourcePath: [Int]] = [:]
    /// The paths of all requests, sorted so that the members of a collection follow it.
    private var paths: [ResourcePath] = []
    private var hashes = PathHashes()
    private var last = 0
    /// The number of waiting requests.
    package private(set) var waitingCount = 0

    package init() {}

    /// Whether a request is in the queue and waits.
    package func isWaiting(_ number: Int) -> Bool { entries[number]?.blocker != nil }

    /// Whether a request has arrived and not left.
    package func contains(_ number: Int) -> Bool {
        lone?.number == number || entries[number] != nil
    }

    /// The paths of a request.
    package func paths(of number: Int) -> [ResourcePath] {
        if let lone, lone.number == number { return lone.paths }
        return entries[number]?.paths ?? []
    }

    /// Whether no request blocks some paths.
    package func isFree(_ paths: [ResourcePath]) -> Bool {
        if let lone {
            return !lone.paths.contains { own in
                paths.contains { own.isWithin($0) || $0.isWithin(own) }
            }
        }
        return blocker(of: paths, before: .max) == nil
    }

    /// Appends a request.
    /// - Returns: its number, and whether it has to wait.
    package mutating func add(_ paths: [ResourcePath]) -> (number: Int, isWaiting: Bool) {
        last += 1
        if lone == nil, entries.isEmpty {
            lone = (last, paths)
            return (last, false)
        }
        indexLone()
        let blocker = blocker(of: paths, before: last)
        entries[last] = Entry(paths: paths, blocker: blocker)
        for path in paths { insert(last, at: path) }
        if let blocker {
            entries[blocker]?.watchers.append(last)
            waitingCount += 1
        }
        return (last, blocker != nil)
    }

    private mutating func indexLone() {
        guard let lone else { return }
        entries[lone.number] = Entry(paths: lone.paths, blocker: nil)
        for path in lone.paths { insert(lone.number, at: path) }
        self.lone = nil
    }

    /// Removes a request, whether or not it waits.
    /// - Returns: the requests that may run now, in the order of arrival.
    package mutating func remove(_ number: Int) -> [Int] {
        if lone?.number == number {
            lone = nil
            return []
        }
        guard let entry = entries.removeValue(forKey: number) else { return [] }
        for path in entry.paths { remove(number, at: path) }
        if let blocker = entry.blocker {
            entries[blocker]?.watchers.removeAll { $0 == number }
            waitingCount -= 1
        }
        var ready: [Int] = []
        for watcher in entry.watchers.sorted() {
            let next = blocker(of: paths(of: watcher), before: watcher)
            entries[watcher]?.blocker = next
            if let next {
                entries[next]?.watchers.append(watcher)
            } else {
                ready.append(watcher)
            }
        }
        waitingCount -= ready.count
        return ready
    }

    // MARK: Finding blockers

    /// A request that arrived before another one and blocks its paths.
    private func blocker(of paths: [ResourcePath], before number: Int) -> Int? {
        guard !entries.isEmpty else { return nil }
        for path in paths {
            if let found = blocker(of: path, before: number) { return found }
        }
        return nil
    }

    /// Prefers the latest request at a path: it often waits for the other blockers itself, so they
    /// leave before it does.
    private func blocker(of path: ResourcePath, before number: Int) -> Int? {
        if let found = latest(at: path, before: number) { return found }
        let around = hashes.ancestors(of: path).compactMap { latest(at: $0, before: number) }
        if let found = around.max() { return found }
        for inner in paths[paths.position(of: path)...] {
            guard inner.isWithin(path) else { return nil }
            if let found = latest(at: inner, before: number) { return found }
        }
        return nil
    }

    private func latest(at path: ResourcePath, before number: Int) -> Int? {
        guard let all = numbers[path] else { return nil }
        let index = all.position(of: number)
        return index > 0 ? all[index - 1] : nil
    }

    // MARK: The requests at each path

    private mutating func insert(_ number: Int, at path: ResourcePath) {
        if numbers[path] == nil {
            paths.insert(path, at: paths.position(of: path))
            hashes.insert(path)
        }
        numbers[path, default: []].append(number)
    }

    private mutating func remove(_ number: Int, at path: ResourcePath) {
        guard var all = numbers.removeValue(forKey: path) else { return }
        let index = all.position(of: number)
        if index < all.count, all[index] == number { all.remove(at: index) }
        guard all.isEmpty else {
            numbers[path] = all
            return
        }
        paths.remove(at: paths.position(of: path))
        hashes.remove(path)
    }
}
