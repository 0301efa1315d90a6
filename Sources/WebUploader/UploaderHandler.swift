internal import HTTPCodecs
internal import HTTPParser
public import HTTPServerCore
internal import HTTPServerKit
public import WebDAVKit

/// A page on which people upload, download, move and delete files, and the HTTP interface that the
/// page uses (`Docs/Uploader.md`).
///
/// ```swift
/// let dav = WebDAVHandler(store: try LocalStore(root: "/srv/share"))
/// var router = Router()
/// router.mountWebDAV("/dav", dav)
/// router.mount("/upload", UploaderHandler(sharing: dav))
/// ```
///
/// The handler finds its mount point by itself. It shares store and locks with WebDAV: the page
/// never changes a file that a WebDAV client has locked (423), and an upload is written under a
/// hidden name until it is complete, like a PUT.
///
/// It refuses requests from pages of other sites (CSRF) and for foreign host names (DNS rebinding).
/// Wrap it in an `AuthenticationHandler` to require a login. ``UploaderOptions/role`` sets the
/// permissions of each user.
public struct UploaderHandler: PrecheckingHandler {
    private let guarded: any Handler

    /// Creates a handler of a store that no WebDAV handler uses.
    ///
    /// If WebDAV serves the same files, use ``init(sharing:options:)``: two independent handlers
    /// could change the same file at the same time.
    /// - Parameters:
    ///   - store: the store of the files.
    ///   - options: the appearance of the page, the limits and the permissions.
    public init(store: any ResourceStore, options: UploaderOptions = UploaderOptions()) {
        self.init(sharing: WebDAVHandler(store: store), options: options)
    }

    /// Creates a handler of the files that WebDAV serves, too. Conflicting changes by the two wait
    /// for each other, and the page respects WebDAV's locks.
    /// - Parameters:
    ///   - other: the WebDAV handler with which store and locks are shared.
    ///   - options: the appearance of the page, the limits and the permissions.
    public init(sharing other: WebDAVHandler, options: UploaderOptions = UploaderOptions()) {
        let site = UploaderSite(other, options.normalized)
        var origin = OriginCheckHandler.Options()
        origin.trustedOrigins = options.trustedOrigins
        let checked = OriginCheckHandler(site, options: origin)
        if let hosts = options.hosts {
            guarded = HostCheckHandler(
                checked, hosts: hosts, setting: "UploaderOptions.hosts")
        } else {
            guarded = checked
        }
    }

    /// Answers a request. All errors are `application/problem+json` (RFC 9457), or a page for
    /// browsers.
    public func answer(_ request: Request) throws -> Answer {
        do {
            return try guarded.answer(request)
        } catch let error as HTTPError {
            return .now(UploaderError(error).response(for: request))
        }
    }

    /// Judges an upload by the head of its request: returns the refusal that `answer(_:)` would
    /// give before it reads content.
    public func precheck(_ request: Request) async throws -> Response? {
        request.isPrecheck = true
        defer { request.isPrecheck = false }
        let response = try await respond(to: request)
        return response.status.isSuccess ? nil : response
    }
}

/// Answers requests that have passed the checks of origin and host.
struct UploaderSite: Handler {
    let files: SharedFiles
    let options: UploaderOptions
    let tokens: UploaderTokens
    let bin: UploaderBin
    let changes: UploaderChanges
    let quota: UploaderQuota

    init(_ other: WebDAVHandler, _ options: UploaderOptions) {
        files = SharedFiles(dav: other, options: options)
        self.options = options
        tokens = UploaderTokens(lifetime: options.tokenLifetime)
        bin = UploaderBin(other.store, lifetime: options.undoTime)
        changes = UploaderChanges(other.pathLock, limit: options.listenerLimit)
        quota = UploaderQuota(options.quota)
    }

    func answer(_ request: Request) -> Answer {
        .later {
            do {
                return try await response(to: request)
            } catch {
                guard let error = UploaderError(thrown: error, for: request) else { throw error }
                return error.response(for: request)
            }
        }
    }

