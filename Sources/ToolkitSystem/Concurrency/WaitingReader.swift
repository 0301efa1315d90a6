/// A slot for one reader that waits for a value; its owner protects it by a loop or a lock.
///
/// A cancellation may arrive before the wait has begun, or after its end. So it names a `Wait`,
/// which is created first and passed to both.
///
/// It is for the toolkit's own modules, and public for the same reason as `Locked`.
@_documentation(visibility: internal)
public struct WaitingReader<Value: Sendable> {
    /// A reader that waits, and must be resumed once. `CheckedContinuation` would cost an object
    /// for each idle connection.
    @safe
    public struct Reader: Sendable {
        @usableFromInline
        let continuation: UnsafeContinuation<Value, any Error>

        @inlinable
        init(_ continuation: UnsafeContinuation<Value, any Error>) {
            unsafe self.continuation = continuation
        }

        /// Ends the wait.
        @inlinable
        public func resume(returning value: Value) {
            unsafe continuation.resume(returning: value)
        }

        /// Ends the wait with an error.
        @inlinable
        public func resume(throwing error: any Error) {
            unsafe continuation.resume(throwing: error)
        }
    }

    /// Waits until the reader that is passed to `begin` is resumed.
    /// - Parameters:
    ///   - begin: stores the reader or resumes it.
    ///   - cancel: called when the task is cancelled, maybe before `begin`.
    @inlinable
    @inline(__always)
    public static func value(
        _ begin: (Reader, Wait) -> Void, onCancel cancel: @Sendable (Wait) -> Void
    ) async throws -> Value {
        let wait = Wait()
        return try await withTaskCancellationHandler {
            try await unsafe withUnsafeThrowingContinuation { begin(unsafe Reader($0), wait) }
        } onCancel: {
            cancel(wait)
        }
    }

    /// The wait of one reader for one value.
    public final class Wait: @unchecked Sendable {
        @usableFromInline
        var cancelled = false

        /// Creates a wait that was not cancelled.
        @inlinable
        public init() {}

        /// Whether the wait was cancelled; the reader must not begin to wait then.
        @inlinable
        public var isCancelled: Bool { cancelled }
    }

    @usableFromInline
    var reader: Reader?
    @usableFromInline
    var wait: Wait?

    /// Creates a slot without a reader.
    @inlinable
    public init() {}

    /// Whether a reader waits.
    @inlinable
    public var isTaken: Bool { reader != nil }

    /// Makes a reader wait. The slot must be free, and the wait not cancelled.
    @inlinable
    public mutating func begin(_ reader: Reader, _ wait: Wait) {
        (self.reader, self.wait) = (reader, wait)
    }

    /// Removes the waiting reader, which the caller must resume; `nil` if none waits.
    @inlinable
    public mutating func take() -> Reader? {
        guard reader != nil else { return nil }
        wait = nil
        return reader.take()
    }

    /// Cancels a wait, whether it has begun or not.
    /// - Returns: the reader if it waits; the caller must resume it with a `CancellationError`.
    @inlinable
    public mutating func cancel(_ wait: Wait) -> Reader? {
        wait.cancelled = true
        return self.wait === wait ? take() : nil
    }
}
