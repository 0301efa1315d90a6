#if HTTPTypes
    internal import HTTPParser
    public import HTTPServerCore
    internal import HTTPServerKit
    public import HTTPTypes
    internal import HTTPTypesInterop

    extension HTTPTypes.HTTPRequest {
        /// Takes over the head of a request to a handler. Host becomes the authority.
        public init(_ request: Request) {
            self.init(
                request.method, target: request.originalTarget,
                fields: HTTPTypes.HTTPFields(request.fields),
                scheme: request.scheme)
        }
    }

    extension Response {
        /// Takes over the head of a response. A code below 100 becomes 500.
        /// - Parameters:
        ///   - response: status and fields. The server writes Content-Length, Transfer-Encoding and
        ///     Connection by itself: they are left out.
        ///   - body: the content.
        public init(_ response: HTTPTypes.HTTPResponse, body: ResponseBody = .empty) {
            var fields = HTTPParser.HTTPFields(response.headerFields)
            for name: HTTPFieldName in [.contentLength, .transferEncoding, .connection] {
                fields.remove(name)
            }
            self.init(
                HTTPStatus(response.status) ?? .internalServerError, fields: fields, body: body)
        }
    }

    extension HTTPTypes.HTTPResponse {
        /// Takes over the head of a handler's response. Content-Type is that of its body where its
        /// fields have none.
        public init(_ response: Response) {
            var fields = HTTPTypes.HTTPFields(response.fields)
            if fields[.contentType] == nil, !response.body.mediaType.isEmpty {
                fields[.contentType] = response.body.mediaType
            }
            self.init(status: Status(response.status), headerFields: fields)
        }
    }
#endif
