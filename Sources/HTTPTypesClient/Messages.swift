#if HTTPTypes
    internal import HTTPParser
    public import HTTPTypes
    internal import HTTPTypesInterop
    public import URLClient

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    extension ClientRequest {
        /// Takes over the head of a request.
        /// - Parameters:
        ///   - request: its scheme, authority and path make the URL.
        ///   - body: the content.
        /// - Returns: `nil` for the method CONNECT, and if scheme, authority and path do not make a
        ///   URL whose host is that of the authority.
        public init?(_ request: HTTPTypes.HTTPRequest, body: ClientBody = .none) {
            guard request.method != .connect, let method = HTTPMethod(request.method),
                let scheme = request.scheme, let authority = request.authority,
                let url = Self.joined(scheme, authority, request.path ?? "")
            else { return nil }
            self.init(
                method, url, fields: HTTPParser.HTTPFields(request.headerFields), body: body)
        }

        /// Refuses parts that would move the border between host and path: `.example.net/` as a
        /// path makes the host longer, and `@example.net/` makes a user name of it. RFC 9113
        /// section 8.3.1 wants a path that begins with a slash, and no user in the authority. A
        /// fragment would not be sent.
        private static func joined(_ scheme: String, _ authority: String, _ path: String) -> URL? {
            let path = path.isEmpty ? "/" : path
            let delimiters = Array("/?#@\\".utf8)
            guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(UInt8(ascii: "#")),
                !scheme.utf8.contains(UInt8(ascii: ":")),
                !(scheme + authority).utf8.contains(where: { delimiters.contains($0) })
            else { return nil }
            return URL(string: "\(scheme)://\(authority)\(path)")
        }
    }

    extension HTTPTypes.HTTPRequest {
        /// Takes over the head of a request to a server. User, password and fragment of its URL are left
        /// out.
        public init(_ request: ClientRequest) {
            let url = request.url
            let path = url.path(percentEncoded: true)
            let query = url.query(percentEncoded: true)
            self.init(
                method: Method(request.method), scheme: url.scheme,
                authority: request.origin?.authority,
                path: (path.isEmpty ? "/" : path) + (query.map { "?\($0)" } ?? ""),
                headerFields: HTTPTypes.HTTPFields(request.fields))
        }
    }

    extension HTTPTypes.HTTPResponse {
        /// Takes over the head of a server's response.
        public init(_ response: ClientResponse) {
            self.init(
                status: Status(response.status, reasonPhrase: response.reasonPhrase),
                headerFields: HTTPTypes.HTTPFields(response.fields))
        }
    }
#endif
