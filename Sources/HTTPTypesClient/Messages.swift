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
        /// - Returns: `nil` where scheme, authority and path make no URL, and with the method CONNECT.
        public init?(_ request: HTTPTypes.HTTPRequest, body: ClientBody = .none) {
            guard request.method != .connect, let method = HTTPMethod(request.method),
                let scheme = request.scheme, let authority = request.authority,
                let url = URL(string: "\(scheme)://\(authority)\(request.path ?? "/")")
            else { return nil }
            self.init(
                method, url, fields: HTTPParser.HTTPFields(request.headerFields), body: body)
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
