internal import HTTPParser
public import HTTPServerCore

extension Router {
    /// Mounts WebDAV at a path, and answers for the paths above it what clients need that look at
    /// those first.
    ///
    /// Windows walks from the root of the server, and gives up where it learns of no WebDAV; GNOME
    /// walks up until it finds none.
    /// - Parameters:
    ///   - prefix: the path, not percent-encoded.
    ///   - handler: who answers.
    public mutating func mountWebDAV(_ prefix: String, _ handler: WebDAVHandler) {
        mountWebDAV(prefix, handler, isReadOnly: handler.options.isReadOnly)
    }

    /// The same for a handler around those of WebDAV, such as one that asks who it is.
    /// - Parameters:
    ///   - prefix: the path, not percent-encoded.
    ///   - handler: who answers.
    ///   - isReadOnly: whether nothing can be changed there.
    public mutating func mountWebDAV(
        _ prefix: String, _ handler: some Handler, isReadOnly: Bool = false
    ) {
        asteriskFields = WebDAVClasses.fields(isReadOnly: isReadOnly)
        let segments = prefix.split(separator: "/")
        for count in segments.indices {
            let path = "/" + segments[..<count].joined(separator: "/")
            on(.options, path) { (_: Request) throws -> Response in
                var fields = WebDAVClasses.fields(isReadOnly: isReadOnly)
                fields.append(.allow, "OPTIONS, GET, HEAD, PROPFIND")
                return Response(.ok, fields: fields)
            }
            on(.propfind, path) { (_: Request) throws -> Response in throw HTTPError(.notFound) }
        }
        mount(prefix, handler)
    }
}
