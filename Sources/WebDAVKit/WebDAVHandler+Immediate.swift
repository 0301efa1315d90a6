internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit

/// Requests that are answered on the event loop without a task.
///
/// These methods do the same as the async ones, but only in the usual case. A request that must
/// wait, is refused or meets anything unusual takes the async path before anything has changed.
extension WebDAVHandler {
    func answer(_ request: Request, _ content: [UInt8]) -> Answer {
        do {
            if let immediate, let response = try responseNow(to: request, content, immediate) {
                return .now(response)
            }
        } catch {
            // The async path gets the same error, and answers it.
        }
        request.giveBack(content)
        return .later { try await response(to: request) }
    }

    private func responseNow(
        to request: Request, _ content: [UInt8], _ access: ImmediateAccess
    ) throws -> Response? {
        let depth = request.mountDepth
        guard let all = request.canonicalPath?.segments, all.count >= depth else { return nil }
        let namesCollection = all[depth...].last == []
        let names = namesCollection ? all[depth...].dropLast() : all[depth...]
        guard let path = ResourcePath(segments: Array(names)) else { return nil }
        func respond(at path: ResourcePath) throws -> Response? {
            let call = try WebDAVCall(
                request, Mount(segments: all[..<depth]), path, namesCollection: namesCollection)
            return try pathLock.holdNow([path]) { try responseNow(to: call, content, access) }
        }
        // UNLOCK uses no file.
        if request.knownMethod == .unlock, access.store.isCanonical(path) {
            return try respond(at: path)
        }
        return try access.store.performNow {
            let followsLast = request.knownMethod == .proppatch
            return try respond(at: try access.store.canonicalNow(path, followsLast: followsLast))
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
