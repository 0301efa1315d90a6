#if os(Linux)
    internal import CHTTPServerShims
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// SIGPIPE, which ends a process that writes to a socket or pipe whose reader is gone.
package enum BrokenPipes {
    /// Has the process go on instead; the write fails with EPIPE.
    package static func ignore() {
        #if os(Linux)
            _ = http_server_ignore_broken_pipes()
        #else
            _ = signal(SIGPIPE) { _ in }
        #endif
    }
}
