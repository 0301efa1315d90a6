internal import HTTPCodecs
internal import HTTPParser
package import HTTPServerCore
package import HTTPServerKit
internal import ToolkitSystem

/// An authenticator's decision on a request.
package enum Verdict: Sendable {
    /// The request has no credentials.
    case anonymous
    /// This user has sent the request. With Digest, `info` is the value of Authentication-Info for
    /// the response.
    case granted(Identity, info: String?)
    /// The request is refused: 401 with challenges, 400 or 431.
    case refused(HTTPError)
}

/// The verdicts of all authenticators that have granted a request by Digest. A count can be used
/// only once, so an authenticator must not check such a request twice.
private enum VerdictKey: RequestKey { typealias Value = [ObjectIdentifier: Verdict] }

/// The authenticators that have compared a request's password with their cache. Each counts a
/// mismatch once.
private enum ComparisonKey: RequestKey { typealias Value = Set<ObjectIdentifier> }

extension Authenticator {
    /// The parsed credentials of Authorization, or a verdict that needs no account.
    private enum Claim {
        case basic(BasicCredentials)
        case digest(DigestCredentials)
        case settled(Verdict)
    }

    /// The verdict; `nil` if it needs waiting.
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

    /// The verdict, which may wait for the store, a password check or a delay.
    /// - Throws: `HTTPError` with 429 or 503, and errors of the store.
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
        // With two fields, different programs could see different users.
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

    /// A hash that represents a user name in the tables. Its key is random in each process, so that
    /// no client can find two names with the same number. Spellings with the same canonical form
    /// have the same number.
    static func number(of name: String) -> UInt64 {
        var hasher = Hasher()
        if name.utf8.count <= InvalidUserName.byteLimit {
            hasher.combine(name)
        } else {
            // No account has so long a name, and computing its canonical form would take long.
            for byte in name.utf8 { hasher.combine(byte) }
        }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    func isHeldUp(_ request: Request, _ user: UInt64) -> Bool {
        guard options.slowsGuessing, let network = request.peerNetwork else { return false }
        let now = clock()
        return failures.withLock { $0.isHeldUp(network, user: user, now: now) }
    }

    /// Whether cached credentials may be accepted without a delay. The connection of the user's
    /// last login always may, whatever other clients guess, and without taking the lock.
    func admitsKnown(_ request: Request, _ user: UInt64) -> Bool {
        guard options.slowsGuessing, let network = request.peerNetwork else { return true }
        if request.storage.connection.isLoggedIn(loginNumber(user, network)) { return true }
        let now = clock()
        return failures.withLock { $0.admitsKnown(network, user: user, now: now) }
    }

    /// A number for a user of this authenticator, stored in a connection; never 0. It includes the
    /// network, because a proxy sends the requests of many clients over one connection.
    private func loginNumber(_ user: UInt64, _ network: PeerNetwork) -> UInt64 {
        let client = UInt64(UInt(bitPattern: network.hashValue))
        return (user ^ client ^ UInt64(UInt(bitPattern: ObjectIdentifier(self)))) | 1
    }

    /// Records in the connection that the user has logged in on it.
    func keepLogin(_ request: Request, _ user: UInt64) {
        guard options.slowsGuessing, let network = request.peerNetwork else { return }
        request.storage.connection.setLogin(loginNumber(user, network))
    }

    /// Counts a password that is not in the cache, once for each request.
    func missed(_ request: Request, _ user: UInt64) {
        guard options.slowsGuessing, let network = request.peerNetwork else { return }
        let own = ObjectIdentifier(self)
        guard request[ComparisonKey.self, default: []].insert(own).inserted else { return }
        let now = clock()
        failures.withLock { $0.missed(network, user: user, now: now) }
    }

    /// Waits until the request may try a password.
    /// - Throws: `HTTPError` with 429 if it would have to wait too long.
    func waitForTurn(_ request: Request, _ user: UInt64) async throws {
        guard options.slowsGuessing, let network = request.peerNetwork else { return }
        // A cached login may expire while other clients guess passwords. Its connection gets one
        // attempt without a delay until its next login, not more: other clients of the network may
        // guess through the same proxy.
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

    /// Records a login with the right password.
    func succeeded(_ request: Request, _ user: UInt64) {
        guard options.slowsGuessing, let network = request.peerNetwork else { return }
        let now = clock()
        failures.withLock { $0.succeeded(network, user: user, now: now) }
        keepLogin(request, user)
    }

    /// Records a wrong password or an unknown user, and refuses the request.
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
