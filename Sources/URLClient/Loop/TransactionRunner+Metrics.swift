internal import HTTPParser

// Times, counters and deadlines.
extension TransactionRunner {
    /// The limits in nanoseconds; the largest number for none.
    struct Limits {
        let queue: Int64
        let connect: Int64
        let tls: Int64
        let firstByte: Int64
        let idle: Int64
        let total: Int64
        /// The earliest that anything can be over.
        let shortest: Int64

        /// Those of a request that may have some of its own.
        init(_ request: ClientRequest, _ configuration: ClientConfiguration) {
            var timeouts = request.timeouts ?? configuration.timeouts
            if request.timeouts == nil, let idle = request.idleLimit { timeouts.idle = idle.value }
            self.init(timeouts)
        }

        init(_ timeouts: ClientTimeouts) {
            func limit(_ duration: Duration?) -> Int64 {
                duration.map { min($0.nanoseconds, 1 << 60) } ?? 1 << 60
            }
            queue = limit(timeouts.queue)
            connect = limit(timeouts.connect)
            tls = limit(timeouts.tls)
            firstByte = limit(timeouts.firstByte)
            idle = limit(timeouts.idle)
            total = limit(timeouts.total)
            shortest = min(min(queue, connect, tls), min(firstByte, idle, total))
        }
    }

    /// What is over next if nothing happens until then.
    func nextDeadline() -> (time: Int64, limit: ClientTimeouts.Limit)? {
        var (time, limit) = (startTime + limits.total, ClientTimeouts.Limit.total)
        func consider(_ other: Int64, _ name: ClientTimeouts.Limit) {
            if other < time { (time, limit) = (other, name) }
        }
        if stage == .queued { consider(queuedSince + limits.queue, .queue) }
        guard !holds.contains(.suspension) else { return (time, limit) }
        if let askedSince { consider(askedSince + limits.idle, .idle) }
        if resolvingSince > 0 { consider(resolvingSince + limits.connect, .connect) }
        guard let transfer else { return (time, limit) }
        if !transfer.isHeadDone { considerBeginning(of: transfer, consider) }
        if holds.isEmpty, !transfer.isIdleByIntention {
            // libcurl tells of a line when all of it is there.
            let lastEvent = loop.multi?.lastEvent(of: transfer.handle) ?? 0
            consider(max(transfer.lastActivity, lastEvent) + limits.idle, .idle)
        }
        return (time, limit)
    }

    private func considerBeginning(
        of transfer: CurlTransfer, _ consider: (Int64, ClientTimeouts.Limit) -> Void
    ) {
        switch transfer.phase {
        case .resolving, .connecting: consider(transfer.startTime + limits.connect, .connect)
        case .securing:
            consider(max(transfer.startTime, transfer.handle.tlsStart) + limits.tls, .tls)
            consider(transfer.startTime + limits.connect, .connect)
        case .waiting:
            let sent = max(
                transfer.uploadEnd, transfer.startTime + transfer.handle.requestTime * 1000)
            consider(sent + limits.firstByte, .firstByte)
        default: break
        }
    }

    // MARK: metrics

    func noteSecurity(_ transfer: CurlTransfer) {
        guard transfer.settings.wire.origin.isSecure else { return }
        security = transfer.handle.security.map(CopyOnWriteBox.init)
    }

    func noteMetrics(_ transfer: CurlTransfer?) {
        guard let metrics, let transfer else { return }
        var transaction = ClientMetrics.Transaction(url: sent.url)
        transaction.version = response?.version
        transaction.queued = .nanoseconds(transfer.startTime - queuedSince)
        transfer.handle.fill(&transaction)
        // libcurl's clock is read more often than the loop's: nothing may end before it began.
        let start = transaction.requestStart ?? .zero
        if transfer.responseStart > 0 {
            transaction.responseStart = max(
                start, .nanoseconds(transfer.responseStart - transfer.startTime))
        }
        if transfer.uploadEnd > 0 {
            transaction.requestEnd = max(
                start, .nanoseconds(transfer.uploadEnd - transfer.startTime))
        }
        transaction.responseEnd = max(
            transaction.responseStart ?? start, .nanoseconds(System.now() - transfer.startTime))
        transaction.requestContentBytes = upload?.position ?? 0
        transaction.connectTarget = transfer.settings.route.target
        transaction.isProxied = transfer.settings.route.hasProxy
        transaction.tlsVersion = security?.values.version
        transaction.tlsCipher = security?.values.cipher
        security = nil
        metrics.values.transactions.append(transaction)
    }

    // MARK: progress

    func contentSent(_ count: Int) {
        guard count > 0 else { return }
        task.counters.send(count)
        noteProgress()
    }

    func contentUnsent(_ count: Int64) {
        task.counters.send(-Int(clamping: count))
    }

    /// Tells those who watch, at most some twenty times a second.
    func noteProgress(isLast: Bool = false) {
        guard task.isWatched, isLast || loop.now - lastProgress > 50_000_000 else { return }
        lastProgress = loop.now
        task.notifyProgress(isLast: isLast)
    }
}
