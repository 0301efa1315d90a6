/// A suspended caller that waits for a value, and must be resumed once.
///
/// `CheckedContinuation` would allocate an object for each wait, and its size is unknown to the
/// compiler, so that types with one as a member would be slower.
@safe
struct Waiter<Value: Sendable>: Sendable {
    private let continuation: UnsafeContinuation<Value, Never>

    /// Waits until the waiter, which `body` keeps or resumes, is resumed.
    @inline(__always)
    static func wait(
        isolation: isolated (any Actor)? = #isolation, _ body: (Waiter<Value>) -> Void
    ) async -> Value {
        unsafe await withUnsafeContinuation(isolation: isolation) { continuation in
            body(unsafe Waiter(continuation: continuation))
        }
    }

    /// Ends the wait.
    func resume(returning value: sending Value) {
        unsafe continuation.resume(returning: value)
    }
}

extension Waiter where Value == Void {
    /// Ends the wait.
    func resume() { resume(returning: ()) }
}
