internal import HTTPCodecs
internal import HTTPParser

/// What an authenticator says of a request.
package enum Verdict: Sendable {
    /// It brings no credentials.
    case anonymous
    /// It was sent by this user; Digest adds the value of Authentication-Info for the response.
    case granted(Identity, info: String?)
    /// It is refused: 401 with challenges, or 400, 429, 431.
    case refused(HTTPError)
}

/// The verdicts on a request, one for each authenticator that let it through by Digest: a count is
/// used once, so such a request must not be judged twice.
private enum VerdictKey: RequestKey { typealias Value = [ObjectIdentifier: Verdict] }

extension Authenticator {
    /// What Authorization says, read as far as that goes without accounts.
    private enum Claim {
        case basic(BasicCredentials)
        case digest(DigestCredentials)
        case settled(Verdict)
    }

    /// The verdict, if nothing has to be waited for.
    package func verdictNow(on request: Request) throws -> Verdict? {
        if let known = request[VerdictKey.self]?[ObjectIdentifier(self)] { return known }
        switch claim(request) {
        case .settled(let verdict): return verdict
        case .basic(let credentials):
            return try basicNow(credentials)
        case .digest(let credentials):
            return try digestNow(credentials, request).map { keep($0, request) }
        }
    }

    /// The verdict, which may take a while.
    package func verdict(on request: Request) async throws -> Verdict {
        if let known = try verdictNow(on: request) { return known }
        switch claim(request) {
        case .settled(let verdict): return verdict
        case .basic(let credentials):
            return try await basic(credentials, request)
        case .digest(let credentials):
            return keep(try await digest(credentials, request), request)
        }
    }

    private func keep(_ verdict: Verdict, _ request: Request) -> Verdict {
        guard case .granted(_, .some) = verdict else { return verdict }
        request[VerdictKey.self, default: [:]][ObjectIdentifier(self)] = verdict
        return verdict
    }

    private func claim(_ request: Request) -> Claim {
        let values = request.fields.values(of: .authorization)
        guard let value = values.first else { return .settled(.anonymous) }
        guard value.utf8.count <= options.credentialsByteLimit else {
            return .settled(
                .refused(
                    HTTPError(.requestHeaderFieldsTooLarge, "the credentials are too long")))
        }
        // Two readers could see different users.
        guard values.count == 1, let field = AuthorizationField(value) else {
            return .settled(.refused(Self.malformed))
        }
        switch field.scheme {
        case "basic" where options.schemes.contains(.basic):
            guard case .token68(let token) = field.content,
                let credentials = BasicCredentials(token)
            else { return .settled(.refused(challenge())) }
            return .basic(credentials)
        case "digest" where options.schemes.contains(.digest):
            do throws(DigestCredentials.Fault) {
                return .digest(try DigestCredentials(field))
            } catch {
                return .settled(.refused(error == .malformed ? Self.malformed : challenge()))
            }
        default: return .settled(.refused(challenge()))
        }
    }

    static var malformed: HTTPError { HTTPError(.badRequest, "the credentials are malformed") }

    // MARK: Guessing

    func isHeldUp(_ request: Request) -> Bool {
        guard options.slowsGuessing, let network = request.peerNetwork else { return false }
        let now = clock()
        return failures.withLock { $0.isHeldUp(network, now: now) }
    }

    /// Waits for the request's turn to try a password.
    func waitForTurn(_ request: Request) async throws {
        guard options.slowsGuessing, let network = request.peerNetwork else { return }
        let now = clock()
        switch failures.withLock({ $0.wait(network, now: now) }) {
        case .none: break
        case .time(let time): try await Task.sleep(for: .nanoseconds(Int64(time)))
        case .refused:
            let seconds = FailureTable.longestWait / 1_000_000_000
            throw HTTPError(.tooManyRequests, fields: [.retryAfter: "\(seconds)"])
        }
    }

    /// Somebody has tried a wrong password, or a name that there is not.
    func failed(_ request: Request) -> Verdict {
        if options.slowsGuessing, let network = request.peerNetwork {
            let now = clock()
            failures.withLock { $0.failed(network, now: now) }
        }
        return .refused(challenge())
    }
}

extension Request {
    fileprivate var peerNetwork: PeerNetwork? { storage.connection.peerAddress.network }

    fileprivate subscript<Key: RequestKey>(
        key: Key.Type, default value: Key.Value
    ) -> Key.Value {
        get { self[key] ?? value }
        nonmutating set { self[key] = newValue }
    }
}
