internal import HTTPCodecs
internal import HTTPParser

/// The memory of ``TransactionPolicy`` from one transaction of a task to the next.
package struct TransactionMemory: Sendable {
    /// Whether the rest of the task bypasses the cache.
    var ignoresCache = false
    /// The request's fields as the cache sees them.
    var cacheFields = HTTPFields()
    /// When the request was sent.
    var requestTime = HTTPDate(secondsSinceEpoch: 0)
    /// The redirects so far.
    var redirects: RedirectChain?
    /// The stored response that the server is asked to confirm.
    var validating: ClientCache.Stored?
    /// The stored response that answers if the server cannot.
    var fallback: ClientCache.Stored?
    /// The credential that the session added to the request.
    var credential: ClientCredential?
    /// The credential that the session added for the proxy.
    var proxyCredential: ClientCredential?
    private var refused: [ClientCredential] = []
    private var refusedByProxy: [ClientCredential] = []
    /// How often a token was refused and renewed; it is renewed once for each task.
    var renewals = 0
    /// The credential that the application chose after the request's own was refused.
    var chosen: Chosen?
    /// The first origin after HSTS upgraded it to https.
    var upgradedOrigin: Origin?
    /// The use of the answer to the policy's open question.
    var pending: Pending?

    /// A credential for one origin.
    struct Chosen {
        let origin: Origin
        let credential: ClientCredential

        init(_ origin: Origin, _ credential: ClientCredential) {
            (self.origin, self.credential) = (origin, credential)
        }
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

    /// Forgets what belonged to the previous transaction only.
    mutating func beginTransaction() {
        (validating, fallback, credential) = (nil, nil, nil)
    }

    /// Notes that this transaction's credential was refused, if it fits the challenge.
    /// - Returns: all credentials that the server, or the proxy, has refused so far.
    mutating func refuse(_ scheme: ProtectionSpace.Scheme, isProxy: Bool) -> [ClientCredential] {
        if isProxy {
            if let used = proxyCredential, used.fits(scheme) {
                refusedByProxy.append(used)
                proxyCredential = nil
            }
            return refusedByProxy
        }
        if let used = credential, used.fits(scheme) {
            refused.append(used)
            credential = nil
        }
        return refused
    }
}
