/// How many calls of a pool run at once while others wait: few while they are short, because more of
/// them only meet at the same locks of the kernel, and more while they wait for something.
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

    /// Takes in what happened in 10 milliseconds at whose ends calls waited. If fewer calls ended
    /// than run, each takes longer than that, and one more may run.
    /// - Parameters:
    ///   - running: how many calls run.
    ///   - ended: how many calls have ended in that time.
    package mutating func adapt(running: Int, ended: Int) {
        current = ended >= running ? least : min(current + 1, most)
    }

    /// Starts with the least number again, once no call waits.
    package mutating func reset() { current = least }
}
