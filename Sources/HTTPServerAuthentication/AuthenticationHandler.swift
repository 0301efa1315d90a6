public import HTTPParser
public import HTTPServerCore
public import HTTPServerKit

/// Protects another handler by a login.
///
/// ```swift
/// let guarded = AuthenticationHandler(files, by: authenticator) { user, request in
///     user.name == "ann" || request.method == .get
/// }
/// router.mount("/files", guarded)
/// ```
///
/// A request without valid credentials gets 401 with the challenges of the authenticator, and one
/// that the user may not make 403. That happens before content is read and before `100 Continue` is
/// sent. Inner handlers, and the access log, find the user in `Request.identity`.
///
/// Answers to a logged-in user are private: where Cache-Control would let a shared cache keep them, by
/// `public`, `s-maxage` or `must-revalidate`, it says `private` (RFC 9111 section 3.5).
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
    ///   - isOptional: whether requests without credentials are let through, without an identity.
    ///     Wrong ones are refused all the same.
    ///   - exemptsPreflight: whether preflight requests of browsers pass without a login: `OPTIONS`
    ///     with Origin and Access-Control-Request-Method, which never carry credentials. The inner
    ///     handler answers them, so anybody may have it do what it does for OPTIONS. A
    ///     `CORSHandler` around this one answers them without that.
    ///   - optionsFields: fields of the answers to `OPTIONS` without a login; some clients of WebDAV
    ///     look for `DAV` even there.
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

    /// Answers by the handler, once the user is known.
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

    /// The handler's response for this user. Errors are responses, too: caches keep a 404.
    private func marked(_ response: Response, _ verdict: Verdict) -> Response {
        var response = response
        if isOptional { response.fields.append(.vary, "Authorization") }
        guard case .granted(_, let info) = verdict else { return response }
        // A handler inside may have set it by the same authenticator.
        if let info { response.fields["Authentication-Info"] = info }
        if response.fields.contains(.cacheControl),
            let own = Self.withoutPublic(response.fields.values(of: .cacheControl))
        {
            response.fields[.cacheControl] = own
        }
        return response
    }

    /// `nil` when there is nothing to change.
    /// - Parameter controls: the values of Cache-Control, which count together.
    private static func withoutPublic(_ controls: [String]) -> String? {
        // One that is no list stays as it is.
        let directives = controls.flatMap { FieldValues.list($0) ?? [$0] }
        let names = directives.map { $0.prefix { $0 != "=" && $0 != " " }.lowercased() }
        let isShared = names.contains { ["public", "s-maxage", "must-revalidate"].contains($0) }
        // With a list of fields it is about these alone (RFC 9111 section 5.2.2.7).
        let isPrivate = zip(names, directives).contains { $0 == "private" && !$1.contains("=") }
        guard isShared, !isPrivate || names.contains("public") else { return nil }
        let others = zip(names, directives).filter {
            !["public", "s-maxage", "private"].contains($0.0)
        }
        return (["private"] + others.map(\.1)).joined(separator: ", ")
    }
}
