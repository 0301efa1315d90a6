internal import HTTPCodecs
internal import HTTPParser
public import HTTPServerCore

/// Refuses requests that a page of another site may have sent, with 403, as a guard against
/// cross-site request forgery.
///
/// Requests with safe methods (RFC 9110 section 9.2.1) pass: handlers must not change anything for
/// them. A request with another method passes if one of these checks succeeds:
///
/// - Origin is one of ``Options/trustedOrigins``.
/// - Sec-Fetch-Site is `same-origin` or `none`.
/// - Without Sec-Fetch-Site, host and port of Origin are those of the request.
/// - Without Sec-Fetch-Site and Origin, ``Options/requiresProof`` is `false`. Current browsers send
///   at least one of these fields.
///
/// An attacker can evade these checks by DNS rebinding; see `HostCheckHandler`.
public struct OriginCheckHandler: Handler {
    /// The trusted origins.
    public struct Options: Sendable {
        /// Origins whose pages may send all requests, such as `https://app.example.org`.
        public var trustedOrigins: Set<String> = []
        /// Whether a request without Sec-Fetch-Site and Origin is refused. Clients other than
        /// browsers usually send neither.
        public var requiresProof = false

        /// The defaults.
        public init() {}
    }

    private let inner: any Handler
    private let options: Options

    /// Creates a handler.
    /// - Parameters:
    ///   - handler: the inner handler.
    ///   - options: the trusted origins.
    public init(_ handler: some Handler, options: Options = Options()) {
        inner = handler
        self.options = options
    }

    /// Refuses with 403; otherwise answers with the inner handler's answer.
    public func answer(_ request: Request) throws -> Answer {
        try check(request)
        return try inner.answer(request)
    }

    private func check(_ request: Request) throws(HTTPError) {
        guard !request.method.isSafe, !isBelieved(request) else { return }
        throw HTTPError(.forbidden, "pages of other sites must not send this")
    }

    private func isBelieved(_ request: Request) -> Bool {
        let origin = request.fields[.origin]
        if let origin, !Self.isValid(origin) { return false }
        if let origin, options.trustedOrigins.contains(origin) { return true }
        if let site = request.fields["Sec-Fetch-Site"] {
            return site.hasBytes(of: "same-origin") || site.hasBytes(of: "none")
        }
        guard let origin else { return !options.requiresProof }
        return Self.isOwn(origin, request.host)
    }

    /// An origin is ASCII (RFC 6454 section 6.2), which compares byte by byte.
    package static func isValid(_ origin: String) -> Bool { origin.utf8.allSatisfy { $0 < 0x80 } }

    /// Whether host and port of an origin are those of the request. The scheme is not compared: a
    /// server behind a TLS proxy does not know it.
    /// - Parameters:
    ///   - origin: a valid origin.
    ///   - host: host and optional port of the request.
    package static func isOwn(_ origin: String, _ host: String?) -> Bool {
        guard let host, let colon = origin.firstRange(of: "://") else { return false }
        let scheme = origin[..<colon.lowerBound]
        guard let port = scheme == "http" ? ":80" : scheme == "https" ? ":443" : nil else {
            return false
        }
        let own = host.lowercased()
        let sender = origin[colon.upperBound...].lowercased()
        return sender == own || sender + port == own || sender == own + port
    }
}
