internal import HTTPCodecs
internal import HTTPParser

/// What a task remembers from one hop to the next.
package struct HopMemory: Sendable {
    /// The redirects so far; made with the first.
    var redirects: RedirectChain?
    /// The stored response that the server is asked about.
    var validating: ClientCache.Stored?
    /// What may answer if the server cannot.
    var fallback: ClientCache.Stored?
    /// Whether the cache is left out for the rest of the task.
    var ignoresCache = false
    /// The fields of this hop's request as the cache sees them.
    var cacheFields = HTTPFields()
    /// When the request of this hop was handed on.
    var requestTime = HTTPDate(secondsSinceEpoch: 0)
    /// The credential that this hop was sent with, if the session has added it.
    var credential: ClientCredential?
    /// The same for a proxy.
    var proxyCredential: ClientCredential?
    /// Credentials that were refused.
    var refused: [ClientCredential] = []
    /// Those that a proxy has refused.
    var refusedByProxy: [ClientCredential] = []
    /// The token that was refused, so that it is not renewed over and over.
    var renewals = 0

    package init() {}
}
