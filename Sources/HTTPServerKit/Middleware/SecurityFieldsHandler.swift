internal import HTTPParser
public import HTTPServerCore

/// Adds fields that make browsers apply security rules (security headers) to the responses of
/// another handler, errors included. Fields that the handler has set stay.
public struct SecurityFieldsHandler: Handler {
    /// Strict-Transport-Security (RFC 6797): browsers use only HTTPS for the host from now on. The
    /// field is omitted from answers over plain HTTP (section 7.2), and if the request's host is an
    /// address, because browsers ignore it then (section 8.1.1).
    public struct TransportSecurity: Sendable, Hashable {
        /// How long browsers apply the rule, in whole seconds; zero removes it.
        public var maxAge: Duration
        /// Whether the rule includes all names below the host.
        public var includesSubdomains: Bool

        /// Creates a rule.
        /// - Parameters:
        ///   - maxAge: how long browsers apply the rule, in whole seconds.
        ///   - includesSubdomains: whether the rule includes all names below the host.
        public init(maxAge: Duration = .seconds(31_536_000), includesSubdomains: Bool = false) {
            self.maxAge = maxAge
            self.includesSubdomains = includesSubdomains
        }
    }

    /// The fields to add; `nil` leaves a field out. Each must be a valid field value.
    public struct Options: Sendable {
        /// Whether `X-Content-Type-Options: nosniff` keeps browsers from guessing media types.
        public var forbidsSniffing = true
        /// The value of Referrer-Policy.
        public var referrerPolicy: String? = "strict-origin-when-cross-origin"
        /// The value of X-Frame-Options, `DENY` or `SAMEORIGIN`.
        public var frameOptions: String?
        /// The value of Content-Security-Policy.
        public var contentSecurityPolicy: String?
        /// The value of Cross-Origin-Opener-Policy, such as `same-origin`.
        public var openerPolicy: String?
        /// The value of Cross-Origin-Resource-Policy, such as `same-origin`.
        public var resourcePolicy: String?
        /// The value of Permissions-Policy.
        public var permissionsPolicy: String?
        /// The value of Strict-Transport-Security. Set it only if the whole host is served over
        /// HTTPS and will be until `maxAge` has passed: until then, browsers refuse plain HTTP.
        public var transportSecurity: TransportSecurity?

        /// The defaults.
        public init() {}
    }

    private let inner: any Handler
    private let added: HTTPFields
    /// The fields for answers over HTTPS to a host that is not an address.
    private let addedOverHTTPS: HTTPFields

    /// Creates a handler.
    /// - Parameters:
    ///   - handler: the inner handler.
    ///   - options: the fields to add.
    public init(_ handler: some Handler, options: Options = Options()) {
        inner = handler
        added = options.fields
        addedOverHTTPS = options.fieldsOverHTTPS
    }

    /// Answers with the inner handler's response and the added fields.
    public func answer(_ request: Request) throws -> Answer {
        let added = fields(for: request)
        return try inner.renderedAnswer(to: request).map { response in
            var response = response
            if response.fields.isEmpty {
                response.fields = added
            } else {
                for field in added where !response.fields.contains(field.name) {
                    response.fields.append(field)
                }
            }
            return response
        }
    }
}

extension SecurityFieldsHandler {
    private func fields(for request: Request) -> HTTPFields {
        guard request.isSecure, let host = request.host, !AllowedHosts.isAddress(host) else {
            return added
        }
        return addedOverHTTPS
    }
}

extension SecurityFieldsHandler.Options {
    fileprivate var fields: HTTPFields {
        var fields = HTTPFields()
        func add(_ name: HTTPFieldName, _ value: String?) {
            if let value { fields.append(name, value) }
        }
        add(.xContentTypeOptions, forbidsSniffing ? "nosniff" : nil)
        add("Referrer-Policy", referrerPolicy)
        add("X-Frame-Options", frameOptions)
        add(.contentSecurityPolicy, contentSecurityPolicy)
        add("Cross-Origin-Opener-Policy", openerPolicy)
        add("Cross-Origin-Resource-Policy", resourcePolicy)
        add("Permissions-Policy", permissionsPolicy)
        return fields
    }

    fileprivate var fieldsOverHTTPS: HTTPFields {
        var fields = fields
        guard let rule = transportSecurity else { return fields }
        let age = max(rule.maxAge.components.seconds, 0)
        fields.append(
            .strictTransportSecurity,
            "max-age=\(age)" + (rule.includesSubdomains ? "; includeSubDomains" : ""))
        return fields
    }
}
