package import HTTPParser

/// Sees the content of a response pass. The session's loop calls it.
package protocol ContentRecorder: AnyObject, Sendable {
    /// Records more content, after content decoding.
    func record(_ bytes: UnsafeRawBufferPointer)
    /// Whether so much is pending that the connection should not be read.
    var isBehind: Bool { get }
    /// Calls back, from any thread, when nothing is pending any more.
    func onceCaughtUp(_ call: @escaping @Sendable () -> Void)
    /// All of the content has passed.
    func finish(trailers: HTTPFields)
    /// The rest will not come.
    func abandon()
}
