public import HTTPParser
public import HTTPServerCore
internal import HTTPServerKit
internal import Logging

/// A WebDAV server of class 1, 2 and 3 below any path of a server (RFC 4918).
///
/// ```swift
/// var router = Router()
/// router.mount("/dav", WebDAVHandler(store: try LocalStore(root: "/srv/share")))
/// ```
///
/// The handler finds its mount point by itself. Wrap it in an `AuthenticationHandler` to require a
/// login.
public struct WebDAVHandler: PrecheckingHandler {
    /// The parts of a handler, which all of its copies share: each request copies the handler.
    private final class Parts: Sendable {
        let store: any ResourceStore
        let locks: any LockStore
        let options: WebDAVOptions
        let pathLock: PathLock
        let lockRequests: ParsedBodyCache<LockRequest>
        let propertyRequests: ParsedBodyCache<PropertyRequest>
        let immediate: ImmediateAccess?

        /// - Parameter other: a handler with which the parts that do not depend on options are
        ///   shared.
        init(
            _ store: any ResourceStore, _ locks: any LockStore, _ options: WebDAVOptions,
            sharing other: Parts? = nil
        ) {
            self.store = store
            self.locks = locks
            self.options = options.normalized
            pathLock = other?.pathLock ?? PathLock()
            lockRequests = other?.lockRequests ?? ParsedBodyCache()
            propertyRequests = other?.propertyRequests ?? ParsedBodyCache()
            immediate = ImmediateAccess(store, locks, options)
        }
    }

    private let parts: Parts

    package var store: any ResourceStore { parts.store }
    package var locks: any LockStore { parts.locks }
    var options: WebDAVOptions { parts.options }
    /// Shared by all handlers of one store.
    package var pathLock: PathLock { parts.pathLock }
    var lockRequests: ParsedBodyCache<LockRequest> { parts.lockRequests }
    var propertyRequests: ParsedBodyCache<PropertyRequest> { parts.propertyRequests }
    /// Answers small changes without waiting; `nil` if requests may have to wait.
    var immediate: ImmediateAccess? { parts.immediate }
    /// Whether small changes are answered without a task.
    package var answersAtOnce: Bool { immediate != nil }

    /// Creates a handler.
    ///
    /// Create one handler per store, and further ones by `init(sharing:options:)`: independent
    /// handlers could change the same resource at the same time.
    /// - Parameters:
    ///   - store: the resources.
    ///   - locks: the lock store.
    ///   - options: the settings.
    public init(
        store: any ResourceStore, locks: any LockStore = MemoryLockStore(),
        options: WebDAVOptions = WebDAVOptions()
    ) {
        parts = Parts(store, locks, options)
    }

    /// Creates a further handler of the same resources, such as a read-only one at another path.
    /// They share the lock store and wait for each other's changes.
    /// - Parameters:
    ///   - other: the handler whose store and locks are shared.
    ///   - options: the settings.
    public init(sharing other: WebDAVHandler, options: WebDAVOptions = WebDAVOptions()) {
        parts = Parts(other.store, other.locks, options, sharing: other.parts)
    }

    /// The fields by which clients recognise a WebDAV server. Some clients look for them in the
    /// answer that requires a login, too: pass them to `AuthenticationHandler` as `optionsFields`.
    /// - Parameter isReadOnly: whether all changes are refused.
    public static func classFields(isReadOnly: Bool = false) -> HTTPFields {
        WebDAVClasses.fields(isReadOnly: isReadOnly)
    }

    /// Answers a request: a small change immediately if it needs no wait, other requests later.
    public func answer(_ request: Request) -> Answer {
        guard let limit = immediate?.contentLimit(of: request) else {
            return .later { try await response(to: request) }
        }
        guard request.hasContent else { return answer(request, []) }
        return .withContent(limit: limit) { answer(request, $0) }
    }

    func response(to request: Request) async throws -> Response {
        let mount = Mount(request)
        do {
            return try await answer(try await call(request, mount))
        } catch {
            return try await refusal(error, request, mount)
        }
    }

