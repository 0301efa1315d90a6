/// The treatment of the content of a response.
public enum ResponseDisposition: Sendable, Hashable {
    /// Continue with the content.
    case allow
    /// End the task with ``ClientError/Kind/cancelled``.
    case cancel
    /// Write the content to a file; nil for a temporary file.
    case becomeDownload(path: String?)
}
