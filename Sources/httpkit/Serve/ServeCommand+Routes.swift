import ArgumentParser
import HTTPParser
import HTTPServerCore
internal import HTTPServerKit
import ResumableUploads
internal import ToolkitSystem
import WebDAVKit
import WebUploader

/// The paths of `serve`, and the handler of each.
extension ServeCommand {
    /// Throws an error if two handlers have the same path, because only one of them would answer.
    func validatePaths() throws {
        let paths: [(flag: String, segments: [Substring]?)] = [
            ("--uploader", uploaderFlags.uploader.map { UploaderFlags.segments($0) }),
            ("--webdav", webdav.map { UploaderFlags.segments($0) }),
            ("--echo", echo.map { ServeRoutes.coveredSegments(of: $0) }),
        ]
        for (index, path) in paths.enumerated() where path.segments != nil {
            for other in paths[(index + 1)...] where other.segments == path.segments {
                throw ValidationError("\(path.flag) and \(other.flag) need different paths")
            }
        }
    }

    /// The handler of all requests. The caller adds the fields that all responses have.
    /// - Parameters:
    ///   - shared: the WebDAV handler, whose store and locks the upload page shares; `nil` if
    ///     neither WebDAV nor the page is served.
    ///   - place: where the server listens.
    ///   - uploads: receives the upload handlers, which have to be closed at the end.
    func handler(
        _ shared: WebDAVHandler?, _ place: ListenPlace, _ uploads: inout [ResumableUploadHandler]
    ) -> any Handler {
        var routes = ServeRoutes(root: compressed(fileHandler))
        addEcho(to: &routes)
        var hosts = access.hosts(beside: listen.host)
        for host in webdavOptions.hosts { hosts.allow(host) }
        guard let shared else {
            let served = routes.router
            // By DNS rebinding a page elsewhere could reach a private address. Public addresses and
            // Unix sockets need no check: such a page gains nothing at the first, and no browser
            // connects to the second.
            guard place.isPrivate else { return access.guarding(served) }
            return access.guarding(AccessOptions.checkingHosts(of: served, hosts))
        }
        addMounts(of: shared, to: &routes, &uploads)
        return access.guarding(
            AccessOptions.checkingHosts(of: routes.router, hosts),
            optionsFields: webdav == nil
                ? [:] : WebDAVHandler.classFields(isReadOnly: files.readOnly))
    }

    private func addEcho(to routes: inout ServeRoutes) {
        guard let echo else { return }
        let handler = compressed(EchoHandler(byteLimit: min(64 << 20, contentLimit)))
        // The echo matches only some of the paths of a mount of the same depth, so it takes
        // precedence.
        routes.add(at: ServeRoutes.literalSegments(of: echo), beforeMounts: true) {
            $0.route(nil, echo, to: handler)
        }
    }

    /// Adds WebDAV and the upload page. Neither is compressed: compression would give a file
    /// another entity tag on GET than the one that PUT returned.
    private func addMounts(
        of shared: WebDAVHandler, to routes: inout ServeRoutes,
        _ uploads: inout [ResumableUploadHandler]
    ) {
        if let webdav {
            let handler = resumable(shared, "webdav", tusMethod: .put, &uploads)
            let isReadOnly = files.readOnly
            routes.add(at: UploaderFlags.segments(webdav)) {
                $0.mountWebDAV(webdav, handler, isReadOnly: isReadOnly)
            }
        }
        if let prefix = uploaderFlags.uploader {
            let page = UploaderHandler(sharing: shared, options: uploaderOptions)
            let handler = resumable(page, "page", tusMethod: .post, &uploads)
            routes.add(at: UploaderFlags.segments(prefix)) { $0.mount(prefix, handler) }
        }
    }

    /// The handler with resumable uploads, unless files are read-only.
    /// - Parameters:
    ///   - handler: takes the uploads.
    ///   - name: names the folder of the unfinished uploads, in the directory that no client sees.
    ///   - tusMethod: the method with which the handler gets a tus upload.
    ///   - uploads: receives the new handler, which has to be closed at the end.
    private func resumable(
        _ handler: some Handler, _ name: String, tusMethod: HTTPMethod,
        _ uploads: inout [ResumableUploadHandler]
    ) -> any Handler {
        guard !files.readOnly else { return handler }
        var options = ResumableUploadHandler.Options()
        // Unfinished uploads do not count towards the quota, so each of them is limited by it.
        options.byteLimit = min(contentLimit, quota?.bytes ?? .max)
        options.tusMethod = tusMethod
        options.synchronizes = webdavOptions.webdavSync
        let own = String(decoding: ReservedNames.folder, as: UTF8.self)
        let upload = ResumableUploadHandler(
            handler, folder: "\(directory)/\(own)/uploads-\(name)", options: options)
        uploads.append(upload)
        return upload
    }

    private var uploaderOptions: UploaderOptions {
        var options = uploaderFlags.options
        options.allowsHidden = files.showHidden
        options.contentLimit = contentLimit
        if files.readOnly { options.role = { _ in .readOnly } }
        // `handler` checks the host of every request.
        options.hosts = nil
        options.trustedOrigins = Set(
            webdavOptions.origin.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        ).union(answers.origins)
        return options
    }

    private func compressed(_ handler: some Handler) -> any Handler {
        guard files.gzip else { return handler }
        return CompressionHandler(handler)
    }

    private var fileHandler: FileHandler {
        var options = files.options
        if !files.readOnly { options.uploadPage = uploaderFlags.linkFromRoot }
        do throws(SystemError) {
            return try FileHandler(directory: directory, options: options)
        } catch {
            fail("\(directory): \(error.reason)")
        }
    }
}

/// Handlers by their paths. The innermost path answers, in whichever order they were added: the
/// page at `/` hides neither WebDAV at `/dav` nor an echo at `/echo`.
struct ServeRoutes {
    private struct Route {
        let depth: Int
        let comesBeforeMounts: Bool
        let add: (inout Router) -> Void
    }

    private let root: any Handler
    private var routes: [Route] = []

    /// - Parameter root: the handler for all other paths.
    init(root: any Handler) {
        self.root = root
    }

    /// Adds a handler.
    /// - Parameters:
    ///   - segments: the segments of its path.
    ///   - beforeMounts: whether it answers before a mount of the same depth.
    ///   - add: adds it to a router.
    mutating func add(
        at segments: [Substring], beforeMounts: Bool = false,
        _ add: @escaping (inout Router) -> Void
    ) {
        routes.append(
            Route(depth: segments.count, comesBeforeMounts: beforeMounts, add: add))
    }

    /// A router with all handlers.
    var router: Router {
        var router = Router()
        router.mount("/", root)
        // Of several routes for a path the last one added answers.
        let ordered = routes.sorted { one, other in
            if one.depth != other.depth { return one.depth < other.depth }
            return !one.comesBeforeMounts && other.comesBeforeMounts
        }
        for route in ordered { route.add(&router) }
        return router
    }

    /// The segments of a route without a final `*`. A mount conflicts with an echo at `/a` as much
    /// as with one at `/a/*`.
    static func coveredSegments(of route: String) -> [Substring] {
        let segments = UploaderFlags.segments(route)
        return Array(segments.last == "*" ? segments.dropLast() : segments[...])
    }

    /// The segments of a route up to its first parameter: `/*` is no deeper than `/`.
    static func literalSegments(of route: String) -> [Substring] {
        Array(UploaderFlags.segments(route).prefix { !$0.hasPrefix(":") && $0 != "*" })
    }
}
