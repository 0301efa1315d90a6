/// Somebody who waits for a value, and has to be given it once.
///
/// `CheckedContinuation` would make an object for each wait, and of what it is part of something that
/// the compiler does not know the size of.
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
