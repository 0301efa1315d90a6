internal import HTTPCodecs
internal import HTTPParser

/// What a task remembers from one transaction to the next.
package struct TransactionMemory: Sendable {
    /// Whether the cache is left out for the rest of the task.
    var ignoresCache = false
    /// The fields of this transaction's request as the cache sees them.
    var cacheFields = HTTPFields()
    /// When the request of this transaction was handed on.
    var requestTime = HTTPDate(secondsSinceEpoch: 0)
    /// What most tasks do without; made when there is something to remember.
    private var overrides: CopyOnWriteBox<Overrides>?

    private struct Overrides {
        var redirects: RedirectChain?
        var validating: ClientCache.Stored?
        var fallback: ClientCache.Stored?
        var credential: ClientCredential?
        var proxyCredential: ClientCredential?
        var refused: [ClientCredential] = []
        var refusedByProxy: [ClientCredential] = []
        var renewals = 0
        var chosen: Chosen?
        var upgradedOrigin: Origin?
    }

    /// The answer to a challenge where the credential that a request brings was refused.
    struct Chosen {
        let origin: Origin
        let credential: ClientCredential

        init(_ origin: Origin, _ credential: ClientCredential) {
            (self.origin, self.credential) = (origin, credential)
        }
    }

    package init() {}

    private mutating func change(_ body: (inout Overrides) -> Void) {
        var values = overrides?.values ?? Overrides()
        body(&values)
        overrides = CopyOnWriteBox(values)
    }

    /// Whether there is anything but what every transaction has.
    var hasOverrides: Bool { overrides != nil }

    /// Forgets what there was about the transaction before: a stored response, a credential.
    mutating func beginTransaction() {
        guard overrides != nil else { return }
        change { overrides in
            (overrides.validating, overrides.fallback) = (nil, nil)
            overrides.credential = nil
        }
    }

    /// The redirects so far; made with the first.
    var redirects: RedirectChain? {
        get { overrides?.values.redirects }
        set { change { $0.redirects = newValue } }
    }
    /// The stored response that the server is asked about.
    var validating: ClientCache.Stored? {
        get { overrides?.values.validating }
        set { if newValue != nil || overrides != nil { change { $0.validating = newValue } } }
    }
    /// What may answer if the server cannot.
    var fallback: ClientCache.Stored? {
        get { overrides?.values.fallback }
        set { if newValue != nil || overrides != nil { change { $0.fallback = newValue } } }
    }
    /// The credential that this transaction was sent with, if the session has added it.
    var credential: ClientCredential? {
        get { overrides?.values.credential }
        set { if newValue != nil || overrides != nil { change { $0.credential = newValue } } }
    }
    /// The same for a proxy.
    var proxyCredential: ClientCredential? {
        get { overrides?.values.proxyCredential }
        set { if newValue != nil || overrides != nil { change { $0.proxyCredential = newValue } } }
    }
    /// Notes that the credential of this transaction was refused, if it was for such a challenge.
    /// - Returns: all that were refused so far, by the server or by the proxy.
    mutating func refuse(
        _ scheme: ProtectionSpace.Scheme, isProxy: Bool
    ) -> [ClientCredential] {
        var all = (isProxy ? overrides?.values.refusedByProxy : overrides?.values.refused) ?? []
        if let used = isProxy ? proxyCredential : credential, used.fits(scheme) {
            all.append(used)
            if isProxy {
                change { ($0.refusedByProxy, $0.proxyCredential) = (all, nil) }
            } else {
                change { ($0.refused, $0.credential) = (all, nil) }
            }
        }
        return all
    }

    /// With which credential this task goes on at an origin, in place of the request's own.
    var chosen: Chosen? {
        get { overrides?.values.chosen }
        set { change { $0.chosen = newValue } }
    }

    /// What the task's first origin has become because its host is reached by https alone.
    var upgradedOrigin: Origin? {
        get { overrides?.values.upgradedOrigin }
        set { change { $0.upgradedOrigin = newValue } }
    }

    /// How often the token was refused and renewed, so that it is not renewed over and over.
    var renewals: Int {
        get { overrides?.values.renewals ?? 0 }
        set { change { $0.renewals = newValue } }
    }
}
