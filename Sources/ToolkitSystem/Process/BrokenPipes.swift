#if os(Linux)
    internal import CHTTPServerShims
#elseif canImport(Darwin)
    internal import Darwin
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
}
