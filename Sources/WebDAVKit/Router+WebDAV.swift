internal import HTTPParser
public import HTTPServerCore
public import HTTPServerKit

extension Router {
    /// Mounts WebDAV at a path, and answers OPTIONS and PROPFIND at the paths above it, where some
    /// clients look first.
    ///
    /// Windows starts at the root of the server and gives up at a path that does not announce
    /// WebDAV. GNOME walks up from the mount until PROPFIND gets 404. If one mount is inside of
    /// another, the inner one answers for its path, in whichever order they were mounted.
    /// - Parameters:
    ///   - prefix: the path, not percent-encoded.
    ///   - handler: the WebDAV handler.
    public mutating func mountWebDAV(_ prefix: String, _ handler: WebDAVHandler) {
        mountWebDAV(prefix, handler, isReadOnly: handler.options.isReadOnly)
    }

    /// Mounts a handler that wraps a WebDAV handler, such as one that requires a login.
    ///
    /// Some clients look for the field `DAV` in the answer to OPTIONS before they have a password:
    ///
    /// ```swift
    /// let guarded = AuthenticationHandler(
    ///     handler, by: authenticator, optionsFields: WebDAVHandler.classFields())
    /// router.mountWebDAV("/dav", guarded)
    /// ```
    /// - Parameters:
    ///   - prefix: the path, not percent-encoded.
    ///   - handler: the handler.
    ///   - isReadOnly: whether the handler refuses all changes.
    public mutating func mountWebDAV(
        _ prefix: String, _ handler: some Handler, isReadOnly: Bool = false
    ) {
        let mount = RouterLayout.Mount(
            segments: prefix.split(separator: "/").map(String.init), isReadOnly: isReadOnly
        ) { router in router.mount(prefix, handler) }
        let others = (layout?.mounts ?? []).filter { $0.segments != mount.segments }
        let mounts = others + [mount]
        layout = RouterLayout(mounts: mounts, asteriskFields: Self.classes(of: mounts))
        mount.add(&self)
        // Of several routes for a path the newest answers, so add the innermost mounts last.
        for inner in others.sorted(by: { $0.segments.count < $1.segments.count })
        where inner.isWithin(mount.segments) {
            inner.add(&self)
        }
        for count in mount.segments.indices {
            let outer = Array(mount.segments[..<count])
            // A WebDAV handler mounted at this path or above it answers already.
            if mounts.contains(where: { $0.covers(outer) }) { continue }
            answer(outer, Self.classes(of: mounts.filter { $0.isWithin(outer) }))
        }
    }

    /// The fields that announce WebDAV, as read-only if all mounts are read-only.
    private static func classes(of mounts: [RouterLayout.Mount]) -> HTTPFields {
        WebDAVClasses.fields(isReadOnly: mounts.allSatisfy(\.isReadOnly))
    }

    /// Adds the answers for a path above mounts, with and without a slash at its end.
    private mutating func answer(_ outer: [String], _ classes: HTTPFields) {
        let path = "/" + outer.joined(separator: "/")
        for spelling in outer.isEmpty ? [path] : [path, path + "/"] {
            on(.options, spelling) { (_: Request) throws -> Response in
                var fields = classes
                fields.append(.allow, "OPTIONS, GET, HEAD, PROPFIND")
                return Response(.ok, fields: fields)
            }
            on(.propfind, spelling) { (_: Request) throws -> Response in
                throw HTTPError(.notFound)
            }
        }
    }
}
