internal import HTTPCodecs
public import HTTPParser
public import HTTPServerCore

/// Lets pages of other origins read the answers of another handler: CORS, as the Fetch standard
/// defines it (section 3.2, "CORS protocol").
///
/// ```swift
/// var options = CORSHandler.Options()
/// options.origins = .listed(["https://app.example.org"])
/// options.allowsCredentials = true
/// let handler = CORSHandler(authenticated, options: options)
/// ```
///
/// This handler answers preflights: OPTIONS with Origin and Access-Control-Request-Method. Put it
/// around the handler that authenticates, because browsers send no credentials with a preflight.
/// The inner handler answers all other requests, and this one adds the fields that let pages read
/// the answers, errors included. CORS does not prevent requests; see `OriginCheckHandler`.
public struct CORSHandler: Handler {
    /// The origins whose pages may read responses.
    public enum Origins: Sendable {
        /// Pages of every origin.
        case any
        /// Pages of these origins, such as `https://app.example.org` or `http://localhost:3000`:
        /// scheme, host and, unless it is the scheme's default, port.
        case listed(Set<String>)
        /// Pages of the origins for which the closure returns `true`. It gets the value of Origin.
        case matching(@Sendable (String) -> Bool)
    }

    /// The rules.
    public struct Options: Sendable {
        /// The origins whose pages may read responses.
        public var origins = Origins.any
        /// Whether pages without an origin, such as local files and sandboxed frames, may read
        /// responses. They send the origin `null`, which any page can produce. `Origins.any`
        /// includes them.
        public var allowsNull = false
        /// Whether pages may read answers to requests with cookies or credentials. Cannot be
        /// combined with `Origins.any`: every page that a user visits could act as that user.
        public var allowsCredentials = false
        /// The methods that pages may use in addition to GET, HEAD and POST, which need no
        /// preflight.
        public var methods: Set<HTTPMethod> = [.get, .head, .post, .put, .patch, .delete]
        /// The names of the request fields that pages may set; `nil` allows all fields.
        public var requestFields: Set<HTTPFieldName>?
        /// The names of the response fields that pages may read in addition to those that the Fetch
        /// standard always allows.
        public var exposedFields: [HTTPFieldName] = []
        /// How long browsers may cache the answer to a preflight, in whole seconds; `nil` leaves it
        /// to them, usually 5 seconds. Browsers have an upper limit of 2 hours or more.
        public var maxAge: Duration? = .seconds(600)

        /// The defaults.
        public init() {}
    }

    private let inner: any Handler
    private let options: Options
    private let exposed: String
    private let methods: String

    /// Creates a handler.
    /// - Parameters:
    ///   - handler: the inner handler.
    ///   - options: the rules.
    public init(_ handler: some Handler, options: Options = Options()) {
        if case .any = options.origins {
            precondition(
                !options.allowsCredentials, "CORS with credentials needs a list of origins")
        }
        inner = handler
        self.options = options
        exposed = options.exposedFields.map(\.text).joined(separator: ", ")
        methods = options.methods.map(\.name).sorted().joined(separator: ", ")
    }

    /// Answers preflights itself, and other requests with the inner handler's response.
    public func answer(_ request: Request) throws -> Answer {
        if let preflight = preflight(request) { return .now(preflight) }
        return try inner.renderedAnswer(to: request).map { shared($0, with: request) }
    }

    // MARK: Answers

    /// The inner handler's response, with the fields that let pages read it.
    private func shared(_ response: Response, with request: Request) -> Response {
        var response = response
        // A response that is the same for all origins must stay cacheable. A cache may serve it to
        // pages later, so it gets the fields even if the request has no Origin ("CORS protocol and
        // HTTP caches").
        if !isForAll { response.fields.addVary("Origin") }
        guard let allowed = allowed(request.fields[.origin]) else { return response }
        response.fields[Self.allowOrigin] = allowed
        if options.allowsCredentials { response.fields[Self.allowCredentials] = "true" }
        if !exposed.isEmpty { response.fields[Self.exposeFields] = exposed }
        return response
    }

    /// Whether all origins get the same answer.
    private var isForAll: Bool {
        if case .any = options.origins { return true }
        return false
    }

    /// The value of Access-Control-Allow-Origin; `nil` for an origin that may not read responses.
    private func allowed(_ origin: String?) -> String? {
        if isForAll { return "*" }
        // An origin is ASCII (RFC 6454 section 6.2), which compares byte by byte.
        guard let origin, origin.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        if origin == "null" { return options.allowsNull ? origin : nil }
        switch options.origins {
        case .any: return origin
        case .listed(let origins): return origins.contains(origin) ? origin : nil
        case .matching(let isAllowed): return isAllowed(origin) ? origin : nil
        }
    }

    // MARK: Preflights

    /// The answer to a preflight; `nil` for other requests.
    private func preflight(_ request: Request) -> Response? {
        guard request.knownMethod == .options, let origin = request.fields[.origin],
            let method = request.fields[Self.requestMethod]
        else { return nil }
        var response = Response(.noContent)
        response.fields[.vary] =
            "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"
        guard let allowed = allowed(origin), isAllowed(method) else {
            response.status = .forbidden
            return response
        }
        guard let fields = allowedFields(request.fields.list(Self.requestFields)) else {
            response.status = .forbidden
            return response
        }
        response.fields[Self.allowOrigin] = allowed
        if options.allowsCredentials { response.fields[Self.allowCredentials] = "true" }
        response.fields["Access-Control-Allow-Methods"] = methods
        if !fields.isEmpty { response.fields["Access-Control-Allow-Headers"] = fields }
        if let age = options.maxAge {
            response.fields["Access-Control-Max-Age"] = "\(max(age.components.seconds, 0))"
        }
        return response
    }

    private func isAllowed(_ method: String) -> Bool {
        // Fetch standard, "CORS-safelisted method".
        if ["GET", "HEAD", "POST"].contains(where: method.hasBytes(of:)) { return true }
        return options.methods.contains { method.hasBytes(of: $0.name) }
    }

    /// The requested field names, joined by commas, if pages may set all of them; else `nil`.
    private func allowedFields(_ list: String?) -> String? {
        guard let list, !list.isEmpty else { return "" }
        guard let names = FieldValues.tokens(list) else { return nil }
        if let own = options.requestFields {
            let isAllowed = names.allSatisfy { HTTPFieldName($0).map(own.contains) ?? false }
            guard isAllowed else { return nil }
        }
        return names.joined(separator: ", ")
    }

    private static let allowOrigin: HTTPFieldName = "Access-Control-Allow-Origin"
    private static let allowCredentials: HTTPFieldName = "Access-Control-Allow-Credentials"
    private static let exposeFields: HTTPFieldName = "Access-Control-Expose-Headers"
    private static let requestMethod: HTTPFieldName = "Access-Control-Request-Method"
    private static let requestFields: HTTPFieldName = "Access-Control-Request-Headers"
}
