internal import HTTPParser
public import HTTPServerCore
public import HTTPServerKit

extension Router {
    /// Mounts WebDAV at a path, and answers for the paths above it what clients need that look at
    /// those first.
    ///
    /// Windows walks from the root of the server, and gives up where it learns of no WebDAV; GNOME
    /// walks up until it finds none. Where WebDAV is mounted inside of WebDAV, the inner one answers
    /// for its path, whichever was mounted first.
    /// - Parameters:
    ///   - prefix: the path, not percent-encoded.
    ///   - handler: the WebDAV handler.
    public mutating func mountWebDAV(_ prefix: String, _ handler: WebDAVHandler) {
        mountWebDAV(prefix, handler, isReadOnly: handler.options.isReadOnly)
    }

    /// The same with a handler around those of WebDAV, such as one that requires a login.
    ///
    /// An `AuthenticationHandler` passes on preflight requests, which browsers send before a
    /// request to another origin, and the answer to OPTIONS reveals whether a resource exists. Make
    /// it require a login then, too:
    ///
    /// ```swift
    /// let guarded = AuthenticationHandler(
    ///     handler, by: authenticator, exemptsPreflight: false,
    ///     optionsFields: WebDAVHandler.classFields())
    /// router.mountWebDAV("/dav", guarded)
    /// ```
    /// - Parameters:
    ///   - prefix: the path, not percent-encoded.
    ///   - handler: the handler.
    ///   - isReadOnly: whether nothing can be changed there.
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
        // The newest route answers, so those further inside come last.
        for inner in others.sorted(by: { $0.segments.count < $1.segments.count })
        where inner.isWithin(mount.segments) {
            inner.add(&self)
        }
        for count in mount.segments.indices {
            let outer = Array(mount.segments[..<count])
            // A handler that is mounted there, or above, answers better.
            if mounts.contains(where: { $0.covers(outer) }) { continue }
            answer(outer, Self.classes(of: mounts.filter { $0.isWithin(outer) }))
        }
    }

    /// Nothing can be changed where all are read-only.
    private static func classes(of mounts: [RouterLayout.Mount]) -> HTTPFields {
        WebDAVClasses.fields(isReadOnly: mounts.allSatisfy(\.isReadOnly))
    }

    /// Answers for a path around mounts, with and without a slash at its end.
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
