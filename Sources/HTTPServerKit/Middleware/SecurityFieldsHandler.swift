internal import HTTPParser
public import HTTPServerCore

/// Adds fields that make browsers apply security rules (security headers) to the responses of
/// another handler, errors included. Fields that the handler has set stay.
public struct SecurityFieldsHandler: Handler {
    /// Strict-Transport-Security (RFC 6797): from now on browsers use HTTPS alone for the host. Answers
    /// to requests that came by plain HTTP have no such field (section 7.2), nor those whose host is an
    /// address, for which browsers ignore it (section 8.1.1).
    public struct TransportSecurity: Sendable, Hashable {
        /// How long browsers keep to it, in whole seconds; zero makes them forget.
        public var maxAge: Duration
        /// Whether it holds for all names below the host.
        public var includesSubdomains: Bool

        /// Creates a rule.
        /// - Parameters:
        ///   - maxAge: how long browsers keep to it.
        ///   - includesSubdomains: whether it holds for all names below the host.
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
        /// The value of Strict-Transport-Security. Set it only if the whole host is reached by
        /// HTTPS and stays so: browsers refuse plain HTTP as long as it lasts.
        public var transportSecurity: TransportSecurity?

        /// The defaults.
        public init() {}
    }

    private let inner: any Handler
    private let added: HTTPFields
    /// The fields for answers over HTTPS.
    private let addedOverHTTPS: HTTPFields

    /// Creates a handler.
    /// - Parameters:
    ///   - handler: the inner handler.
    ///   - options: what is added.
    public init(_ handler: some Handler, options: Options = Options()) {
        inner = handler
        added = options.fields
        addedOverHTTPS = options.fieldsOverHTTPS
    }

    /// Answers by the handler.
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