    /// Judges a PUT by its head: returns the refusal that `answer(_:)` would give before it reads
    /// content.
    public func precheck(_ request: Request) async throws -> Response? {
        let mount = Mount(request)
        do {
            let call = try await self.call(request, mount)
            if request.method == .put { try await precheckPut(call) }
            if request.method == .post { throw await notAllowed(request) }
            return nil
        } catch {
            return try await refusal(error, request, mount)
        }
    }

    private func refusal(
        _ error: any Error, _ request: Request, _ mount: Mount
    ) async throws -> Response {
        switch error {
        case let error as WebDAVError:
            var response = error.response(mount)
            // RFC 9110 section 15.5.6.
            if error.status == .methodNotAllowed {
                response.fields.append(.allow, await allowed(request))
            }
            return response
        case let fault as XMLFault: return WebDAVError(fault).response(mount)
        default: throw error
        }
    }

    private func call(_ request: Request, _ mount: Mount) async throws -> WebDAVCall {
        guard let segments = request.pathSegments else {
            throw WebDAVError(.badRequest, "the path cannot be decoded")
        }
        var path = try await resourcePath(segments)
        // Requests that only read keep the names that the client used.
        if Self.writing.contains(request.method.name) || request.method == .unlock {
            let followsLast = request.method == .proppatch || request.method == .patch
            path = try await store.canonical(path, followsLast: followsLast)
        }
        let call = try WebDAVCall(request, mount, path, namesCollection: segments.last == [])
        if options.isReadOnly, Self.writing.contains(request.method.name) {
            throw WebDAVError.forbidden
        }
        return call
    }

    private func answer(_ call: WebDAVCall) async throws -> Response {
        switch call.request.method.name {
        case "OPTIONS": return try await describe(call)
        case "GET", "HEAD": return try await get(call)
        case "PUT": return try await put(call)
        case "PATCH": return try await patch(call)
        case "DELETE": return try await delete(call)
        case "MKCOL": return try await mkcol(call)
        case "COPY": return try await copyOrMove(call, isMove: false)
        case "MOVE": return try await copyOrMove(call, isMove: true)
        case "PROPFIND": return try await propfind(call)
        case "PROPPATCH": return try await proppatch(call)
        case "LOCK": return try await lock(call)
        case "UNLOCK": return try await unlock(call)
        default: throw await notAllowed(call.request)
        }
    }

    private func notAllowed(_ request: Request) async -> HTTPError {
        HTTPError(
            request.method.isKnown ? .methodNotAllowed : .notImplemented,
            fields: [.allow: await allowed(request)])
    }

    private static let writing: Set<String> = [
        "PUT", "PATCH", "DELETE", "MKCOL", "COPY", "MOVE", "PROPPATCH", "LOCK",
    ]

    /// The path of decoded segments, with each name as the store spells it.
    @inline(never)  // Each caller would have a copy of it.
    func resourcePath(_ segments: [[UInt8]]) async throws -> ResourcePath {
        let names = segments.last == [] ? segments.dropLast() : segments[...]
        guard let path = ResourcePath(segments: Array(names)) else {
            throw WebDAVError(.badRequest, "a name contains bytes that are not allowed in names")
        }
        return try await store.resolved(path)
    }

    /// The resource that a Destination field or a tag of an If field names; `nil` if it is on this
    /// server, but not below this mount.
    func resourcePath(
        _ field: String, _ call: WebDAVCall
    ) async throws -> ResourcePath? {
        guard let segments = try inner(field, call) else { return nil }
        return try await store.canonical(try await resourcePath(segments), followsLast: false)
    }

    /// The decoded segments below this mount of such a field, with the client's spelling.
    func inner(_ field: String, _ call: WebDAVCall) throws(WebDAVError) -> [[UInt8]]? {
        do throws(Destination.Fault) {
            let destination = try Destination(
                field, host: call.request.host, origins: options.origins)
            return call.mount.inner(destination.segments)
        } catch {
            throw error == .malformed
                ? WebDAVError(.badRequest, "malformed Destination")
                : WebDAVError(.badGateway, "the destination is on another server")
        }
    }

