internal import HTTPCodecs
internal import ToolkitSystem

/// Writes the content of a response to a file.
///
/// The content is written to a hidden file next to the destination, which it replaces when it is
/// complete: the destination never contains a partial file. The content is stored as the server
/// sends it; no content coding is requested.
public final class DownloadTask: TransferTask, @unchecked Sendable {
    /// The absolute path of the file, also if the task was created with a relative path: it remains
    /// valid when the program changes its current folder.
    ///
    /// A temporary file is removed after the delegate or the completion handler has returned.
    /// Without either, the caller has to move or remove it.
    public let path: String
    /// Whether the file is removed after the delegate has returned, unless the delegate has moved
    /// it.
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

    /// Cancels the task, and keeps the partial file if the server can send the rest. The task's
    /// error has the same ``ClientError/resumeData``.
    /// - Returns: the data to resume the download in a new task; nil if the download cannot be
    ///   resumed, or is already complete.
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
    /// it. True keeps it after a cancellation, too; false always removes it. A kept file remains
    /// until a task resumes it, or ``ResumeData/discard()`` removes it.
    public var keepsPartialFile: Bool {
        get { keepsPartial ?? true }
        set { shared.withLock { $0.keepsPartial = newValue } }
    }

    /// Called before the content of a response is written, with the data to resume from, or nil if
    /// the server does not support resumption. Called again if the download restarts with other
    /// content. A program that saves the data can resume the download after it was killed, by
    /// ``ResumeData/measured()``.
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
