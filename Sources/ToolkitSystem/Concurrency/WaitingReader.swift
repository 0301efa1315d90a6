/// The place of one reader that waits for a value; its owner protects it by a loop or a lock.
///
/// A cancellation may come before the wait has begun, or after its end: it belongs to a `Wait`, which
/// the reader makes first and hands to both.
///
/// It is for the toolkit's own modules, and public for the same reason as `Locked`.
@_documentation(visibility: internal)
public struct WaitingReader<Value> {
    /// A reader that waits.
    public typealias Reader = CheckedContinuation<Value, any Error>

    /// One reader's waiting for one value.
    public final class Wait: @unchecked Sendable {
        @usableFromInline
        var cancelled = false

        /// Creates a wait that was not cancelled.
        @inlinable
        public init() {}

        /// Whether it was cancelled: then the reader must not begin to wait.
        @inlinable
        public var isCancelled: Bool { cancelled }
    }

    @usableFromInline
    var reader: Reader?
    @usableFromInline
    var wait: Wait?

    /// Creates a place without a reader.
    @inlinable
    public init() {}

    /// Whether a reader waits.
    @inlinable
    public var isTaken: Bool { reader != nil }

    /// Has a reader wait. The place must be free, and the wait not cancelled.
    @inlinable
    public mutating func begin(_ reader: Reader, _ wait: Wait) {
        (self.reader, self.wait) = (reader, wait)
    }

    /// The reader that waits, to be resumed; `nil` for none.
    @inlinable
    public mutating func take() -> Reader? {
        guard reader != nil else { return nil }
        wait = nil
        return reader.take()
    }

    /// Cancels a wait, whether it has begun or not.
    /// - Returns: the reader, to be resumed by a `CancellationError`, if it waits.
    @inlinable
    public mutating func cancel(_ wait: Wait) -> Reader? {
        wait.cancelled = true
        return self.wait === wait ? take() : nil
    }
}
