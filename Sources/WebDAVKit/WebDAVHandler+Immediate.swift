internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit

/// A store and its locks, for requests that are answered on the event loop without a task.
struct ImmediateAccess: Sendable {
    let store: any ImmediateStore
    let locks: any ImmediateLockStore

    /// - Returns: `nil` where a request may have to wait for a store, a lock store or a decision of
    ///   the program.
    init?(_ store: any ResourceStore, _ locks: any LockStore, _ options: WebDAVOptions) {
        guard let store = store as? any ImmediateStore,
            let locks = locks as? any ImmediateLockStore, locks.changesAtOnce,
            !options.isReadOnly, options.shouldPerform == nil, options.didPerform == nil,
            options.uploadProgress == nil
        else { return nil }
        (self.store, self.locks) = (store, locks)
    }

    /// The most content of a request that may be answered at once; `nil` for any other request.
    ///
    /// Conditions and a client that waits for 100 need a look at the resource before the content.
    func contentLimit(of request: Request) -> Int? {
        switch request.knownMethod {
        case .put, .lock, .unlock, .mkcol, .proppatch: break
        default: return nil
        }
        let fields = request.fields
        let length = request.contentLength ?? (request.hasContent ? .max : 0)
        guard length <= LocalContent.memoryLimit, request.hasPlainContent,
            !fields.contains(.expect), !fields.contains("If"), !request.hasConditions
        else { return nil }
        return Int(length)
    }

    /// Whether no lock is on a resource, or on the collection around a new one.
    func isUnlocked(_ path: ResourcePath, isNew: Bool) -> Bool {
        guard locks.locksNow(on: path, andInside: isNew).isEmpty else { return false }
        guard isNew, let parent = path.parent else { return true }
        return locks.locksNow(on: parent, andInside: false).isEmpty
    }
}

/// Requests that are answered on the event loop without a task.
///
/// The methods here do what the async ones do, and only where all goes well: a request that must
/// wait, is refused or meets anything unusual takes the async way, before anything has changed.
extension WebDAVHandler {
    func answer(_ request: Request, _ content: [UInt8], _ access: ImmediateAccess) -> Answer {
        if let response = try? responseNow(to: request, content, access) { return .now(response) }
        request.giveBack(content)
        return .later { try await response(to: request) }
    }

    private func responseNow(
        to request: Request, _ content: [UInt8], _ access: ImmediateAccess
    ) throws -> Response? {
        guard let segments = request.pathSegments,
            let path = ResourcePath(
                segments: segments.last == [] ? segments.dropLast() : segments)
        else { return nil }
        return try access.store.performNow {
            let path = access.store.canonicalNow(
                path, followsLast: request.knownMethod == .proppatch)
            let call = try WebDAVCall(
                request, Mount(request), path, namesCollection: segments.last == [])
            return try pathLock.holdNow([path]) { try responseNow(to: call, content, access) }
        }
    }

    private func responseNow(
        to call: WebDAVCall, _ content: [UInt8], _ access: ImmediateAccess
    ) throws -> Response? {
        switch call.request.knownMethod {
        case .put: try putNow(content, call, access)
        case .mkcol: content.isEmpty ? try mkcolNow(call, access) : nil
        case .proppatch: try proppatchNow(content, call, access)
        case .lock: try lockNow(content, call, access)
        case .unlock: unlockNow(call, access)
        default: nil
        }
    }

    /// Describes a resource; `nil` when it is missing or hidden.
    func visibleInfoNow(_ path: ResourcePath, _ access: ImmediateAccess) throws -> ResourceInfo? {
        guard isVisible(path, isCollection: true), let info = try access.store.infoNow(path),
            isVisible(path, isCollection: info.isCollection)
        else { return nil }
        return info
    }
}
