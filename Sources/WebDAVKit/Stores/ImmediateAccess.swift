internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit

/// The store and the locks for requests that are answered on the event loop without a task.
struct ImmediateAccess: Sendable {
    let store: any ImmediateStore
    let locks: any ImmediateLockStore

    /// - Returns: `nil` if a request may have to wait for the store, the lock store or the program,
    ///   and if the handler is read-only or reports its requests.
    init?(_ store: any ResourceStore, _ locks: any LockStore, _ options: WebDAVOptions) {
        guard let store = store as? any ImmediateStore,
            let locks = locks as? any ImmediateLockStore, locks.changesAtOnce,
            !options.isReadOnly, options.shouldPerform == nil, options.didPerform == nil,
            options.uploadProgress == nil
        else { return nil }
        (self.store, self.locks) = (store, locks)
    }

    /// The announced length of the content in bytes, if the request may be answered without
    /// waiting; otherwise `nil`.
    ///
    /// If the request has conditions, or the client waits for 100, the resource must be looked up
    /// before the content is read.
    func contentLimit(of request: Request) -> Int? {
        switch request.knownMethod {
        case .put, .lock, .unlock, .mkcol, .proppatch: break
        default: return nil
        }
        let fields = request.fields
        let length = request.contentLength ?? (request.hasContent ? .max : 0)
        guard length <= LocalContent.memoryLimit, request.hasPlainContent,
            !fields.contains(.expect), !fields.contains(.ifHeader), !request.hasConditions
        else { return nil }
        return Int(length)
    }

    /// Whether a resource has no lock, and, if it is new, neither has the collection around it.
    func isUnlocked(_ path: ResourcePath, isNew: Bool) -> Bool {
        guard locks.locksNow(on: path, andInside: isNew).isEmpty else { return false }
        guard isNew, let parent = path.parent else { return true }
        return locks.locksNow(on: parent, andInside: false).isEmpty
    }
}
