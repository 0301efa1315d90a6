public import HTTPCodecs
internal import HTTPParser
public import HTTPServerCore
public import ToolkitSystem

/// Serves the files of a directory, with validators, conditions, ranges, listings and index files.
///
/// Size, validators and content of an answer come from one open descriptor. If the file is replaced
/// meanwhile, the client gets the old or the new file, never a mix. No request reaches outside of
/// the directory, whatever its spelling and whatever links the directory contains.
public struct FileHandler: Handler {
    /// The settings of a file handler.
    public struct Options: Sendable {
        /// The names of index files, in the order in which they are tried. The first one that is a
        /// regular file is served for its directory.
        public var indexFiles = ["index.html"]
        /// Whether a directory without an index file is listed; otherwise it gets 404.
        public var listsDirectories = true
        /// Whether names that begin with a dot are served and listed. The toolkit's own names among
        /// them never are.
        public var showsHidden = false
        /// How many seconds caches may use a file. Above 0 the answer has `public, max-age`; at 0
        /// it has `no-cache`, so that caches revalidate each time; with `nil` it has no
        /// Cache-Control.
        public var cacheAge: Int? = 0
        /// Media types by extension.
        public var mediaTypes = MediaTypeTable.standard
        /// Whether a compressed file such as `app.js.gz` is sent instead of `app.js` to clients
        /// that accept gzip. It must not be older than `app.js`, whose media type must be
        /// compressible. It is a separate representation with another tag, date and ranges.
        public var servesPrecompressed = false
        /// Whether symbolic links that stay inside of the directory are followed. On a system that
        /// cannot check this, no links are followed.
        public var followsLinks = true
        /// The file that answers requests for missing paths, with 200; for example `index.html` of
        /// an application that renders its pages in the browser.
        public var fallbackFile: String?
        /// The requests for missing paths that get the fallback file; others get 404.
        public var fallbackRequests = FallbackRequests.pathsWithoutDot
        /// The most bytes of recently requested small files that are cached in memory; 0 caches
        /// none. Files of up to 16 KiB that are reached without links are cached. They are checked
        /// for each answer: a file whose size or times have changed is never sent from the cache. A
        /// program that writes through a memory mapping may leave the times the same; its changes
        /// become visible within five seconds. With `servesPrecompressed`, files are cached only if
        /// they are sent uncompressed.
        public var cachedBytes = 1 << 20
        /// The most files of more than 16 KiB and up to 1 MiB that stay open for further answers,
        /// up to a second each; 0 for none. They are checked like cached files: a file that has
        /// been replaced, renamed or deleted is never sent from its old descriptor.
        public var openFileLimit = 16
        /// Whether requests that arrive together share the check of a cached or open file. Each
        /// then gets the file as it was at some time between its arrival and its answer. This saves
        /// a busy server a twentieth of the time for a small file. Leave it off if a handler
        /// changes a file and then serves the file as the answer to the same request: the answer
        /// could be the old file.
        public var sharesChecks = false
        /// The name of the directory in listings.
        public var rootName = "Files"
        /// The URL of an upload page of the same directory, such as `upload/` or `/upload/`; `nil`
        /// for no link. The listing of a folder links to the upload page of that folder. The URL is
        /// used unchanged, so it must be percent-encoded. A relative URL is relative to the root of
        /// the directory.
        public var uploadPage: String?

        /// The requests for missing paths that get the fallback file.
        public enum FallbackRequests: Sendable {
            /// Requests for paths whose last segment has no dot: a missing script or image gets
            /// 404.
            case pathsWithoutDot
            /// Requests by which a browser opens a page, known from Sec-Fetch-Mode or, if that is
            /// missing, from Accept. Resources that scripts and pages load get 404, whatever their
            /// names.
            case navigations
        }

        /// The defaults.
        public init() {}
    }

    private let root: Result<RootDirectory, SystemError>
    let options: Options
    let compressible = CompressibleTypes { $0.isCompressible }
    let cache: FileCache?

    /// Creates a handler.
    /// - Parameters:
    ///   - root: the path of the directory. If it cannot be opened, all requests get 404; use
    ///     `init(directory:options:)` to get the error.
    ///   - options: the settings of the handler.
    public init(root: String, options: Options = Options()) {
        self.options = options
        cache = Self.cache(options)
        do throws(SystemError) {
            self.root = .success(try RootDirectory(root, followsLinks: options.followsLinks))
        } catch {
            self.root = .failure(error)
        }
    }

