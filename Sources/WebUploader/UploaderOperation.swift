public import HTTPParser
public import HTTPServerCore
public import WebDAVKit

/// Something that a client does with the files.
public enum UploaderOperation: Hashable, Sendable {
    /// A folder is listed.
    case list(ResourcePath)
    /// A file is downloaded or shown, or a folder with all that is inside. In an archive each
    /// member is asked for: folders as a list, files as a download.
    case download(ResourcePath)
    /// A file is uploaded. The path has no number yet where the name is taken; that of the event
    /// is the one that the file has got.
    case upload(ResourcePath)
    /// A folder is made.
    case createFolder(ResourcePath)
    /// A file or folder gets another name or place.
    case move(ResourcePath, to: ResourcePath)
    /// A file or folder is copied.
    case copy(ResourcePath, to: ResourcePath)
    /// A file or folder is removed, with all that is inside.
    case delete(ResourcePath)
    /// A file or folder that was removed is put back. The path has no number yet where the name is
    /// taken; that of the event is the one that it has got.
    case restore(ResourcePath)
}

/// How an operation came out.
public struct UploaderEvent: Sendable {
    /// The operation, with the names that things have got.
    public var operation: UploaderOperation
    /// The status of the failure; `nil` for success. A download that the client broke off has 408.
    public var failure: HTTPStatus?
    /// The request, with the user (`identity`) and the peer.
    public var request: Request
}

/// How far an upload is.
public struct UploadProgress: Sendable {
    /// The target of the upload.
    public var path: ResourcePath
    /// The bytes that have come.
    public var bytes: Int64
    /// The announced number of bytes, if there is one.
    public var total: Int64?
    /// The request, with the user (`identity`) and the peer.
    public var request: Request
}
