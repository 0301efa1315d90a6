public import HTTPParser
public import HTTPServerCore
package import ToolkitSystem

/// Makes the uploads to another handler resumable: those of URLSession on iOS 17, macOS 14 and
/// later, by the IETF's draft-ietf-httpbis-resumable-upload (versions 3 to 8 of it, and the final
/// one), and those of tus 1.0.
///
/// ```swift
/// let files = ResumableUploadHandler(WebDAVHandler(store: store), folder: "/srv/share/.parts")
/// router.mount("/dav", files)
/// ```
///
/// Mount it, because uploads have addresses below the path of the mount: `/dav/.uploads/`, followed
/// by 32 hexadecimal digits. A client that begins an upload gets its address at once, in an interim
/// response 104. The content goes into a file. When the connection breaks, the client asks for the
/// offset (HEAD) and sends the rest (PATCH). When the upload is complete, the handler gets *one*
/// request: method, target and fields of the first one, and the whole content as its body. The
/// client gets the answer, which is kept for a day in case the client missed it. Credentials in
/// that request are those of the request that brought the last of the content.
///
/// A `PrecheckingHandler`, such as `WebDAVHandler` and `UploaderHandler`, decides at the beginning
/// whether it would accept the upload, so that no client sends content in vain. If another handler
/// stands in front of it, ``Options/precheck`` names the one to ask. All other handlers refuse an
/// upload when it is complete.
///
/// The reported offset is the length of the file. It survives the end of the process at any moment
/// and never decreases. If the process ends while the handler has the whole content, the client
/// learns that all content has arrived and that the upload is not complete, completes it by an
/// empty PATCH, and the handler is called again.
///
/// Only the user who began an upload can continue it; other users get 404. The handler itself
/// checks hashes such as `Repr-Digest` (RFC 9530), because it gets the field and the whole content.
/// Requests without fields of these protocols are passed on unchanged.
public struct ResumableUploadHandler: Handler {
    /// How uploads are limited.
    public struct Options: Sendable {
        /// How long an upload may take, and how long its answer is kept; 24 hours.
        public var lifetime = Duration.seconds(86_400)
        /// The most bytes of an upload; above it 413. The limit of the server for the content of one
        /// request, `ServerConfiguration.contentLimit`, counts for each request.
        public var byteLimit = Int64.max
        /// How many unfinished uploads a user may have, those without a login together; above it
        /// 429.
        public var uploadsPerUser = 1_000
        /// The method of the request that the handler gets for an upload by tus, which knows POST
        /// alone; `nil` for POST.
        public var tusMethod: HTTPMethod?
        /// Judges an upload by the head of its request before content is read: returns the answer
        /// that refuses it, or `nil` (see `PrecheckingHandler`). Without it the handler is asked,
        /// if it is a `PrecheckingHandler`.
        public var precheck: (@Sendable (Request) async throws -> Response?)?
        /// Whether content is on the disk before its offset is reported, so that the offset does
        /// not decrease after a power cut either.
        public var synchronizes = false

        /// The defaults.
        public init() {}
    }

    private let site: UploadSite

    /// Creates a handler, and removes what has expired, which blocks for a moment. It is done each
    /// hour as well.
    /// - Parameters:
    ///   - handler: the handler of complete uploads and of all other requests.
    ///   - folder: the path of the folder for what has come so far; at best on the volume where the
    ///     handler keeps content, and where no client sees it. It belongs to this handler alone,
    ///     and is made when it is needed.
    ///   - options: the limits.
    public init(_ handler: some Handler, folder: String, options: Options = Options()) {
        self.init(handler, folder: folder, options: options) { $0 }
    }

    /// The same for tests of disks that fail.
    package init(
        _ handler: some Handler, folder: String, options: Options = Options(),
        part: @escaping @Sendable (OpenFile) -> OpenFile
    ) {
        site = UploadSite(
            handler, UploadFolder(folder, synchronizes: options.synchronizes), options, part)
        site.start()
    }

    /// Answers for the protocols, or by the handler.
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

    /// Removes the folder for parts if nothing is in it. A program calls it when it ends, with no
    /// request under way. It blocks.
    public func close() { site.close() }
}