    /// Creates a handler for a directory that must exist.
    /// - Throws: the reason why the directory cannot be opened.
    public init(directory: String, options: Options = Options()) throws(SystemError) {
        try self.init(directory: directory, options: options, settlingSeconds: 2)
    }

    /// - Parameters:
    ///   - settlingSeconds: how long a file must have been unchanged to be cached in memory.
    ///   - openSeconds: how long a larger file may stay open.
    package init(
        directory: String, options: Options = Options(), settlingSeconds: Int64,
        openSeconds: Int = 1
    ) throws(SystemError) {
        self.options = options
        cache = Self.cache(options, settlingSeconds, openSeconds)
        root = .success(try RootDirectory(directory, followsLinks: options.followsLinks))
    }

    /// Creates a handler without a directory, which can serve only files that the caller has
    /// opened.
    init(options: Options) {
        self.options = options
        cache = nil
        root = .failure(SystemError("open", code: 0))
    }

    private static func cache(
        _ options: Options, _ settlingSeconds: Int64 = 2, _ openSeconds: Int = 1
    ) -> FileCache? {
        guard options.cachedBytes > 0 || options.openFileLimit > 0 else { return nil }
        return FileCache(
            byteLimit: options.cachedBytes, openFileLimit: options.openFileLimit,
            settlingSeconds: settlingSeconds, openSeconds: openSeconds)
    }

    /// The number of files whose bytes are cached.
    package var keptFiles: Int { cache?.counts.small ?? 0 }
    /// The number of cached open files.
    package var openFiles: Int { cache?.counts.open ?? 0 }

    /// Answers immediately, except with a listing: a directory is read outside of the event loop.
    public func answer(_ request: Request) throws -> Answer {
        switch try locate(request) {
        case .response(let response): return .now(response)
        case .listing(let root, let file, let path):
            let format = DirectoryListing.Format(accept: request.fields.list(.accept))
            return .later {
                try await BlockingPool.files.runUnlessCancelled {
                    try list(root, file, path, format)
                }
            }
        }
    }

    // MARK: Finding

    private enum Located {
        case response(Response)
        case listing(RootDirectory, OpenFile, FilePath)
    }

    /// Opens the regular file that a request names, whatever its method; for a folder its index
    /// file.
    /// - Throws: 404 if there is no such file, or an error of opening it.
    func find(
        _ request: Request
    ) throws(HTTPError) -> (file: OpenFile, status: FileStatus, mediaType: String) {
        guard case .success(let root) = root else { throw HTTPError(.notFound) }
        let named = try servablePath(request)
        let paths = named.endsWithSlash ? options.indexFiles.map { named.appending($0) } : [named]
        for path in paths {
            if let (file, status) = try openIfThere(path, in: root), status.kind == .regular {
                return (file, status, mediaType(of: path))
            }
        }
        throw HTTPError(.notFound)
    }

    private func servablePath(_ request: Request) throws(HTTPError) -> FilePath {
        guard let path = FilePath(request) else {
            throw HTTPError(.badRequest, "the path cannot be decoded")
        }
        guard path.isServable(showsHidden: options.showsHidden) else {
            throw HTTPError(.notFound)
        }
        return path
    }

    func mediaType(of path: FilePath) -> String {
        unsafe path.withLastSegment { name in
            unsafe options.mediaTypes.contentType(ofFileNamed: name)
        }
    }

    private func locate(_ request: Request) throws(HTTPError) -> Located {
        if let response = try request.answerIfNotRead() { return .response(response) }
        guard case .success(let root) = root else { throw HTTPError(.notFound) }
        let path = try servablePath(request)
        if let response = try serveKept(path, root, request) { return .response(response) }
        guard let (file, status) = try openIfThere(path, in: root) else {
            return .response(try serveFallback(for: path, root, request))
        }
        switch status.kind {
        case .regular:
            guard !path.endsWithSlash else { throw HTTPError(.notFound) }
            return .response(try serve(file, status, path, root, request))
        case .directory:
            guard path.endsWithSlash else { return .response(redirect(request)) }
            if let response = try serveIndex(path, root, request) { return .response(response) }
            guard options.listsDirectories else { throw HTTPError(.notFound) }
            return .listing(root, file, path)
        case .other: throw HTTPError(.notFound)
        }
    }

