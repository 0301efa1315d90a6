public import HTTPParser

/// When a request that failed is sent again by itself.
///
/// That is done only where it is certain to do no harm: nothing of the request has gone out, or the
/// server has said that it did nothing, or doing it twice is as good as once (RFC 9110 section 9.2.2).
/// Content that cannot be sent again is never.
public struct RetryPolicy: Sendable, Hashable {
    /// How often a request is sent again, at least 0. A connection that was kept open and turned
    /// out to be closed is not counted.
    public var limit = 1
    /// Whether that is done, too, where no connection could be made.
    public var retriesConnecting = false
    /// How long to wait before the first time; it doubles from one to the next. A wait is shortened by
    /// up to a half, at random, so that clients do not come back together.
    public var firstDelay = Duration.milliseconds(100)
    /// How long to wait at most.
    public var longestDelay = Duration.seconds(10)
    /// The statuses after which an idempotent request is sent again, if `Retry-After` says when.
    public var statuses: Set<HTTPStatus> = []
    /// Whether it is sent again after these statuses without `Retry-After`, too, after the wait of
    /// ``firstDelay`` and ``longestDelay``.
    public var retriesWithoutRetryAfter = false
    /// How long `Retry-After` may ask to wait; longer, and the response is the answer.
    public var longestRetryAfter = Duration.seconds(60)
    /// Methods besides those that are idempotent by their definition.
    public var idempotentMethods: Set<HTTPMethod> = []

    /// The defaults: after failures of the network, not after any status.
    public init() {}

    /// Nothing is sent again.
    public static var never: RetryPolicy {
        var policy = RetryPolicy()
        policy.limit = 0
        return policy
    }
}

/// How much a server can have seen of a request that failed.
package enum RequestProgress: Sendable, Hashable {
    /// Not a byte of it.
    case nothingSent
    /// It, and it has said that it did nothing: REFUSED_STREAM, or GOAWAY with an older stream.
    case notProcessed
    /// Nobody knows.
    case unknown
}

extension RetryPolicy {
    /// How long to wait before a request is sent again; `nil` if it is not.
    /// - Parameters:
    ///   - progress: what the server can have seen.
    ///   - method: of the request.
    ///   - isReplayable: whether its content can be sent again.
    ///   - count: how often it was sent again already.
    ///   - random: 0 up to 1, from which the wait is made.
    package func delay(
        after progress: RequestProgress, method: HTTPMethod, isReplayable: Bool, count: Int,
        random: Double
    ) -> Duration? {
        guard count < limit, isReplayable else { return nil }
        if progress == .unknown, !isIdempotent(method) { return nil }
        return backOff(count, random)
    }

    /// How long to wait before a request is sent again that was answered with such a status.
    package func delay(
        after status: HTTPStatus, retryAfter: String?, method: HTTPMethod, isReplayable: Bool,
        count: Int, now: HTTPDate, random: Double
    ) -> Duration? {
        guard statuses.contains(status), count < limit, isReplayable, isIdempotent(method) else {
            return nil
        }
        guard let wait = retryAfter.flatMap({ RetryAfter.wait($0, now: now) }) else {
            return retriesWithoutRetryAfter ? backOff(count, random) : nil
        }
        return wait <= longestRetryAfter ? wait : nil
    }

    /// How long to wait before a download goes on.
    /// - Parameters:
    ///   - count: how often it has gone on since it last received anything, this time included.
    ///   - random: 0 up to 1, from which the wait is made.
    package func delay(beforeContinuation count: Int, random: Double) -> Duration {
        // A connection may break while its server is there.
        count > 1 ? backOff(count - 2, random) : .zero
    }

    private func isIdempotent(_ method: HTTPMethod) -> Bool {
        method.isIdempotent || idempotentMethods.contains(method)
    }

    /// Between half and the whole of a time that doubles: clients that failed together do not come
    /// back together.
    private func backOff(_ count: Int, _ random: Double) -> Duration {
        let whole = min(firstDelay * (1 << min(count, 20)), longestDelay)
        return whole * 0.5 + whole * 0.5 * min(max(random, 0), 1)
    }
}

/// Retry-After = HTTP-date / delay-seconds (RFC 9110 section 10.2.3).
package enum RetryAfter {
    /// How long to wait; `nil` for what is neither. A date that is over means not at all.
    package static func wait(_ value: String, now: HTTPDate) -> Duration? {
        // Nobody waits longer than a year, whatever the number.
        let longest: Int64 = 366 * 86_400
        if !value.isEmpty, value.utf8.allSatisfy(ByteClass.isDigit) {
            return .seconds(min(FieldValues.parseDecimal(value) ?? longest, longest))
        }
        guard let date = HTTPDate(value, now: now) else { return nil }
        return .seconds(min(max(date.secondsSinceEpoch - now.secondsSinceEpoch, 0), longest))
    }
}
