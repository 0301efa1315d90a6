internal import HTTPCodecs
internal import HTTPParser
package import HTTPServerCore
package import HTTPServerKit
internal import ToolkitSystem

/// An authenticator's decision on a request.
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

/// The authenticators that have compared the password of a request with what they remember: each
/// counts that once.
private enum ComparisonKey: RequestKey { typealias Value = Set<ObjectIdentifier> }

extension Authenticator {
    /// The credentials in Authorization, parsed as far as possible without accounts.
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
            return try basicNow(credentials, request)
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

    /// Stands for a user in the tables. Its key is that of the process, so that no client can find
    /// two names with the same number. Spellings of a name that find the same account have the same.
    static func number(of name: String) -> UInt64 {
        var hasher = Hasher()
        if name.utf8.count <= InvalidUserName.byteLimit {
            hasher.combine(name)
        } else {
            // No account has it, and its canonical form would take long.
            for byte in name.utf8 { hasher.combine(byte) }
        }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    func isHeldUp(_ request: Request, _ user: UInt64) -> Bool {
        guard options.slowsGuessing, let network = request.peerNetwork else { return false }
        let now = clock()
        return failures.withLock { $0.isHeldUp(network, user: user, now: now) }
    }

    /// Whether credentials that are known to be right are let through at once. On the connection on
    /// which the user has logged in last they are, whatever others guess, and without the lock.
    func admitsKnown(_ request: Request, _ user: UInt64) -> Bool {
        guard options.slowsGuessing, let network = request.peerNetwork else { return true }
        if request.storage.connection.isLoggedIn(loginNumber(user, network)) { return true }
        let now = clock()
        return failures.withLock { $0.admitsKnown(network, user: user, now: now) }
    }

    /// Stands for a user of this authenticator at a connection; never 0. The network is a part of it: a
    /// proxy sends the requests of many clients over one connection.
    private func loginNumber(_ user: UInt64, _ network: PeerNetwork) -> UInt64 {
        let client = UInt64(UInt(bitPattern: network.hashValue))
        return (user ^ client ^ UInt64(UInt(bitPattern: ObjectIdentifier(self)))) | 1
    }

    /// The user has logged in on the connection.
    func keepLogin(_ request: Request, _ user: UInt64) {
        guard options.slowsGuessing, let network = request.peerNetwork else { return }
        request.storage.connection.setLogin(loginNumber(user, network))
    }

    /// The password was compared with what is known to be right, and is not among that.
    func missed(_ request: Request, _ user: UInt64) {
        guard options.slowsGuessing, let network = request.peerNetwork else { return }
        let own = ObjectIdentifier(self)
        guard request[ComparisonKey.self, default: []].insert(own).inserted else { return }
        let now = clock()
        failures.withLock { $0.missed(network, user: user, now: now) }
    }

    /// Waits for the request's turn to try a password.
    func waitForTurn(_ request: Request, _ user: UInt64) async throws {
        guard options.slowsGuessing, let network = request.peerNetwork else { return }
        // A cached login ends while others guess passwords. A connection gets one such attempt
        // until its next login: others of the same network may guess through the same proxy.
        if request.storage.connection.takeLogin(loginNumber(user, network)) { return }
        let now = clock()
        switch failures.withLock({ $0.wait(network, user: user, now: now) }) {
        case .none: break
        case .time(let time): try await Task.sleep(for: .nanoseconds(Int64(time)))
        case .refused:
            let seconds = FailureTable.longestWait / 1_000_000_000
            throw HTTPError(.tooManyRequests, fields: [.retryAfter: "\(seconds)"])
        }
    }

    /// The password was right.
    func succeeded(_ request: Request, _ user: UInt64) {
        guard options.slowsGuessing, let network = request.peerNetwork else { return }
        let now = clock()
        failures.withLock { $0.succeeded(network, user: user, now: now) }
        keepLogin(request, user)
    }

    /// A wrong password, or an unknown user.
    func failed(_ request: Request, _ user: UInt64) -> Verdict {
        if options.slowsGuessing, let network = request.peerNetwork {
            let now = clock()
            failures.withLock { $0.failed(network, user: user, now: now) }
        }
        return .refused(challenge())
    }
}

extension Request {
    fileprivate var peerNetwork: PeerNetwork? { peerAddress.remoteClient }

    fileprivate subscript<Key: RequestKey>(
        key: Key.Type, default value: Key.Value
    ) -> Key.Value {
        get { self[key] ?? value }
        nonmutating set { self[key] = newValue }
    }
}