    private func response(to request: Request) async throws -> Response {
        guard let segments = request.pathSegments else {
            throw UploaderError(.badRequest, .path, "the path cannot be decoded")
        }
        guard !segments.isEmpty else { return toSlash(request) }
        // To compare a long text as a string may take minutes.
        guard segments.reduce(0, { $0 + $1.count }) <= 64 else {
            throw UploaderError(.notFound, nil)
        }
        let name = segments.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
        if name.hasPrefix("assets/") { return try UploaderAssets.answer(name, request) }
        guard let action = Action(rawValue: name) else { throw UploaderError(.notFound, nil) }
        let allowed = action.methods
        if request.method == .options {
            return Response(
                .noContent,
                fields: [.allow: (allowed + [.options]).map(\.name).joined(separator: ", ")])
        }
        guard allowed.contains(request.method) else {
            throw UploaderError(
                HTTPError(
                    request.method.isKnown ? .methodNotAllowed : .notImplemented,
                    fields: [.allow: (allowed + [.options]).map(\.name).joined(separator: ", ")]))
        }
        // Other requests have short content, which is judged after it is read.
        if request.isPrecheck, action != .upload { return Response(.noContent) }
        return try await answer(action, UploaderCall(request, await options.role(request)))
    }

    /// The actions, by their addresses.
    private enum Action: String {
        case page = ""
        case list, download, preview, events, token
        case upload, create, move, copy, delete, restore

        var methods: [HTTPMethod] {
            switch self {
            case .page, .list, .preview, .events, .token: [.get, .head]
            // A selection may be too long for an address.
            case .download: [.get, .head, .post]
            case .upload, .create, .move, .copy, .delete, .restore: [.post]
            }
        }
    }

    private func answer(_ action: Action, _ call: UploaderCall) async throws -> Response {
        switch action {
        case .page: try await page(call)
        case .list: try await list(call)
        case .download: try await download(call)
        case .preview: try await preview(call)
        case .events: try await events(call)
        case .token: try token(call)
        case .upload: try await upload(call)
        case .create: try await create(call)
        case .move: try await moveOrCopy(call, isMove: true)
        case .copy: try await moveOrCopy(call, isMove: false)
        case .delete: try await delete(call)
        case .restore: try await restore(call)
        }
    }

    /// Redirects to the mount point with a slash, because the links of the page are relative to it.
    private func toSlash(_ request: Request) -> Response {
        let last = request.canonicalPath?.segments.last ?? []
        var location = PathEncoding.link(to: last, isDirectory: true)
        if let query = request.target.query { location += "?" + query }
        return .redirect(to: location, .permanentRedirect)
    }

    // MARK: Decisions of the program

    func require(_ operation: UploaderOperation, _ call: UploaderCall) async throws {
        guard let shouldPerform = options.shouldPerform else { return }
        guard try await shouldPerform(operation, call.request) else {
            throw UploaderError(.forbidden, .refused, "the program refused the operation")
        }
    }

    /// Runs an operation and reports its result to the program.
    /// - Parameters:
    ///   - operation: the requested operation.
    ///   - body: runs it, and returns the result and the operation with its final paths.
    func perform<Result>(
        _ operation: UploaderOperation, _ call: UploaderCall,
        _ body: () async throws -> (Result, UploaderOperation)
    ) async throws -> Result {
        guard !call.request.isPrecheck else {
            try await require(operation, call)
            return try await body().0
        }
        do {
            try await require(operation, call)
            let (result, done) = try await body()
            await options.onEvent?(
                UploaderEvent(operation: done, failure: nil, request: call.request))
            return result
        } catch {
            let status = UploaderError(thrown: error, for: nil)?.status ?? .requestTimeout
            await options.onEvent?(
                UploaderEvent(operation: operation, failure: status, request: call.request))
            throw error
        }
    }
}
