#if THREAD_SANITIZER
    #if canImport(Glibc)
        internal import Glibc
    #else
        internal import Darwin
    #endif
#else
    internal import Synchronization
#endif

/// A value behind a lock that is held for a few lines, never across a callback or an `await`.
///
/// It is a `Mutex`; the thread sanitizer does not see into that one and reports every contended
/// use, so builds for it use a pthread mutex, which it understands.
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
        private let mutex: Mutex<Value>

        package init(_ value: Value) {
            mutex = Mutex(value)
        }

        package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
            mutex.withLock { body(&$0) }
        }
    #endif
}
