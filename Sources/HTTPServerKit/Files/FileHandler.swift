public import HTTPCodecs
internal import HTTPParser
public import HTTPServerCore
public import ToolkitSystem

/// Serves the files of a directory: validators, conditions, ranges, listings, index files.
///
/// Size, validators and content of an answer come from one open descriptor, so a file replaced
/// meanwhile is sent as it was or as it is, never as a mix. No request reaches outside of the
/// directory, whatever its spelling and whatever links are there.
public struct FileHandler: Handler {
    /// The settings of a file handler.
    public struct Options: Sendable {
        /// The files that stand for their directory, in the order they are looked for.
        public var indexFiles = ["index.html"]
        /// Whether a directory without an index file is listed; otherwise it is 404.
        public var listsDirectories = true
        /// Whether names that begin with a dot are served and listed; those that the toolkit itself
        /// makes beside the files never are.
        public var showsHidden = false
        /// How many seconds caches may keep a file: above 0 `public, max-age`, 0 `no-cache`, by
        /// which they ask each time; `nil` says nothing.
        public var cacheAge: Int? = 0
        /// Media types by extension.
        public var mediaTypes = MediaTypeTable.standard
        /// Whether `app.js.gz`, if it is not older than `app.js` beside it, is sent to clients that
        /// accept gzip, with compressible media types. It is a separate representation with another
        /// tag, date and ranges.
        public var servesPrecompressed = false
        /// Whether symbolic links that stay inside of the directory are followed. If the system
        /// cannot check that, none is.
        public var followsLinks = true
        /// The file that answers, with 200, a request of a missing path, such as `index.html` of an
        /// application that renders its pages in the browser.
        public var fallbackFile: String?
        /// Which of these requests it answers.
        public var fallbackRequests = FallbackRequests.pathsWithoutDot
        /// The most bytes of recently requested small files that are cached in memory; 0 caches
        /// none. Files of up to 16 KiB that no link leads to are cached, and checked for each
        /// answer: a file whose size or times have changed is never sent from the cache. A program
        /// that writes through a memory mapping may leave the times as they are; its changes are
        /// seen within five seconds. With `servesPrecompressed`, files are cached only if they are
        /// sent uncompressed.
        public var cachedBytes = 1 << 20
        /// The most files of more than 16 KiB and up to 1 MiB that stay open for further answers, up
        /// to a second each; 0 for none. They are checked as the cached ones are: a file that has
        /// been replaced, renamed or deleted is never sent from its old descriptor.
        public var openFileLimit = 16
        /// Whether requests that arrive together share one check whether a cached or open file has
        /// changed: each gets the file as it was at some time between its arrival and its answer.
        /// It saves a busy server a twentieth of the time of a small file. Leave it off where a
        /// handler changes a file and then has it served as the answer to the same request: that
        /// answer could be the old file.
        public var sharesChecks = false
        /// The name of the directory in listings.
        public var rootName = "Files"
        /// The address of an upload page of the same directory, such as `upload/` or `/upload/`; the
        /// listing of a folder links to the page of that folder. It is used as it is given, with
        /// percent-encoding, and a relative one counts from the root of the directory. `nil` for no
        /// link.
        public var uploadPage: String?

        /// Which requests of missing paths are answered by the fallback file.
        public enum FallbackRequests: Sendable {
            /// Requests on paths whose last segment has no dot: a missing script or picture is 404.
            case pathsWithoutDot
            /// Requests that a browser makes to show a page, by Sec-Fetch-Mode or, without that, by
            /// Accept: what scripts and pages load is 404, whatever its name.
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
    ///   - root: the path of the directory. When it cannot be opened all requests are answered by
    ///     404; use `init(directory:options:)` to learn of it.
    ///   - options: what is served how.
    public init(root: String, options: Options = Options()) {
        self.options = options
        cache = Self.cache(options)
        do throws(SystemError) {
            self.root = .success(try RootDirectory(root, followsLinks: options.followsLinks))
        } catch {
            self.root = .failure(error)
        }
    }

    /// Creates a handler for a directory that has to be there.
    public init(directory: String, options: Options = Options()) throws(SystemError) {
        try self.init(directory: directory, options: options, settlingSeconds: 2)
    }

    /// - Parameters:
    ///   - settlingSeconds: for how long a file must have been left alone to be kept in memory.
    ///   - openSeconds: for how long a larger file may stay open.
    package init(
        directory: String, options: Options = Options(), settlingSeconds: Int64,
        openSeconds: Int = 1
    ) throws(SystemError) {
        self.options = options
        cache = Self.cache(options, settlingSeconds, openSeconds)
        root = .success(try RootDirectory(directory, followsLinks: options.followsLinks))
    }

    /// A handler without a directory: it can answer with a file that the caller has opened.
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

    /// How many files are kept in memory.
    package var keptFiles: Int { cache?.counts.small ?? 0 }
    /// How many files are kept open.
    package var openFiles: Int { cache?.counts.open ?? 0 }

    /// Answers at once, unless it has to read a directory, which it does outside of the event loop.
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

    /// The regular file that a request names, whatever its method; for a folder its index file.
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

    /// `nil` for what is not there.
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

    /// The answer when something cannot be opened or read.
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
        // A cache must not give the page to a script that asks for the same path, nor its error to a
        // navigation.
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

    /// The answer from what is kept: a file, or the first index file of a directory.
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
        // The compressed file beside it may be what is sent.
        if entry.varies, AcceptedCoding(request).isGzip { return nil }
        return try serve(entry, request)
    }

    /// A directory without its slash: links on its page would be resolved against its parent.
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
