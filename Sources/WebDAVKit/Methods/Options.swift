internal import HTTPParser
internal import HTTPServerCore

extension WebDAVHandler {
    /// OPTIONS (RFC 4918 sections 9.1 and 10.1): the same classes for everybody, and the methods
    /// that make sense for what is there.
    func describe(_ call: WebDAVCall) async throws -> Response {
        let info = try await visibleInfo(call.path)
        let allowed = Self.allowed(isReadOnly: options.isReadOnly).split(separator: ", ")
            .filter { method in
                switch method {
                case "PUT": info?.isCollection != true
                case "MKCOL": info == nil
                case "OPTIONS", "LOCK": true
                default: info != nil
                }
            }
        var fields = WebDAVClasses.fields(isReadOnly: options.isReadOnly)
        fields.append(.allow, allowed.joined(separator: ", "))
        return Response(.ok, fields: fields)
    }
}

/// What tells clients that a server knows WebDAV.
enum WebDAVClasses {
    /// Without class 2 Finder and Office know that they cannot write. Office, and old versions of
    /// Windows, look for MS-Author-Via.
    static func fields(isReadOnly: Bool) -> HTTPFields {
        ["DAV": isReadOnly ? "1, 3" : "1, 2, 3", "MS-Author-Via": "DAV"]
    }
}
