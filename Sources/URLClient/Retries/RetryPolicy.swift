public import HTTPParser

/// Decides when a failed request is sent again automatically.
///
/// A request is repeated only if that is harmless: nothing of it was sent, the server has reported
/// that it did not process it, or its method is idempotent (RFC 9110 section 9.2.2). A request
/// whose content can be sent only once is never repeated.
public struct RetryPolicy: Sendable, Hashable {
    /// The most times that a request is sent again, at least 0. A repetition because an idle
    /// connection turned out to be closed does not count.
    public var limit = 1
    /// Whether a request is also sent again if no connection could be made.
    public var retriesConnecting = false
    /// The wait before the first repetition; it doubles each time. A wait is randomly shortened by
    /// up to a half, so that clients do not return at the same time.
    public var firstDelay = Duration.milliseconds(100)
    /// The longest wait between repetitions.
    public var longestDelay = Duration.seconds(10)
    /// The statuses after which an idempotent request is sent again, at the time that `Retry-After`
    /// sets.
    public var statuses: Set<HTTPStatus> = []
    /// Whether a request is also sent again after a status in ``statuses`` without `Retry-After`.
    /// ``firstDelay`` and ``longestDelay`` then set the wait.
    public var retriesWithoutRetryAfter = false
    /// The longest wait that `Retry-After` may set. If it sets a longer one, the request is not
    /// sent again, and the task gets the response.
    public var longestRetryAfter = Duration.seconds(60)
    /// Methods that count as idempotent in addition to those of RFC 9110 section 9.2.2.
    public var idempotentMethods: Set<HTTPMethod> = []

    /// The defaults: requests are repeated after network failures, but not after any status.
    public init() {}

    /// The policy with a ``limit`` of 0.
    public static var never: RetryPolicy {
        var policy = RetryPolicy()
        policy.limit = 0
        return policy
    }
}

/// How much a server may have processed of a failed request.
package enum RequestProgress: Sendable, Hashable {
    /// No byte was sent.
    case nothingSent
    /// The server has reported that it did not process the request: REFUSED_STREAM, or GOAWAY with
    /// the number of an earlier stream.
    case notProcessed
    /// The server may have processed the request.
    case unknown
}

extension RetryPolicy {
    /// How long to wait before a request is sent again; `nil` if it is not sent again.
    /// - Parameters:
    ///   - progress: how much the server may have processed.
    ///   - method: the method of the request.
    ///   - isReplayable: whether the request's content can be sent again.
    ///   - count: how often the request was sent again so far.
    ///   - random: a random number, 0...1, that shortens the wait.
    package func delay(
        after progress: RequestProgress, method: HTTPMethod, isReplayable: Bool, count: Int,
        random: Double
    ) -> Duration? {
        guard count < limit, isReplayable else { return nil }
        if progress == .unknown, !isIdempotent(method) { return nil }
        return backOff(count, random)
    }

    /// How long to wait before a request is sent again after this status; `nil` if it is not sent
    /// again.
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

    /// How long to wait before a download resumes.
    /// - Parameters:
    ///   - count: how often the download has resumed since it last received content, including this
    ///     time.
    ///   - random: a random number, 0...1, that shortens the wait.
    package func delay(beforeContinuation count: Int, random: Double) -> Duration {
        // The first time is immediate: a connection may break while its server is available.
        count > 1 ? backOff(count - 2, random) : .zero
    }

    private func isIdempotent(_ method: HTTPMethod) -> Bool {
        method.isIdempotent || idempotentMethods.contains(method)
    }

    /// Between half and all of a wait that doubles each time, so that clients that failed together
    /// do not return together.
    private func backOff(_ count: Int, _ random: Double) -> Duration {
        let factor = 1 << min(count, 20)
        // Compared by division: a product may overflow.
        let whole = firstDelay > longestDelay / factor ? longestDelay : firstDelay * factor
        return whole * 0.5 + whole * 0.5 * min(max(random, 0), 1)
    }
}

/// Retry-After = HTTP-date / delay-seconds (RFC 9110 section 10.2.3).
package enum RetryAfter {
    /// How long to wait; zero for a past date, `nil` for an invalid value.
    package static func wait(_ value: String, now: HTTPDate) -> Duration? {
        // The wait is limited to a year.
        let longest: Int64 = 366 * 86_400
        if !value.isEmpty, value.utf8.allSatisfy(ByteClass.isDigit) {
            return .seconds(min(FieldValues.parseDecimal(value) ?? longest, longest))
        }
        guard let date = HTTPDate(value, now: now) else { return nil }
        return .seconds(min(max(date.secondsSinceEpoch - now.secondsSinceEpoch, 0), longest))
    }
}