    /// Opens a path; `nil` if it does not exist.
    private func openIfThere(
        _ path: FilePath, in root: RootDirectory
    ) throws(HTTPError) -> (OpenFile, FileStatus)? {
        do throws(SystemError) {
            let descriptor = try path.open(in: root)
            let file = OpenFile(owning: descriptor)
            guard let status = RootDirectory.status(of: descriptor) else {
                throw SystemError("fstat")
            }
            return (file, status)
        } catch {
            if error.fileStatus == .missing { return nil }
            throw Self.refusal(after: error)
        }
    }

    /// The answer after a failure to open or read.
    private static func refusal(after error: SystemError) -> HTTPError {
        switch error.fileStatus {
        case .forbidden: HTTPError(.forbidden)
        case .missing: HTTPError(.notFound)
        case .unavailable: HTTPError(.serviceUnavailable)
        case .failure: HTTPError(.internalServerError)
        }
    }

    private func serveFallback(
        for missing: FilePath, _ root: RootDirectory, _ request: Request
    ) throws(HTTPError) -> Response {
        guard let name = options.fallbackFile else { throw HTTPError(.notFound) }
        let isForNavigations = options.fallbackRequests == .navigations
        // Caches must not serve the page to a script that requests the same path, or the script's
        // 404 to a navigation.
        let deciding = isForNavigations ? ["Accept", "Sec-Fetch-Mode"] : []
        guard isForNavigations ? request.isNavigation : !missing.lastNameHasDot else {
            var error = HTTPError(.notFound)
            for name in deciding { error.fields.addVary(name) }
            throw error
        }
        let path = FilePath(inRoot: name)
        guard let (file, status) = try openIfThere(path, in: root), status.kind == .regular else {
            throw HTTPError(.notFound)
        }
        var response = try serve(file, status, path, root, request)
        for name in deciding { response.fields.addVary(name) }
        return response
    }

    private func serveIndex(
        _ directory: FilePath, _ root: RootDirectory, _ request: Request
    ) throws(HTTPError) -> Response? {
        for name in options.indexFiles {
            let path = directory.appending(name)
            guard let (file, status) = try openIfThere(path, in: root), status.kind == .regular
            else { continue }
            return try serve(file, status, path, root, request)
        }
        return nil
    }

    /// The answer with a cached file, which is the first index file if the path is that of a
    /// directory; `nil` if that file is not cached.
    private func serveKept(
        _ path: FilePath, _ root: RootDirectory, _ request: Request
    ) throws(HTTPError) -> Response? {
        guard cache != nil else { return nil }
        var path = path
        if path.endsWithSlash {
            guard let index = options.indexFiles.first else { return nil }
            path = path.appending(index)
        }
        let arrival = options.sharesChecks ? request.storage.arrival : .max
        guard let entry = cache?.entry(at: path, in: root, arrival: arrival) else { return nil }
        // The precompressed file may have to be sent instead.
        if entry.varies, AcceptedCoding(request).isGzip { return nil }
        return try serve(entry, request)
    }

    /// The redirect from a directory's path without a slash: relative links on its page would be
    /// resolved against the parent.
    private func redirect(_ request: Request) -> Response {
        let segments = request.canonicalPath?.segments ?? []
        var location = segments.reduce(into: "") { $0 += "/" + PathEncoding.segment($1) } + "/"
        if let query = request.target.query { location += "?" + query }
        return .redirect(to: location, .movedPermanently)
    }

    // MARK: Directories

    private func list(
        _ root: RootDirectory, _ directory: OpenFile, _ path: FilePath,
        _ format: DirectoryListing.Format
    ) throws(HTTPError) -> Response {
        let found: [(name: [UInt8], status: FileStatus)]
        do throws(SystemError) {
            found = try root.entries(of: directory.descriptor, path: path.utf8)
        } catch {
            throw Self.refusal(after: error)
        }
        let entries = found.compactMap { name, status -> DirectoryEntry? in
            let isHidden = ReservedNames.isHidden(name.span)
            guard !isHidden || (options.showsHidden && !ReservedNames.contains(name.span)) else {
                return nil
            }
            return DirectoryEntry(
                name: name, isDirectory: status.kind == .directory, size: status.size,
                modified: HTTPDate(secondsSinceEpoch: status.modifiedSeconds))
        }
        let listing = DirectoryListing(
            path: path.directorySegments, rootName: options.rootName,
            uploadPage: options.uploadPage, entries: entries)
        let fields: HTTPFields = [
            .vary: "Accept", .cacheControl: "no-cache", .xContentTypeOptions: "nosniff",
            .contentSecurityPolicy: DirectoryListing.contentSecurityPolicy,
        ]
        return Response(.ok, fields: fields, body: listing.body(as: format))
    }
}
