/// Is told what happens to a session's tasks, and decides about some of it.
///
/// All methods have a default, which does nothing or lets things take their course. They are called
/// on the session's delegate queue, one after the other, in this order:
///
/// 1. `task(_:willRedirectTo:from:)` for each redirect, `task(_:didReceiveChallenge:)` for each
///    challenge of a server, `taskNeedsNewBody(_:)` before content that
///    the delegate makes, `task(_:didSend:)` while it is sent;
/// 2. `task(_:didReceive:)` for interim responses;
/// 3. `task(_:willStore:)` for a response that the cache would keep;
/// 4. `task(_:didReceiveResponse:)`, and nothing of the content before it has answered;
/// 5. `task(_:didReceiveContent:)` for each piece, or `task(_:didWrite:)` for downloads, after
///    `task(_:didResumeAt:expectedLength:)` for those that go on;
/// 6. `task(_:didFinishDownloadingTo:)` for downloads that did well;
/// 7. `task(_:didCollect:)`;
/// 8. `task(_:didCompleteWith:)`.
///
/// A task's own delegate is asked in place of the session's. Tasks with a completion handler, and
/// the async functions without a delegate, do not come here for their response and content.
public protocol ClientSessionDelegate: AnyObject, Sendable {
    /// The session takes no more tasks, and those that it had are over. It is the last call.
    func sessionDidBecomeInvalid()

    /// A response asks for another request.
    /// - Returns: the request to send, changed or not; nil to have the response itself delivered. Where it
    ///   goes to another origin than the request that was asked about, it loses what it has of that one
    ///   and what is for one origin alone: the credential, `connectTo`, and the fields that
    ///   ``RedirectPolicy`` keeps from other origins.
    func task(
        _ task: TransferTask, willRedirectTo request: ClientRequest, from response: ClientResponse
    ) async -> ClientRequest?

    /// A server wants credentials, and ``AuthenticationOptions/challenge`` is not set.
    /// - Returns: what to send, if anything.
    func task(
        _ task: TransferTask, didReceiveChallenge challenge: ClientChallenge
    ) async -> ChallengeAnswer

    /// Content has to be sent the first time or again, and the task was created without it.
    func taskNeedsNewBody(_ task: TransferTask) async -> ClientBody

    /// Content was sent. Calls that would come faster than they are taken are left out.
    func task(_ task: TransferTask, didSend progress: TransferProgress)

    /// A 1xx response, such as 103 Early Hints.
    func task(_ task: TransferTask, didReceive interim: ClientResponse.Interim)

    /// The cache would keep the response, whose content is still to come.
    /// - Returns: whether it may. A response that does not come whole is not kept in any case.
    func task(_ task: TransferTask, willStore response: ClientResponse) async -> Bool

    /// The head of the response. Downloads are asked, too, once however many connections they take.
    /// - Returns: what to do with its content, which is not read before. A download is one already.
    func task(
        _ task: TransferTask, didReceiveResponse response: ClientResponse
    ) async -> ResponseDisposition

    /// The task goes on as a download, as soon as this has returned.
    func task(_ task: TransferTask, didBecome download: DownloadTask)

    /// A piece of content. The connection is not read while too much waits for this method.
    func task(_ task: TransferTask, didReceiveContent content: [UInt8])

    /// A download goes on where the one has stopped whose ``ResumeData`` it was created with. It is
    /// not called for a download that has to begin again.
    /// - Parameters:
    ///   - task: the task.
    ///   - offset: how many bytes are there already.
    ///   - expectedLength: how long the whole is; nil if that is not known.
    func task(_ task: DownloadTask, didResumeAt offset: Int64, expectedLength: Int64?)

    /// A download has come further. Calls that would come faster than they are taken are left out.
    func task(_ task: DownloadTask, didWrite progress: TransferProgress)

    /// A download is whole. A file for which no destination was given is removed afterwards, unless
    /// it was moved away.
    func task(_ task: DownloadTask, didFinishDownloadingTo path: String)

    /// The metrics of the task are complete.
    func task(_ task: TransferTask, didCollect metrics: ClientMetrics)

    /// The task is over.
    /// - Parameters:
    ///   - task: the task.
    ///   - error: why it failed; nil if it did well.
    func task(_ task: TransferTask, didCompleteWith error: ClientError?)
}

extension ClientSessionDelegate {
    /// Does nothing.
    public func sessionDidBecomeInvalid() {}
    /// Follows.
    public func task(
        _ task: TransferTask, willRedirectTo request: ClientRequest, from response: ClientResponse
    ) async -> ClientRequest? { request }
    /// Sends what is stored.
    public func task(
        _ task: TransferTask, didReceiveChallenge challenge: ClientChallenge
    ) async -> ChallengeAnswer { .useProposed }
    /// Has none.
    public func taskNeedsNewBody(_ task: TransferTask) async -> ClientBody { .none }
    /// Does nothing.
    public func task(_ task: TransferTask, didSend progress: TransferProgress) {}
    /// Does nothing.
    public func task(_ task: TransferTask, didReceive interim: ClientResponse.Interim) {}
    /// Has it kept.
    public func task(_ task: TransferTask, willStore response: ClientResponse) async -> Bool {
        true
    }
    /// Goes on.
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
