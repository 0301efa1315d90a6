public import HTTPServerCore
internal import ToolkitSystem

extension HTTPServer {
    /// Has the process ignore SIGPIPE until it ends.
    ///
    /// No server needs this: a connection that breaks never ends the process. But on Linux `sendfile`
    /// has no option against the signal, so a server blocks the signal around each call. After this
    /// it does not, which saves two calls of the system for each file that it sends. Writes to
    /// standard output whose reader is gone then fail with EPIPE instead of ending the process.
    ///
    /// The signal gets a handler that does nothing, so that programs started by this one find it as
    /// it is by default. Call it before the process has servers, and do not give the signal another
    /// disposition afterwards.
    public static func ignoreBrokenPipes() {
        BrokenPipes.ignore()
    }
}
