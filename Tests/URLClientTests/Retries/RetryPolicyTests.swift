import HTTPParser
import Testing
import URLClient

@Suite("RFC 9110, 9.2.2: Retries")
struct RetryPolicyTests {
    private let now = HTTPDate(secondsSinceEpoch: 784_111_777)

    private func isRetried(
        _ progress: RequestProgress, _ method: HTTPMethod, isReplayable: Bool = true,
        count: Int = 0,
        _ policy: RetryPolicy = RetryPolicy()
    ) -> Bool {
        policy.delay(
            after: progress, method: method, isReplayable: isReplayable, count: count, random: 0)
            != nil
    }

    @Test(
        "A request is retried only if that is safe and its content can be sent again",
        arguments: [
            HTTPMethod.get, .head, .put, .delete, .options, .propfind, .post, .patch, .lock,
        ])
    func methods(_ method: HTTPMethod) {
        #expect(isRetried(.nothingSent, method) && isRetried(.notProcessed, method))
        #expect(isRetried(.unknown, method) == method.isIdempotent)
        for progress in [RequestProgress.nothingSent, .notProcessed, .unknown] {
            #expect(!isRetried(progress, method, isReplayable: false))
        }
    }

    @Test("The application can name further idempotent methods")
    func ownMethods() {
        var policy = RetryPolicy()
        policy.idempotentMethods = [.post]
        #expect(isRetried(.unknown, .post, policy) && !isRetried(.unknown, .patch, policy))
    }

    @Test("The number of retries is limited")
    func limit() {
        #expect(isRetried(.unknown, .get, count: 0) && !isRetried(.unknown, .get, count: 1))
        #expect(!isRetried(.nothingSent, .get, .never))
    }

    @Test(
        "A download continues once without a delay, then with the delays of a retry",
        arguments: [
            (0, 0), (1, 0), (2, 100), (3, 200), (4, 400), (8, 6_400), (9, 10_000), (.max, 10_000),
        ])
    func continuations(_ count: Int, _ milliseconds: Int) {
        let policy = RetryPolicy()
        let whole = Duration.milliseconds(milliseconds)
        #expect(policy.delay(beforeContinuation: count, random: 1) == whole)
        #expect(policy.delay(beforeContinuation: count, random: 0) == whole * 0.5)
    }

    @Test("The delay doubles, varies at random, and has a maximum")
    func backOff() {
        var policy = RetryPolicy()
        policy.limit = 1_000
        policy.firstDelay = .milliseconds(100)
        policy.longestDelay = .seconds(1)
        func wait(_ count: Int, _ random: Double) -> Duration? {
            policy.delay(
                after: .unknown, method: .get, isReplayable: true, count: count, random: random)
        }
        #expect(wait(0, 0) == .milliseconds(50) && wait(0, 1) == .milliseconds(100))
        #expect(wait(1, 0) == .milliseconds(100) && wait(2, 0.5) == .milliseconds(300))
        #expect(wait(4, 1) == .seconds(1) && wait(999, 1) == .seconds(1))
        #expect(wait(0, 7) == .milliseconds(100) && wait(0, -7) == .milliseconds(50))
        // A product of such a delay would overflow.
        policy.firstDelay = .seconds(Int64.max)
        #expect(wait(20, 1) == .seconds(1))
    }

    @Test(
        "10.2.3: Retry-After is a number of seconds or a date, and at most 366 days count",
        arguments: [
            ("0", 0), ("120", 120), ("00120", 120), ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sun, 06 Nov 1994 08:40:00 GMT", 0),
            ("99999999999999999999", 366 * 86_400), ("Fri, 31 Dec 9999 23:59:59 GMT", 366 * 86_400),
        ] as [(String, Int64)])
    func retryAfter(_ value: String, _ seconds: Int64) {
        #expect(RetryAfter.wait(value, now: now) == .seconds(seconds))
    }

    @Test(
        "Invalid Retry-After values are ignored",
        arguments: ["", "-1", "+1", "1.5", "soon", "1 ", "٣", "06 Nov 1994"])
    func noRetryAfter(_ value: String) {
        #expect(RetryAfter.wait(value, now: now) == nil)
    }

    @Test("A configured status is retried only with a short Retry-After, or without one if allowed")
    func statuses() {
        var policy = RetryPolicy()
        func wait(_ status: HTTPStatus, _ value: String?, _ method: HTTPMethod = .get) -> Duration?
        {
            policy.delay(
                after: status, retryAfter: value, method: method, isReplayable: true, count: 0,
                now: now, random: 0)
        }
        #expect(wait(.serviceUnavailable, "5") == nil)
        policy.statuses = [.serviceUnavailable, .tooManyRequests]
        #expect(wait(.serviceUnavailable, "5") == .seconds(5))
        #expect(wait(.serviceUnavailable, "60") == .seconds(60))
        #expect(wait(.serviceUnavailable, "61") == nil)
        #expect(wait(.serviceUnavailable, nil) == nil && wait(.serviceUnavailable, "x") == nil)
        #expect(wait(.serviceUnavailable, "5", .post) == nil)
        #expect(wait(.internalServerError, "5") == nil)
        policy.retriesWithoutRetryAfter = true
        #expect(wait(.serviceUnavailable, nil) == .milliseconds(50))
        #expect(wait(.serviceUnavailable, "x") == .milliseconds(50))
        #expect(wait(.serviceUnavailable, "5") == .seconds(5))
        #expect(wait(.serviceUnavailable, "61") == nil)
        #expect(wait(.serviceUnavailable, nil, .post) == nil)
        #expect(wait(.internalServerError, nil) == nil)
    }
}
