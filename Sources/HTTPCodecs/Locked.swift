#if THREAD_SANITIZER
    #if canImport(Glibc)
        internal import Glibc
    #else
        internal import Darwin
    #endif
#else
    package import Synchronization
#endif

/// A value behind a lock that is held for a few lines, never across a callback or an `await`.
///
/// It is a `Mutex`; the thread sanitizer does not see into that one and reports every contended
/// use, so builds for it use a pthread mutex, which it understands. It is inlined into the modules
/// that use it: unspecialised, each use would ask the runtime for the types of its result.
@safe
package final class Locked<Value: Sendable>: @unchecked Sendable {
    #if THREAD_SANITIZER
        private var value: Value
        private let mutex: UnsafeMutablePointer<pthread_mutex_t>

        package init(_ value: Value) {
            self.value = value
            unsafe mutex = .allocate(capacity: 1)
            unsafe mutex.initialize(to: pthread_mutex_t())
            unsafe pthread_mutex_init(mutex, nil)
        }

        deinit {
            unsafe pthread_mutex_destroy(mutex)
            unsafe mutex.deallocate()
        }

        package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
            unsafe pthread_mutex_lock(mutex)
            defer { unsafe pthread_mutex_unlock(mutex) }
            return body(&value)
        }
    #else
        @usableFromInline
        let mutex: Mutex<Value>

        @inlinable
        package init(_ value: Value) {
            mutex = Mutex(value)
        }

        @inlinable
        package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
            mutex.withLock { body(&$0) }
        }
    #endif
}
