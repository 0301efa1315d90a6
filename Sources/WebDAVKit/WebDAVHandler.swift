internal import HTTPParser
public import HTTPServerCore

/// A WebDAV server of class 1, 2 and 3 below any path of a server (RFC 4918).
///
/// ```swift
/// var router = Router()
/// router.mount("/dav", WebDAVHandler(store: try LocalStore(root: "/srv/share")))
/// ```
///
/// It finds out by itself where it is mounted. Who may come in is decided by an
/// `AuthenticationHandler` around it.
public struct WebDAVHandler: Handler {
    let store: any ResourceStore
    let locks: any LockStore
    let options: WebDAVOptions
    let gate = PathGate()
    let lockWishes = KnownContents<LockWish>()
    let propertyWishes = KnownContents<PropertyWish>()

    /// Creates a handler.
    /// - Parameters:
    ///   - store: where resources are kept.
    ///   - locks: where locks are kept; of one store all handlers need the same.
    ///   - options: what is allowed.
    public init(
        store: any ResourceStore, locks: any LockStore = MemoryLockStore(),
        options: WebDAVOptions = WebDAVOptions()
    ) {
        self.store = store
        self.locks = locks
        self.options = options
    }

    /// Answers a request.
    public func respond(to request: Request) async throws -> Response {
        let mount = Mount(request)
        do {
            return try await answer(request, mount)
        } catch let error as WebDAVError {
            return error.response(mount)
        } catch let fault as XMLFault {
            return WebDAVError(fault).response(mount)
        }
    }

    private func answer(_ request: Request, _ mount: Mount) async throws -> Response {
        guard let segments = request.pathSegments else {
            throw WebDAVError(.badRequest, "the path cannot be decoded")
        }
        let path = try await resourcePath(segments)
        let call = try WebDAVCall(request, mount, path, namesCollection: segments.last == [])
        if options.isReadOnly, Self.writing.contains(request.method.name) {
            throw WebDAVError.forbidden
        }
        switch request.method.name {
        case "OPTIONS": return try await describe(call)
        case "GET", "HEAD": return try await get(call)
        case "PUT": return try await put(call)
        case "DELETE": return try await delete(call)
        case "MKCOL": return try await mkcol(call)
        case "COPY": return try await copyOrMove(call, isMove: false)
        case "MOVE": return try await copyOrMove(call, isMove: true)
        case "PROPFIND": return try await propfind(call)
        case "PROPPATCH": return try await proppatch(call)
        case "LOCK": return try await lock(call)
        case "UNLOCK": return try await unlock(call)
        default:
            throw HTTPError(
                request.method.isRegistered ? .methodNotAllowed : .notImplemented,
                fields: [.allow: Self.allowed(isReadOnly: options.isReadOnly)])
        }
    }

    private static let writing: Set<String> = [
        "PUT", "DELETE", "MKCOL", "COPY", "MOVE", "PROPPATCH", "LOCK",
    ]

    /// The methods that Allow names.
    static func allowed(isReadOnly: Bool) -> String {
        let reading = "OPTIONS, GET, HEAD, PROPFIND"
        return isReadOnly
            ? reading : reading + ", PUT, DELETE, MKCOL, COPY, MOVE, PROPPATCH, LOCK, UNLOCK"
    }

    /// The resource of decoded segments, with each name as the store has it.
    func resourcePath(_ segments: [[UInt8]]) async throws -> ResourcePath {
        let names = segments.last == [] ? segments.dropLast() : segments[...]
        guard let path = ResourcePath(segments: Array(names)) else {
            throw WebDAVError(.badRequest, "a name holds bytes that names cannot have here")
        }
        return try await store.resolved(path)
    }

    /// The resource that a Destination field or a tag of an If field names; `nil` when it is on this
    /// server and not below this mount.
    func resourcePath(
        _ field: String, _ call: WebDAVCall
    ) async throws -> ResourcePath? {
        let destination: Destination
        do throws(Destination.Fault) {
            destination = try Destination(
                field, host: call.request.fields[.host], origins: options.origins)
        } catch {
            throw error == .malformed
                ? WebDAVError(.badRequest, "the destination cannot be read")
                : WebDAVError(.badGateway, "the destination is on another server")
        }
        guard let segments = call.mount.inner(destination.segments) else { return nil }
        return try await resourcePath(segments)
    }

    // MARK: What the program says

    func require(_ operation: WebDAVOperation, _ call: WebDAVCall) async throws {
        guard let shouldPerform = options.shouldPerform else { return }
        guard try await shouldPerform(operation, call.request) else { throw WebDAVError.forbidden }
    }

    func tell(_ operation: WebDAVOperation, _ call: WebDAVCall) async {
        await options.didPerform?(operation, call.request)
    }

    // MARK: What is shown

    /// Whether a resource is to be seen.
    func isVisible(_ path: ResourcePath, isCollection: Bool) -> Bool {
        if !options.allowsHidden, path.hasDotName { return false }
        return isCollection || options.allowedExtensions == nil || hasAllowedExtension(path.name)
    }

    /// The same for a member of a collection that is seen.
    func isVisible(member name: [UInt8], isCollection: Bool) -> Bool {
        (options.allowsHidden || name.first != 0x2E) && (isCollection || hasAllowedExtension(name))
    }

    private func hasAllowedExtension(_ name: [UInt8]) -> Bool {
        guard let allowed = options.allowedExtensions else { return true }
        guard let dot = name.lastIndex(of: 0x2E) else { return false }
        return allowed.contains(String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased())
    }

    /// What is known of a resource; `nil` when there is none that is shown.
    func visibleInfo(_ path: ResourcePath) async throws -> ResourceInfo? {
        guard isVisible(path, isCollection: true), let info = try await store.infoIfThere(path),
            isVisible(path, isCollection: info.isCollection)
        else { return nil }
        return info
    }

    /// Refuses to make what would not be shown.
    func requireVisible(_ path: ResourcePath, isCollection: Bool) throws(WebDAVError) {
        guard isVisible(path, isCollection: isCollection) else {
            throw WebDAVError(.forbidden, "the name is not allowed")
        }
    }
}
