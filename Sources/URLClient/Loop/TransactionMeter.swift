internal import HTTPParser

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Measures a task: it collects metrics, if they are wanted, and limits reports of progress.
struct TransactionMeter {
    private(set) var metrics: ClientMetrics?
    private var security: EasyHandle.Security?
    private var startTime: Int64 = 0
    private var lastProgress: Int64 = 0
    /// When the request entered the queue.
    var queuedSince: Int64 = 0

    mutating func start(at now: Int64) {
        startTime = now
        metrics = ClientMetrics()
    }

    mutating func finish(redirects: Int) {
        guard isMeasuring else { return }
        // Reads the clock again, as the end of the last transaction did: the loop's time is a
        // little older.
        metrics?.duration = .nanoseconds(LoopClock.now() - startTime)
        metrics?.redirectCount = redirects
    }

    /// Whether observers should be notified of progress now: at most twenty times a second.
    mutating func isProgressDue(at now: Int64) -> Bool {
        guard now - lastProgress > 50_000_000 else { return false }
        lastProgress = now
        return true
    }

    mutating func noteSecurity(_ transfer: CurlTransfer) {
        guard transfer.settings.wire.origin.isSecure else { return }
        security = transfer.handle.security
    }

    var isMeasuring: Bool { metrics != nil }

    /// Adds the metrics of a transfer that has ended.
    mutating func note(
        _ transfer: CurlTransfer, url: URL, _ version: ClientResponse.Version?, sent: Int64
    ) {
        var transaction = ClientMetrics.Transaction(url: url)
        transaction.version = version
        transaction.start = .nanoseconds(transfer.times.start - startTime)
        transaction.queued = .nanoseconds(transfer.times.start - queuedSince)
        transfer.handle.fill(&transaction)
        // libcurl reads its clock more often than the loop does. Clamp, so that nothing ends before
        // it began.
        let begin = transaction.requestStart ?? .zero
        let times = transfer.times
        if times.responseStart > 0 {
            transaction.responseStart = max(begin, .nanoseconds(times.responseStart - times.start))
        }
        if times.uploadEnd > 0 {
            transaction.requestEnd = max(begin, .nanoseconds(times.uploadEnd - times.start))
        }
        transaction.responseEnd = max(
            transaction.responseStart ?? begin, .nanoseconds(LoopClock.now() - times.start))
        transaction.requestContentBytes = sent
        transaction.connectTarget = transfer.settings.route.target
        transaction.isProxied = transfer.settings.route.hasProxy
        transaction.tlsVersion = security?.version
        transaction.tlsCipher = security?.cipher
        security = nil
        metrics?.transactions.append(transaction)
    }
}
