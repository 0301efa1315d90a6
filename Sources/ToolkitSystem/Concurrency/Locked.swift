#if THREAD_SANITIZER
    #if canImport(Glibc)
        internal import Glibc
    #elseif canImport(Musl)
        internal import Musl
    #else
        internal import Darwin
    #endif
#else
    public import Synchronization
#endif

/// A value that a lock protects. Hold the lock for a few lines, never across a callback or an
/// `await`.
///
/// The lock is a `Mutex`. The thread sanitizer does not understand `Mutex` and reports every
/// contended use, so its builds use a pthread mutex.
///
/// It is for the toolkit's own modules. It is public only because the compiler (6.3) does not
/// specialise `package` code of another module, `@inlinable` or not: each use would ask the runtime
/// for the types of its result.
@_documentation(visibility: internal)
@safe
public final class Locked<Value: Sendable>: @unchecked Sendable {
    #if THREAD_SANITIZER
        private var value: Value
        private let mutex: UnsafeMutablePointer<pthread_mutex_t>

        /// Protects a value with a lock.
        public init(_ value: Value) {
            self.value = value
            unsafe mutex = .allocate(capacity: 1)
            unsafe mutex.initialize(to: pthread_mutex_t())
            unsafe pthread_mutex_init(mutex, nil)
        }

        deinit {
            unsafe pthread_mutex_destroy(mutex)
            unsafe mutex.deallocate()
        }

        /// Calls `body` with exclusive access to the value.
        public func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
            unsafe pthread_mutex_lock(mutex)
            defer { unsafe pthread_mutex_unlock(mutex) }
            return body(&value)
        }
    #else
        // The value is stored beside the mutex: a `Mutex<Value>` would look up its generic metadata
        // at each deinitialisation.
        @exclusivity(unchecked)
        @usableFromInline
        var value: Value
        @usableFromInline
        let mutex = Mutex<Void>(())

        /// Protects a value with a lock.
        @inlinable
        public init(_ value: Value) {
            unsafe self.value = value
        }

        /// Calls `body` with exclusive access to the value.
        @inlinable
        public func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
            mutex._unsafeLock()
            defer { mutex._unsafeUnlock() }
            return unsafe body(&value)
        }
    #endif
}
