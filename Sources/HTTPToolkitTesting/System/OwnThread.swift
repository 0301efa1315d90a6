internal import ToolkitSystem

/// Threads for calls that block. The concurrency pool has as few threads as there are
/// processors: a test that blocks one of them holds up all others.
package enum OwnThread {
    /// Starts a thread that ends with `body`.
    package static func start(_ body: @escaping @Sendable () -> Void) {
        precondition(SystemThread.start(body), "no thread for a test")
    }

    /// Calls `body`, which must end by itself, on a new thread, and returns its value.
    package static func run<Value: Sendable>(
        _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            start { continuation.resume(returning: body()) }
        }
    }
}
