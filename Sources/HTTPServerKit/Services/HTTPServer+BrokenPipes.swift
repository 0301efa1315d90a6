public import HTTPServerCore
internal import ToolkitSystem

extension HTTPServer {
    /// Makes the process ignore SIGPIPE from now on.
    ///
    /// This is optional: a broken connection never ends the process. On Linux `sendfile` has no
    /// option that suppresses the signal, so a server blocks the signal around each call. After
    /// this call it does not, which saves two system calls for each file. Writes to a standard
    /// output without a reader then fail with EPIPE instead of ending the process.
    ///
    /// The signal gets a handler that does nothing, so child programs start with the default
    /// disposition. Call this before the process has servers, and do not change the signal's
    /// disposition afterwards.
    public static func ignoreBrokenPipes() {
        BrokenPipes.ignore()
    }
}
