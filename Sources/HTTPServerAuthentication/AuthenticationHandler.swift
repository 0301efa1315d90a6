public import HTTPParser
public import HTTPServerCore
public import HTTPServerKit

/// Requires a login for another handler.
///
/// ```swift
/// let guarded = AuthenticationHandler(files, by: authenticator) { user, request in
///     user.name == "ann" || request.method == .get
/// }
/// router.mount("/files", guarded)
/// ```
///
/// A request without valid credentials gets 401 with the challenges of the authenticator. A request
/// that `allows` rejects gets 403. Both are decided before content is read and before 100 Continue
/// is sent. Inner handlers and the access log find the user in `Request.identity`.
///
/// Answers to a logged-in user are private: if Cache-Control has `public`, `s-maxage` or
/// `must-revalidate`, with which shared caches could store the answer, `private` is added and
/// `public` and `s-maxage` are removed (RFC 9111 section 3.5).
public struct AuthenticationHandler: Handler {
    private let handler: any Handler
    private let authenticator: Authenticator
    private let isOptional: Bool
    private let exemptsPreflight: Bool
    private let optionsFields: HTTPFields
    private let allows: (@Sendable (Identity, Request) -> Bool)?

    /// Creates a handler.
    /// - Parameters:
    ///   - handler: the inner handler.
    ///   - authenticator: identifies the sender of a request.
    ///   - isOptional: whether requests without credentials pass, without an identity. Wrong
    ///     credentials are still refused.
    ///   - exemptsPreflight: whether preflight requests of browsers pass without a login: `OPTIONS`
    ///     with Origin and Access-Control-Request-Method, which never carry credentials. The inner
    ///     handler then answers such requests from any client. Prefer a `CORSHandler` around this
    ///     handler, which answers preflights itself.
    ///   - optionsFields: fields that are added if `OPTIONS` is refused for a missing or invalid
    ///     login; some WebDAV clients look for `DAV` even in this answer.
    ///   - allows: whether a logged-in user may make the request. It must not block.
    public init(
        _ handler: some Handler, by authenticator: Authenticator, isOptional: Bool = false,
        exemptsPreflight: Bool = false, optionsFields: HTTPFields = HTTPFields(),
        allows: (@Sendable (Identity, Request) -> Bool)? = nil
    ) {
        self.handler = handler
        self.authenticator = authenticator
        self.isOptional = isOptional
        self.exemptsPreflight = exemptsPreflight
        self.optionsFields = optionsFields
        self.allows = allows
    }

    /// Authenticates the request, and answers with the inner handler's response.
    public func answer(_ request: Request) throws -> Answer {
        if isExempt(request) { return try handler.answer(request) }
        if let verdict = try authenticator.verdictNow(on: request) {
            try admit(verdict, request)
            return try handler.renderedAnswer(to: request).map { marked($0, verdict) }
        }
        return .later {
            let verdict = try await authenticator.verdict(on: request)
            try admit(verdict, request)
            let answer = handler.renderedAnswer(to: request)
            return marked(try await answer.response(to: request), verdict)
        }
    }

    private func isExempt(_ request: Request) -> Bool {
        guard exemptsPreflight, request.knownMethod == .options else { return false }
        return request.fields.contains(.origin)
            && request.fields.contains("Access-Control-Request-Method")
    }

    /// Sets the identity, or throws the error that the client gets.
    private func admit(_ verdict: Verdict, _ request: Request) throws(HTTPError) {
        switch verdict {
        case .anonymous:
            if !isOptional { throw told(authenticator.challenge(), request) }
        case .refused(let error): throw told(error, request)
        case .granted(let identity, _):
            request.identity = identity
            if let allows, !allows(identity, request) { throw HTTPError(.forbidden) }
        }
    }

    private func told(_ error: HTTPError, _ request: Request) -> HTTPError {
        guard !optionsFields.isEmpty, request.knownMethod == .options else { return error }
        var error = error
        for field in optionsFields { error.fields.append(field) }
        return error
    }

    /// The inner handler's response, marked as private to the user. This includes errors, because
    /// caches store a 404.
    private func marked(_ response: Response, _ verdict: Verdict) -> Response {
        var response = response
        if isOptional { response.fields.append(.vary, "Authorization") }
        guard case .granted(_, let info) = verdict else { return response }
        // Replaces the field of an inner handler with the same authenticator.
        if let info { response.fields["Authentication-Info"] = info }
        if response.fields.contains(.cacheControl),
            let own = Self.withoutPublic(response.fields.values(of: .cacheControl))
        {
            response.fields[.cacheControl] = own
        }
        return response
    }

    /// The private form of Cache-Control; `nil` if nothing has to be changed.
    /// - Parameter controls: the values of all Cache-Control lines.
    private static func withoutPublic(_ controls: [String]) -> String? {
        // A value that is not a valid list stays as it is.
        let directives = controls.flatMap { FieldValues.list($0) ?? [$0] }
        let names = directives.map { $0.prefix { $0 != "=" && $0 != " " }.lowercased() }
        let isShared = names.contains { ["public", "s-maxage", "must-revalidate"].contains($0) }
        // `private` with a list of fields applies only to these (RFC 9111 section 5.2.2.7).
        let isPrivate = zip(names, directives).contains { $0 == "private" && !$1.contains("=") }
        guard isShared, !isPrivate || names.contains("public") else { return nil }
        let others = zip(names, directives).filter {
            !["public", "s-maxage", "private"].contains($0.0)
        }
        return (["private"] + others.map(\.1)).joined(separator: ", ")
    }
}
