#if os(Linux)
    internal import CHTTPServerShims
#endif

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// SIGPIPE, which ends a process that writes to a socket or pipe whose reader is gone.
package enum BrokenPipes {
    /// Makes such a write fail with EPIPE instead of ending the process.
    package static func ignore() {
        #if os(Linux)
            _ = http_server_ignore_broken_pipes()
        #else
            _ = signal(SIGPIPE) { _ in }
        #endif
    }

    // MARK: In one thread

    /// The signal mask of a thread, and whether SIGPIPE was pending.
    package struct SignalMask {
        fileprivate var mask = sigset_t()
        fileprivate var isPending = false
    }

    /// Blocks SIGPIPE for the calling thread; `nil` on systems where a socket option prevents the
    /// signal.
    package static func hold() -> SignalMask? {
        #if canImport(Darwin)
            return nil
        #else
            var before = SignalMask()
            before.isPending = isPending
            var signals = only
            unsafe pthread_sigmask(SIG_BLOCK, &signals, &before.mask)
            return before
        #endif
    }

    /// Discards a SIGPIPE that was raised since `hold()`, and restores the thread's signal mask.
    package static func restore(_ before: SignalMask) {
        #if !canImport(Darwin)
            if !before.isPending, isPending {
                var signals = only
                var time = timespec()
                unsafe sigtimedwait(&signals, nil, &time)
            }
            var mask = before.mask
            unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
        #endif
    }

    #if !canImport(Darwin)
        /// The set of only SIGPIPE.
        private static var only: sigset_t {
            var signals = sigset_t()
            unsafe sigemptyset(&signals)
            unsafe sigaddset(&signals, SIGPIPE)
            return signals
        }

        private static var isPending: Bool {
            var signals = sigset_t()
            unsafe sigpending(&signals)
            return unsafe sigismember(&signals, SIGPIPE) == 1
        }
    #endif
}