    // MARK: Decisions of the program

    func require(_ operation: WebDAVOperation, _ call: WebDAVCall) async throws {
        guard let shouldPerform = options.shouldPerform else { return }
        guard try await shouldPerform(operation, call.request) else { throw WebDAVError.forbidden }
    }

    @inline(never)  // Each caller would have a copy of it.
    func tell(_ operation: WebDAVOperation, _ call: WebDAVCall) async {
        await options.didPerform?(operation, call.request)
    }

    /// Removes the locks on removed resources. An error of the lock store is logged, and does not
    /// change the answer.
    func giveUpLocks(
        inside path: ResourcePath, includingRoot: Bool, _ call: WebDAVCall
    ) async {
        await giveUpLocks(call) {
            try await locks.removeAll(inside: path, includingRoot: includingRoot)
        }
    }

    /// Removes the locks on the missing resources of a tree, after a change that failed half-way.
    /// Call it while the path is held.
    func giveUpLocks(onMissingWithin path: ResourcePath, _ call: WebDAVCall) async {
        await giveUpLocks(call) {
            let roots = try await locks.locks(on: path, andInside: true).map(\.root)
            _ = try await removeLocks(onMissingOf: Set(roots.filter { $0.isWithin(path) }))
        }
    }

    private func giveUpLocks(_ call: WebDAVCall, by removal: () async throws -> Void) async {
        do {
            try await removal()
        } catch {
            call.request.logger.error(
                "locks on removed resources could not be released", metadata: ["error": "\(error)"])
        }
    }

    // MARK: Visibility

    /// Whether clients can see a resource.
    func isVisible(_ path: ResourcePath, isCollection: Bool) -> Bool {
        if !options.allowsHidden || options.blocksAppleDouble, path.hasDotName {
            guard options.allowsHidden, !path.hasAppleName else { return false }
        }
        return isCollection || options.allowedExtensions == nil || hasAllowedExtension(path.name)
    }

    /// Whether clients can see a member of a visible collection.
    func isVisible(member name: [UInt8], isCollection: Bool) -> Bool {
        if ReservedNames.isHidden(name.span) {
            guard options.allowsHidden else { return false }
            if options.blocksAppleDouble, ResourcePath.isAppleName(name[...]) { return false }
        }
        return isCollection || hasAllowedExtension(name)
    }

    private func hasAllowedExtension(_ name: [UInt8]) -> Bool {
        guard let allowed = options.allowedExtensions else { return true }
        // File systems allow no longer names.
        guard let dot = name.lastIndex(of: 0x2E), name.count - dot <= 255 else { return false }
        return allowed.contains(String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased())
    }

    /// Describes a resource; `nil` when it is missing or hidden.
    @inline(never)  // Each caller would have a copy of it.
    func visibleInfo(_ path: ResourcePath) async throws -> ResourceInfo? {
        guard isVisible(path, isCollection: true), let info = try await store.infoIfThere(path),
            isVisible(path, isCollection: info.isCollection)
        else { return nil }
        return info
    }

    /// Refuses to create a name that is not text, because few programs could show or open it.
    func requireTextName(_ path: ResourcePath) throws(WebDAVError) {
        guard ResourcePath.isText(path.name) else {
            throw WebDAVError(.badRequest, "a new name must be UTF-8 without control characters")
        }
    }

    /// Refuses to create a hidden name.
    func requireVisible(_ path: ResourcePath, isCollection: Bool) throws(WebDAVError) {
        guard isVisible(path, isCollection: isCollection) else {
            guard path.hasDotName, !options.allowsHidden else {
                throw WebDAVError(.forbidden, "the name is not allowed")
            }
            throw WebDAVError(
                .forbidden,
                "names that begin with a dot are refused, unless WebDAVOptions.allowsHidden, "
                    + "or httpkit serve --show-hidden, allows them")
        }
    }
}
