internal import HTTPCodecs
internal import HTTPParser
public import HTTPServerCore

/// Answers requests that change something only if no foreign page can have sent them, as a guard
/// against cross-site request forgery; others are 403.
///
/// Requests of safe methods (RFC 9110 section 9.2.1) pass: handlers must not change anything on
/// those. With other methods it trusts, in this order: an Origin that is trusted; Sec-Fetch-Site,
/// which must be `same-origin` or `none`; Origin, whose host and port must be those that the
/// request is for. Requests that have neither do not come from pages of browsers of this decade,
/// and pass by default.
///
/// It holds only against pages that cannot take the server's own name; see `HostCheckHandler`.
public struct OriginCheckHandler: Handler {
    /// The trusted origins.
    public struct Options: Sendable {
        /// Origins whose pages may send anything, such as `https://app.example.org`.
        public var trustedOrigins: Set<String> = []
        /// Whether a request without Sec-Fetch-Site and Origin is refused, too. Programs other than
        /// browsers send neither.
        public var requiresProof = false

        /// The defaults.
        public init() {}
    }

    private let inner: any Handler
    private let options: Options

    /// Creates a handler.
    /// - Parameters:
    ///   - handler: the inner handler.
    ///   - options: what is believed.
    public init(_ handler: some Handler, options: Options = Options()) {
        inner = handler
        self.options = options
    }

    /// Refuses, or answers by the handler.
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

    /// Whether an origin is that of the host that a request is for. The scheme is not compared: a
    /// server behind a TLS proxy does not know it.
    /// - Parameter origin: a valid one.
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
