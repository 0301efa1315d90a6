internal import Dispatch

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Actions that run when the process ends by `exit(3)` or because `main` returns. They do not run
/// when a signal ends the process.
package enum ProcessExit {
    private struct Actions: Sendable {
        var byNumber: [UInt64: @Sendable () -> Void] = [:]
        var lastNumber: UInt64 = 0
    }

    private static let actions = Locked(Actions())
    /// The process that registered the actions. A child made by `fork(2)` must not run them.
    private static let owner: CInt = {
        _ = atexit { ProcessExit.runAll() }
        return getpid()
    }()

    /// How long all actions together may delay the end: a network file system may never answer.
    private static let patience = DispatchTimeInterval.seconds(2)

    /// Adds an action. It does not run on the thread that ends the process.
    /// - Returns: a number for ``remove(_:)``.
    package static func add(_ action: @escaping @Sendable () -> Void) -> UInt64 {
        _ = owner
        return actions.withLock {
            $0.lastNumber += 1
            $0.byNumber[$0.lastNumber] = action
            return $0.lastNumber
        }
    }

    /// Removes an action that is done or no longer needed.
    package static func remove(_ number: UInt64) {
        _ = actions.withLock { $0.byNumber.removeValue(forKey: number) }
    }

    private static func runAll() {
        guard owner == getpid() else { return }
        let due = actions.withLock { actions in
            defer { actions.byNumber = [:] }
            return actions.byNumber
        }
        guard !due.isEmpty else { return }
        let done = DispatchSemaphore(value: 0)
        // A serial queue gets a thread even while tasks occupy all others.
        DispatchQueue(label: "http.exit").async {
            for action in due.values { action() }
            done.signal()
        }
        _ = done.wait(timeout: .now() + patience)
    }
}
