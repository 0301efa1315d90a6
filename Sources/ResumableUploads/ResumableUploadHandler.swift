public import HTTPParser
public import HTTPServerCore
package import ToolkitSystem

/// Makes the uploads to another handler resumable.
///
/// The handler speaks two protocols: the IETF's draft-ietf-httpbis-resumable-upload (its interop
/// versions 3 to 8, and the final one), which URLSession uses on iOS 17, macOS 14 and later; and
/// tus 1.0.
///
/// ```swift
/// let files = ResumableUploadHandler(WebDAVHandler(store: store), folder: "/srv/share/.parts")
/// router.mount("/dav", files)
/// ```
///
/// Mount the handler, because each upload has a URL below the path of the mount: `/dav/.uploads/`,
/// followed by 32 hexadecimal digits. A client that begins an upload learns this URL: by the IETF's
/// protocol immediately, in an interim response 104; by tus in the answer to its POST. The content
/// goes into a file. When the connection breaks, the client asks for the offset (HEAD) and sends
/// the rest (PATCH). When the upload is complete, the handler gets *one* request: method, target
/// and fields of the first request, and the whole content as its body. The client gets the answer,
/// which is kept for ``Options/lifetime`` in case the client missed it. The handler's request has
/// the credentials of the request that brought the last of the content. If the handler refuses them
/// (401), the content stays, and the client can complete the upload with other credentials.
///
/// Authentication goes around this handler: `AuthenticationHandler(ResumableUploadHandler(...))`.
/// Inside of this handler Digest fails: the proof of the last request is for the URL of the upload,
/// but the inner handler sees the target of the first request.
///
/// A `PrecheckingHandler`, such as `WebDAVHandler` and `UploaderHandler`, decides at the beginning
/// whether it would accept the upload, so that no client sends content in vain. If another handler
/// wraps it, set ``Options/precheck``. All other handlers refuse an upload when it is complete.
///
/// The reported offset is the length of the file. It survives the end of the process at any moment,
/// and it decreases only after a power cut, unless ``Options/synchronizes`` is set. If the process
/// ends while the handler has the whole content, the client learns that all content has arrived and
/// that the upload is not complete. It completes the upload by an empty PATCH, and the handler is
/// called again.
///
/// Only the user who began an upload can continue it; other users get 404. The handler itself
/// checks hashes such as `Repr-Digest` (RFC 9530), because it gets the field and the whole content.
/// Requests that neither have fields of these protocols nor name an upload are passed on unchanged.
public struct ResumableUploadHandler: Handler {
    /// The limits of uploads, and how they are handled.
    public struct Options: Sendable {
        /// How long an upload may take, and how long its answer is kept; 24 hours by default, and
        /// a century at most.
        public var lifetime = Duration.seconds(86_400)
        /// The most bytes of an upload; a longer one gets 413. `ServerConfiguration.contentLimit`
        /// limits the content of each single request.
        public var byteLimit = Int64.max
        /// The most unfinished uploads of each user; one more gets 429. All clients without a login
        /// count as one user. The same number of answers to finished uploads is kept per user.
        public var uploadsPerUser = 1_000
        /// The method of the request that the handler gets for a tus upload; `nil` for POST, the
        /// only method by which tus begins uploads.
        public var tusMethod: HTTPMethod?
        /// Judges an upload by the head of its request before content is read: returns the answer
        /// that refuses it, or `nil` (see `PrecheckingHandler`). Without it the handler is asked,
        /// if it is a `PrecheckingHandler`.
        public var precheck: (@Sendable (Request) async throws -> Response?)?
        /// Whether content is on the disk before its offset is reported, so that not even a power
        /// cut decreases the offset. Set it if the handler's store waits for the disk: then a write
        /// error that the disk reports late is found before the handler gets the content.
        public var synchronizes = false

        /// The defaults.
        public init() {}
    }

    private let site: UploadSite

    /// Creates a handler, and removes expired uploads, which blocks for a moment. The handler
    /// repeats the removal each hour.
    /// - Parameters:
    ///   - handler: the handler of complete uploads and of all other requests.
    ///   - folder: the path of the folder for unfinished uploads; best on the volume where the
    ///     handler stores content, and out of the clients' reach. No other handler may use the
    ///     folder. It is created when it is first needed.
    ///   - options: the limits.
    public init(_ handler: some Handler, folder: String, options: Options = Options()) {
        self.init(handler, folder: folder, options: options) { $0 }
    }

    /// Creates a handler for tests of failing disks: `part` may replace the file of each part.
    package init(
        _ handler: some Handler, folder: String, options: Options = Options(),
        part: @escaping @Sendable (OpenFile) -> OpenFile
    ) {
        site = UploadSite(
            handler, UploadFolder(folder, synchronizes: options.synchronizes), options, part)
        site.start()
    }

    /// Answers the requests of both protocols, and passes all others to the handler.
    public func answer(_ request: Request) throws -> Answer {
        if Self.isOfUpload(request) { return .later { [site] in try await site.answer(request) } }
        return try site.pass(request)
    }

    private static func isOfUpload(_ request: Request) -> Bool {
        if UploadID(of: request) != nil { return true }
        let fields = request.fields
        return fields.contains(.uploadComplete) || fields.contains(.uploadIncomplete)
            || fields.contains(.tusResumable)
    }

    /// Ends the hourly removal, and removes the folder of unfinished uploads if it is empty. Call
    /// it at the end of the program, with no request under way. It blocks.
    public func close() { site.close() }
}
