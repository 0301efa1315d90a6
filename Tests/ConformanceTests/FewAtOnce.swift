import HTTPServerCore
import Testing
import ToolkitSystem

/// Limits how many of the tests with this trait run at the same time. Without it, hundreds of
/// programs would slow each other down until they exceed their time limits.
struct FewAtOnce: SuiteTrait, TestTrait, TestScoping {
    private struct Turns {
        var free = 6
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private static let turns = Locked(Turns())

    var isRecursive: Bool { true }

    func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
        testCase == nil ? nil : self
    }

    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        await Self.take()
        defer { Self.give() }
        try await function()
    }

    private static func take() async {
        await withCheckedContinuation { continuation in
            let isFree = turns.withLock { turns in
                if turns.free > 0 {
                    turns.free -= 1
                    return true
                }
                turns.waiters.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private static func give() {
        let next: CheckedContinuation<Void, Never>? = turns.withLock { turns in
            guard turns.waiters.isEmpty else { return turns.waiters.removeFirst() }
            turns.free += 1
            return nil
        }
        next?.resume()
    }
}

extension Trait where Self == FewAtOnce {
    /// For tests that run programs.
    static var fewAtOnce: FewAtOnce { FewAtOnce() }
}
