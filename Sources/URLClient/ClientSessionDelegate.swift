/// Receives the events of a session's tasks, and makes some decisions for them.
///
/// Each method has a default, which does nothing or accepts the usual behavior. Methods are called
/// on the session's delegate queue, one at a time, in this order:
///
/// 1. `task(_:willRedirectTo:from:)` for each redirect, `task(_:didReceiveChallenge:)` for each
///    challenge, `taskNeedsNewBody(_:)` for content that the delegate makes, `task(_:didSend:)`
///    while content is sent;
/// 2. `task(_:didReceive:)` for interim responses;
/// 3. `task(_:willStore:)` for a response that the cache would keep;
/// 4. `task(_:didReceiveResponse:)`; no content is delivered before it returns;
/// 5. `task(_:didReceiveContent:)` for each piece of content; downloads call `task(_:didWrite:)`
///    instead, after `task(_:didResumeAt:expectedLength:)` if they were resumed;
/// 6. `task(_:didFinishDownloadingTo:)` for successful downloads;
/// 7. `task(_:didCollect:)`;
/// 8. `task(_:didCompleteWith:)`.
///
/// A task's own delegate is called in place of the session's. Tasks with a completion handler, and
/// async functions that are called without a delegate, do not pass their response and content to
/// the session's delegate.
public protocol ClientSessionDelegate: AnyObject, Sendable {
    /// The session accepts no more tasks, and all of its tasks are over. This is the last call.
    func sessionDidBecomeInvalid()

    /// A response redirects the task to another request.
    /// - Returns: the request to send, changed or not; nil to deliver the response itself. If its
    ///   origin is not the origin of `request`, it loses the secrets that it still has in common
    ///   with `request`: the credential, `connectTo`, and the fields that ``RedirectPolicy`` does
    ///   not send to other origins. Values that the delegate has set are sent.
    func task(
        _ task: TransferTask, willRedirectTo request: ClientRequest, from response: ClientResponse
    ) async -> ClientRequest?

    /// A server or proxy requires credentials, and ``AuthenticationOptions/challenge`` is not set.
    /// - Returns: the credential to send, if any.
    func task(
        _ task: TransferTask, didReceiveChallenge challenge: ClientChallenge
    ) async -> ChallengeAnswer

    /// Returns the content of a task that was created without content. Called each time it is sent.
    func taskNeedsNewBody(_ task: TransferTask) async -> ClientBody

    /// Content was sent. While a call is pending, further progress is not reported separately.
    func task(_ task: TransferTask, didSend progress: TransferProgress)

    /// A 1xx response, such as 103 Early Hints.
    func task(_ task: TransferTask, didReceive interim: ClientResponse.Interim)

    /// The cache is going to store the response, whose content was not yet received.
    /// - Returns: whether to store it. An incomplete response is never stored.
    func task(_ task: TransferTask, willStore response: ClientResponse) async -> Bool

    /// The head of the response was received. A download calls this once, however many connections
    /// it needs.
    /// - Returns: the treatment of the content, which is not read before. A download ignores
    ///   `becomeDownload`.
    func task(
        _ task: TransferTask, didReceiveResponse response: ClientResponse
    ) async -> ResponseDisposition

    /// The task becomes a download as soon as this method returns.
    func task(_ task: TransferTask, didBecome download: DownloadTask)

    /// A piece of content was received. The connection is not read while too much content is
    /// pending for this method.
    func task(_ task: TransferTask, didReceiveContent content: [UInt8])

    /// A download continues from its ``ResumeData``. Not called for a download that starts again.
    /// - Parameters:
    ///   - task: the task.
    ///   - offset: how many bytes the file has already.
    ///   - expectedLength: the length of the whole file in bytes; nil if unknown.
    func task(_ task: DownloadTask, didResumeAt offset: Int64, expectedLength: Int64?)

    /// Content was written to the file. While a call is pending, further progress is not reported
    /// separately.
    func task(_ task: DownloadTask, didWrite progress: TransferProgress)

    /// A download is complete. A temporary file is removed after this call, unless the delegate has
    /// moved it away.
    func task(_ task: DownloadTask, didFinishDownloadingTo path: String)

    /// The metrics of the task are complete.
    func task(_ task: TransferTask, didCollect metrics: ClientMetrics)

    /// The task is over.
    /// - Parameters:
    ///   - task: the task.
    ///   - error: the reason for the failure; nil for a successful task.
    func task(_ task: TransferTask, didCompleteWith error: ClientError?)
}

extension ClientSessionDelegate {
    /// Does nothing.
    public func sessionDidBecomeInvalid() {}
    /// Follows the redirect.
    public func task(
        _ task: TransferTask, willRedirectTo request: ClientRequest, from response: ClientResponse
    ) async -> ClientRequest? { request }
    /// Sends the proposed credential, if there is one.
    public func task(
        _ task: TransferTask, didReceiveChallenge challenge: ClientChallenge
    ) async -> ChallengeAnswer { .useProposed }
    /// Returns no content.
    public func taskNeedsNewBody(_ task: TransferTask) async -> ClientBody { .none }
    /// Does nothing.
    public func task(_ task: TransferTask, didSend progress: TransferProgress) {}
    /// Does nothing.
    public func task(_ task: TransferTask, didReceive interim: ClientResponse.Interim) {}
    /// Lets the cache store the response.
    public func task(_ task: TransferTask, willStore response: ClientResponse) async -> Bool {
        true
    }
    /// Accepts the content.
    public func task(
        _ task: TransferTask, didReceiveResponse response: ClientResponse
    ) async -> ResponseDisposition { .allow }
    /// Does nothing.
    public func task(_ task: TransferTask, didBecome download: DownloadTask) {}
    /// Does nothing.
    public func task(_ task: TransferTask, didReceiveContent content: [UInt8]) {}
    /// Does nothing.
    public func task(_ task: DownloadTask, didResumeAt offset: Int64, expectedLength: Int64?) {}
    /// Does nothing.
    public func task(_ task: DownloadTask, didWrite progress: TransferProgress) {}
    /// Does nothing.
    public func task(_ task: DownloadTask, didFinishDownloadingTo path: String) {}
    /// Does nothing.
    public func task(_ task: TransferTask, didCollect metrics: ClientMetrics) {}
    /// Does nothing.
    public func task(_ task: TransferTask, didCompleteWith error: ClientError?) {}
}
