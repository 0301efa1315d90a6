public import HTTPParser
public import HTTPServerCore
public import WebDAVKit

/// An operation of a client on the files.
public enum UploaderOperation: Hashable, Sendable {
    /// A folder is listed.
    case list(ResourcePath)
    /// A file is downloaded or shown, or a folder is downloaded with its contents.
    /// ``UploaderOptions/shouldPerform`` is also called for each member of an archive: with `list`
    /// for a folder, with `download` for a file.
    case download(ResourcePath)
    /// A file is uploaded. If the name is taken, ``UploaderOptions/shouldPerform`` gets the
    /// requested path, and the event has the final path with a number.
    case upload(ResourcePath)
    /// A folder is made.
    case createFolder(ResourcePath)
    /// A file or folder is renamed or moved.
    case move(ResourcePath, to: ResourcePath)
    /// A file or folder is copied.
    case copy(ResourcePath, to: ResourcePath)
    /// A file, or a folder with its contents, is removed.
    case delete(ResourcePath)
    /// A removed file or folder is restored. If the name is taken,
    /// ``UploaderOptions/shouldPerform`` gets the original path, and the event has the final path
    /// with a number.
    case restore(ResourcePath)
}

/// The result of an operation.
public struct UploaderEvent: Sendable {
    /// The operation, with the final paths.
    public var operation: UploaderOperation
    /// The status of the failure; `nil` for success. A download that the client broke off has 408.
    public var failure: HTTPStatus?
    /// The request, with the user (`identity`) and the peer.
    public var request: Request
}

/// The progress of an upload.
public struct UploadProgress: Sendable {
    /// The target of the upload.
    public var path: ResourcePath
    /// The number of bytes that have arrived.
    public var bytes: Int64
    /// The announced number of bytes, if there is one.
    public var total: Int64?
    /// The request, with the user (`identity`) and the peer.
    public var request: Request
}
