/// How many calls of a pool run at the same time while others wait: few while calls are short,
/// because more calls would only contend for the same kernel locks, and more while calls block.
package struct PoolLimit: Sendable {
    private let least: Int
    private let most: Int

    /// How many may run now.
    package private(set) var current: Int

    /// Creates a limit that starts with the least number.
    package init(least: Int, most: Int) {
        self.most = max(most, 1)
        self.least = min(max(least, 1), self.most)
        current = self.least
    }

    /// Whether the number ever changes.
    package var isFixed: Bool { least == most }

    /// Adapts the limit after 10 milliseconds in which calls waited. If fewer calls ended than run,
    /// calls take longer than that, and one more may run. Otherwise the least number may run.
    /// - Parameters:
    ///   - running: how many calls run.
    ///   - ended: how many calls have ended in the 10 milliseconds.
    package mutating func adapt(running: Int, ended: Int) {
        current = ended >= running ? least : min(current + 1, most)
    }

    /// Starts with the least number again, once no call waits.
    package mutating func reset() { current = least }
}
