internal import HTTPParser
public import HTTPServerCore
internal import ToolkitSystem

/// Limits the rate of each client's requests. Requests above the limit get 429 with Retry-After
/// (RFC 6585 section 4).
///
/// A client is an IPv4 address, or the first 64 bits of an IPv6 address. Peers of Unix sockets are
/// not limited. Requests through a proxy all have the proxy's address, unless a `ForwardedHandler`
/// of `HTTPServerProxies` around this handler trusts the proxy.
public struct RateLimitHandler: Handler {
    private let handler: any Handler
    private let limiter: RateLimiter
    private let clock: @Sendable () -> UInt64

    /// Creates a handler.
    /// - Parameters:
    ///   - handler: the inner handler.
    ///   - requests: how many requests a client may make in `period`, 1 or more.
    ///   - period: the time in which a client may make `requests`.
    ///   - burst: how many requests a client may make without a pause after it was idle; `nil` for
    ///     as many as `requests`.
    ///   - clientLimit: how many of the latest clients are always remembered, with about 64 bytes
    ///     each. At most twice as many are remembered; a forgotten client starts with a full burst.
    public init(
        _ handler: some Handler, requests: Int, per period: Duration, burst: Int? = nil,
        clientLimit: Int = 65_536
    ) {
        self.init(
            handler, requests: requests, per: period, burst: burst, clientLimit: clientLimit,
            clock: { Syscalls.monotonic() })
    }

    /// Creates a handler with another clock in nanoseconds. Tests use it.
    package init(
        _ handler: some Handler, requests: Int, per period: Duration, burst: Int? = nil,
        clientLimit: Int = 65_536, clock: @escaping @Sendable () -> UInt64
    ) {
        precondition(requests > 0 && burst ?? 1 > 0, "requests and burst must be 1 or more")
        self.handler = handler
        limiter = RateLimiter(
            interval: period.nanoseconds / UInt64(requests), burst: burst ?? requests,
            capacity: clientLimit)
        self.clock = clock
    }

    /// Refuses a request above the limit with 429; otherwise answers with the inner handler's
    /// answer.
    public func answer(_ request: Request) throws -> Answer {
        try count(request)
        return try handler.answer(request)
    }

    private func count(_ request: Request) throws(HTTPError) {
        guard let client = request.peerAddress.client,
            let wait = limiter.take(client, now: clock())
        else { return }
        let seconds = max(wait / 1_000_000_000 + (wait % 1_000_000_000 > 0 ? 1 : 0), 1)
        throw HTTPError(
            .tooManyRequests, "too many requests", fields: [.retryAfter: "\(seconds)"])
    }

    /// How many clients are remembered.
    package var clientCount: Int { limiter.count }
}
