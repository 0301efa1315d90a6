internal import HTTPCodecs
internal import ToolkitSystem

/// Fetches content into a file.
///
/// It is written next to its destination, which it replaces when it is complete: a partial file never
/// appears there. The content stays as the server sends it; no content coding is requested.
public final class DownloadTask: TransferTask, @unchecked Sendable {
    /// Where the file will be: an absolute path, also if the task was given another one, so that it
    /// holds when the program goes to another folder.
    ///
    /// A temporary file is removed once a delegate or a completion handler has seen it. Where there is
    /// neither, it is the caller's to move or to remove.
    public let path: String
    /// Whether the file is removed once the delegate has seen it and not moved it away.
    let isTemporary: Bool

    init(
        _ identifier: Int, _ request: ClientRequest, _ loop: ClientLoop, _ sink: FileSink,
        isTemporary: Bool, events: TaskEvents?, completion: Completion?
    ) {
        path = sink.path
        self.isTemporary = isTemporary
        super.init(
            identifier, request, loop, events: events, wantsMetrics: true, completion: completion)
    }

    init(adopting other: TransferTask, _ sink: FileSink, isTemporary: Bool) {
        path = sink.path
        self.isTemporary = isTemporary
        super.init(adopting: other)
    }

    /// Cancels the task and keeps what is there, if the server can be asked for the rest: the
    /// error's ``ClientError/resumeData`` is what a new task goes on with.
    /// - Returns: the resume data, or nil when the download would have to begin again.
    public func cancelProducingResumeData() async -> ResumeData? {
        cancel(keepingPartial: true)
        do throws(ClientError) {
            try await finished()
            return nil
        } catch {
            return error.resumeData
        }
    }

    /// Whether a failed download keeps its partial file and gives ``ClientError/resumeData``.
    ///
    /// Unless this is set, ``TransferTask/cancel()`` removes the file and every other failure keeps
    /// it. True keeps it after a cancellation, too; false always removes it. A kept file is there
    /// until a task resumes it, or ``ResumeData/discard()`` removes it.
    public var keepsPartialFile: Bool {
        get { keepsPartial ?? true }
        set { shared.withLock { $0.keepsPartial = newValue } }
    }

    /// Called before the content of a response is written, with the data to resume from, or nil if
    /// the server does not support that; called again if the download restarts with other content. A program that
    /// keeps them can go on by ``ResumeData/measured()`` after it was killed.
    ///
    /// Set it before the task is started. It is called on the session's thread, before any of the
    /// content is written, and must not block for long.
    public var onResumable: (@Sendable (ResumeData?) -> Void)? {
        get { shared.withLock { $0.onResumable } }
        set { shared.withLock { $0.onResumable = newValue } }
    }

    override func finishDelivery(_ error: ClientError?) {
        if error == nil { events?.downloaded(self, to: path, isTemporary: isTemporary) }
    }
}
