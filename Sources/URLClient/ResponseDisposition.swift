/// The treatment of the content of a response.
public enum ResponseDisposition: Sendable, Hashable {
    /// Go on.
    case allow
    /// End the task with ``ClientError/Kind/cancelled``.
    case cancel
    /// Write it to a file; nil for a temporary one.
    case becomeDownload(path: String?)
}
