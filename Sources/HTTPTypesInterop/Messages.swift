#if HTTPTypes
    public import HTTPParser
    public import HTTPTypes

    extension HTTPTypes.HTTPRequest {
        /// Takes over the head of a request.
        ///
        /// Host becomes the authority, and is no field any more; that of the target wins (RFC 9112
        /// section 3.2.2). CONNECT has no path.
        /// - Parameters:
        ///   - head: a head that the parser has read.
        ///   - scheme: `http` or `https`, which HTTP/1.1 does not send.
        public init(_ head: borrowing RequestHead, scheme: String? = nil) {
            self.init(
                head.method, target: head.target, fields: HTTPTypes.HTTPFields(head.fields),
                scheme: scheme)
        }

        /// Makes a request of its parts.
        /// - Parameter fields: the fields, Host among them.
        package init(
            _ method: HTTPMethod, target: RequestTarget, fields: HTTPTypes.HTTPFields,
            scheme: String?
        ) {
            var others = fields
            var authority = target.authority
            // swift-http-types has no name for Host, whose place is the authority.
            if let host = HTTPTypes.HTTPField.Name("Host") {
                authority = authority ?? others[host]
                others[host] = nil
            }
            self.init(
                method: Method(method), scheme: scheme, authority: authority,
                path: target.pathAndQuery, headerFields: others)
        }

        /// The fields as HTTP/1.1 sends them: Host comes first, and is the authority.
        public var fieldsWithHost: HTTPParser.HTTPFields {
            let others = HTTPParser.HTTPFields(headerFields)
            guard let authority else { return others }
            var all = HTTPParser.HTTPFields()
            all.reserveCapacity(others.count + 1)
            all.append(.host, authority)
            for field in others where field.name != .host { all.append(field) }
            return all
        }

        /// The target as HTTP/1.1 sends it to a server: the authority for CONNECT, the path otherwise
        /// (RFC 9112 section 3.2).
        public var target: String {
            (method == .connect ? authority : path) ?? "/"
        }
    }

    extension RequestTarget {
        /// Path and query; `nil` for the authority form.
        fileprivate var pathAndQuery: String? {
            switch form {
            case .authority: nil
            case .origin, .asterisk: text
            case .absolute: query.map { "\(path)?\($0)" } ?? path
            }
        }
    }

    extension HTTPTypes.HTTPRequest.Method {
        /// Takes over a method.
        public init(_ method: HTTPMethod) {
            // Both types take the same tokens.
            self = Self(rawValue: method.name) ?? .get
        }
    }

    extension HTTPMethod {
        /// Takes over a method; `nil` for what is no token.
        public init?(_ method: HTTPTypes.HTTPRequest.Method) { self.init(method.rawValue) }
    }

    extension HTTPTypes.HTTPResponse {
        /// Takes over the head of a response.
        public init(_ head: borrowing ResponseHead) {
            self.init(
                status: Status(head.status, reasonPhrase: head.reasonPhrase),
                headerFields: HTTPTypes.HTTPFields(head.fields))
        }
    }

    extension HTTPTypes.HTTPResponse.Status {
        /// Takes over a status.
        /// - Parameter reasonPhrase: `nil` for that of the registry.
        public init(_ status: HTTPStatus, reasonPhrase: String? = nil) {
            self.init(
                code: Int(status.code), reasonPhrase: reasonPhrase ?? status.reasonPhrase)
        }
    }

    extension HTTPStatus {
        /// Takes over a status; `nil` for a code below 100. The reason phrase is left behind.
        public init?(_ status: HTTPTypes.HTTPResponse.Status) { self.init(status.code) }
    }

    extension RequestSerializer {
        /// Writes the head of a request; see `head(_:target:fields:framing:closes:into:)`.
        ///
        /// Content-Length, Transfer-Encoding and Connection must not be among its fields.
        /// - Throws: what must not go on the wire; nothing is written then.
        public mutating func head(
            _ request: HTTPTypes.HTTPRequest, framing: BodyFraming = .none,
            closes: Bool = false, into buffer: inout ByteBuffer
        ) throws(HTTPMessageError) {
            try head(
                HTTPMethod(request.method) ?? .get, target: request.target,
                fields: request.fieldsWithHost, framing: framing, closes: closes, into: &buffer)
        }
    }

    extension ResponseSerializer {
        /// Writes the head of a response; see `head(_:fields:framing:to:connection:into:)`.
        ///
        /// Content-Length, Transfer-Encoding and Connection must not be among its fields. A code below
        /// 100 becomes 500.
        /// - Throws: what must not go on the wire; nothing is written then.
        public mutating func head(
            _ response: HTTPTypes.HTTPResponse, framing: BodyFraming,
            to requestMethod: HTTPMethod = .get, connection: ConnectionOption = .none,
            into buffer: inout ByteBuffer
        ) throws(HTTPMessageError) {
            try head(
                HTTPStatus(response.status) ?? .internalServerError,
                fields: HTTPParser.HTTPFields(response.headerFields), framing: framing,
                to: requestMethod, connection: connection, into: &buffer)
        }
    }
#endif
