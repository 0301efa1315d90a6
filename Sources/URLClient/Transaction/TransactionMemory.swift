internal import HTTPCodecs
internal import HTTPParser

/// The memory of ``TransactionPolicy`` from one transaction of a task to the next.
package struct TransactionMemory: Sendable {
    /// Whether the rest of the task bypasses the cache.
    var ignoresCache = false
    /// The request's fields as the cache sees them.
    var cacheFields = HTTPFields()
    /// ``ClientCache/moment`` when the cache was searched. A response is not stored if its URL was
    /// removed since.
    var cacheMoment: UInt64 = 0
    /// When the request was sent.
    var requestTime = HTTPDate(secondsSinceEpoch: 0)
    /// The redirects so far.
    var redirects: RedirectChain?
    /// The stored response that the server is asked to confirm.
    var validating: ClientCache.Stored?
    /// The stored response that answers if the server cannot.
    var fallback: ClientCache.Stored?
    /// The login that the session added to the request.
    var login: SentLogin?
    /// The login that the session added for the proxy.
    var proxyLogin: SentLogin?
    private var refusals: [Refusal] = []
    /// How often a refused token was renewed; each task renews it once.
    var renewals = 0
    private var choices: [Choice] = []
    /// The first origin after HSTS upgraded it to https.
    var upgradedOrigin: Origin?
    /// The use of the answer to the policy's open question.
    var pending: Pending?

    /// A credential that the application chose after that of the request, or of the proxy, was refused.
    private struct Choice {
        let credential: ClientCredential
        let origin: Origin
        let isProxy: Bool
    }

    /// A credential that one response refused, and the spaces in which it did.
    private struct Refusal {
        let credential: ClientCredential
        let spaces: [ProtectionSpace]
        let isProxy: Bool
    }

    /// The policy's open question.
    indirect enum Pending {
        /// A token is needed before the request is looked up in the cache.
        case token(ClientRequest)
        /// The cache's folder is searched.
        case lookUp(ClientRequest)
        /// A refused token is being renewed.
        case renewal(refused: String?)
        /// The application answers a challenge.
        case challenge(ChallengeRound)
    }

    package init() {}

    /// Forgets the state of the previous transaction.
    mutating func beginTransaction() {
        (validating, fallback, login) = (nil, nil, nil)
    }

    // MARK: logins

    /// The login that the server, or the proxy, was sent.
    func sentLogin(isProxy: Bool) -> SentLogin? { isProxy ? proxyLogin : login }

    /// Notes that this transaction's login was refused.
    /// - Parameter spaces: the spaces in which it was refused.
    mutating func refuse(_ used: SentLogin, in spaces: [ProtectionSpace], isProxy: Bool) {
        refusals.append(Refusal(credential: used.credential, spaces: spaces, isProxy: isProxy))
        if isProxy { proxyLogin = nil } else { login = nil }
    }

    /// Whether a credential was refused in a space before. The scheme does not matter: a password
    /// that Digest has shown to be wrong is not sent in clear text either.
    func isRefused(_ credential: ClientCredential, in space: ProtectionSpace) -> Bool {
        refusals.contains { refusal in
            refusal.credential == credential
                && refusal.spaces.contains { $0.isSameRealm(as: space) }
        }
    }

    /// Notes the application's choice, which replaces an earlier one.
    mutating func choose(_ credential: ClientCredential, for origin: Origin, isProxy: Bool) {
        choices.removeAll { $0.isProxy == isProxy }
        choices.append(Choice(credential: credential, origin: origin, isProxy: isProxy))
    }

    /// The application's choice for a server, or for a proxy.
    func choice(for origin: Origin, isProxy: Bool) -> ClientCredential? {
        choices.first { $0.isProxy == isProxy && $0.origin == origin }?.credential
    }

    /// Whether a proxy has refused a credential, in any of its spaces.
    func isRefused(_ credential: ClientCredential, byProxy proxy: Origin) -> Bool {
        refusals.contains { refusal in
            refusal.isProxy && refusal.credential == credential
                && refusal.spaces.contains { $0.origin == proxy }
        }
    }

    /// How many credentials the server, or the proxy, has refused so far.
    func refusalCount(isProxy: Bool) -> Int { refusals.count { $0.isProxy == isProxy } }
}

/// A credential that the session added to a request. A class, because the memory that holds it is
/// passed by value.
final class SentLogin: Sendable {
    let credential: ClientCredential
    /// The space for which it was sent; nil for one that was sent before any challenge.
    let space: ProtectionSpace?

    init(_ credential: ClientCredential, for space: ProtectionSpace?) {
        (self.credential, self.space) = (credential, space)
    }

    /// Whether a challenge for `asked` refuses this login. A challenge for another space does not,
    /// unless the same bytes would be sent: those of Basic and Bearer do not depend on the realm
    /// (RFC 9110 section 11.5).
    func isRefused(in asked: ProtectionSpace) -> Bool {
        guard credential.fits(asked.scheme) else { return false }
        guard let space, space != asked else { return true }
        return asked.scheme != .digest && space.scheme == asked.scheme
    }
}

extension ProtectionSpace {
    /// Whether both spaces are equal, apart from the scheme.
    fileprivate func isSameRealm(as other: ProtectionSpace) -> Bool {
        origin == other.origin && realm.utf8.elementsEqual(other.realm.utf8)
            && isProxy == other.isProxy
    }
}
