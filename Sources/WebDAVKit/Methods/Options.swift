internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit

extension WebDAVHandler {
    /// OPTIONS (RFC 4918 sections 9.1 and 10.1): the classes of the handler, and the methods that
    /// the resource supports.
    func describe(_ call: WebDAVCall) async throws -> Response {
        let info = try await visibleInfo(call.path)
        var fields = WebDAVClasses.fields(isReadOnly: options.isReadOnly)
        fields.append(.allow, allowed(info, namesCollection: call.namesCollection))
        if info?.isCollection == false, !options.isReadOnly {
            fields.append(.acceptPatch, PartialUpdate.mediaType)
        }
        return Response(.ok, fields: fields)
    }

    /// The value of Allow for the resource of a request.
    func allowed(_ request: Request) async -> String {
        let segments = request.pathSegments ?? []
        var info: ResourceInfo?
        if let path = try? await resourcePath(segments) { info = try? await visibleInfo(path) }
        return allowed(info, namesCollection: segments.last == [])
    }

    private func allowed(_ info: ResourceInfo?, namesCollection: Bool) -> String {
        var methods = ["OPTIONS"]
        if info != nil { methods += ["GET", "HEAD", "PROPFIND"] }
        guard !options.isReadOnly else { return methods.joined(separator: ", ") }
        if info?.isCollection != true, !namesCollection { methods.append("PUT") }
        if info?.isCollection == false { methods.append("PATCH") }
        methods += info == nil ? ["MKCOL"] : ["DELETE", "COPY", "MOVE", "PROPPATCH"]
        methods.append("LOCK")
        if info != nil { methods.append("UNLOCK") }
        return methods.joined(separator: ", ")
    }
}

/// The fields by which clients recognise a WebDAV server.
enum WebDAVClasses {
    /// Without class 2, Finder and Office treat the share as read-only. Office, and old versions of
    /// Windows, look for MS-Author-Via. RFC 5689 section 3.1 requires `extended-mkcol`, and clients
    /// of partial updates look for `sabredav-partialupdate`.
    static func fields(isReadOnly: Bool) -> HTTPFields {
        let classes = isReadOnly ? "1, 3" : "1, 2, 3, extended-mkcol, sabredav-partialupdate"
        return ["DAV": classes, "MS-Author-Via": "DAV"]
    }
}
