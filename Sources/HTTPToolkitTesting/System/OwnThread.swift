internal import ToolkitSystem

/// Threads for blocking calls. The concurrency pool has only as many threads as there are
/// processors: a test that blocks one of them delays all others.
package enum OwnThread {
    /// Starts a thread that ends with `body`.
    package static func start(_ body: @escaping @Sendable () -> Void) {
        precondition(SystemThread.start(body), "no thread for a test")
    }

    /// Calls `body` on a new thread and returns its value. `body` must end by itself.
    package static func run<Value: Sendable>(
        _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            start { continuation.resume(returning: body()) }
        }
    }
}
