package import HTTPParser

/// Records the content of a response while it is delivered. The session's loop makes all calls.
package protocol ContentRecorder: AnyObject, Sendable {
    /// Records more content, after content decoding.
    func record(_ bytes: UnsafeRawBufferPointer)
    /// Whether so much content is pending that the connection should not be read.
    var isBehind: Bool { get }
    /// Calls `call` once, from any thread, when nothing is pending.
    func onceCaughtUp(_ call: @escaping @Sendable () -> Void)
    /// Ends the recording of complete content.
    func finish(trailers: HTTPFields)
    /// Discards the recording of incomplete content.
    func abandon()
}
