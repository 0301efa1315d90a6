internal import HTTPParser

/// The limits of a request in nanoseconds; `1 << 60` for none.
package struct TransactionLimits: Sendable {
    let queue: Int64
    let connect: Int64
    let tls: Int64
    let firstByte: Int64
    let idle: Int64
    let total: Int64
    /// The shortest of the limits. A deadline that is counted from now cannot be earlier.
    let shortest: Int64

    /// No limits: those of a task that has not started.
    static let none = TransactionLimits(
        ClientTimeouts(connect: nil, idle: nil, total: nil))

    /// The limits of a request, which may override those of the session.
    init(_ request: ClientRequest, _ configuration: ClientConfiguration) {
        self.init(request.timeouts(in: configuration))
    }

    package init(_ timeouts: ClientTimeouts) {
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

/// The times of a transfer that its deadlines are counted from, in nanoseconds of the loop's clock.
package struct TransferProgressTimes: Sendable {
    /// The stage of a transfer, by which its limits are chosen.
    package enum Stage: Sendable {
        /// No connection yet.
        case connecting
        /// TLS began at that time.
        case securing(since: Int64)
        /// The request was sent at that time.
        case waiting(since: Int64)
        /// Anything else, such as the time after the head: no limit of a stage counts.
        case transferring
    }

    package var start: Int64
    package var stage: Stage
    /// When bytes were last sent or received.
    package var lastActivity: Int64
    /// Whether no bytes can flow because this side has paused the connection.
    package var isPaused: Bool

    package init(start: Int64, stage: Stage, lastActivity: Int64, isPaused: Bool = false) {
        self.start = start
        self.stage = stage
        self.lastActivity = lastActivity
        self.isPaused = isPaused
    }
}

/// The times of a task that its deadlines are counted from; nil while they do not apply.
struct TransactionTimes {
    var limits: TransactionLimits
    var start: Int64 = 0
    /// When the request entered the queue.
    var queued: Int64?
    /// When the delegate was asked about a redirect, or about storing the response.
    var asking: Int64?
    /// When the endpoint policy was asked.
    var resolving: Int64?

    /// The next deadline if nothing happens until then.
    func deadline(
        _ transfer: TransferProgressTimes?, isSuspended: Bool, isPaused: Bool
    ) -> (time: Int64, limit: ClientTimeouts.Limit) {
        var (time, limit) = (start + limits.total, ClientTimeouts.Limit.total)
        func consider(_ other: Int64, _ name: ClientTimeouts.Limit) {
            if other < time { (time, limit) = (other, name) }
        }
        if let queued { consider(queued + limits.queue, .queue) }
        guard !isSuspended else { return (time, limit) }
        if let asking { consider(asking + limits.idle, .idle) }
        if let resolving { consider(resolving + limits.connect, .connect) }
        guard let transfer else { return (time, limit) }
        switch transfer.stage {
        case .connecting: consider(transfer.start + limits.connect, .connect)
        case .securing(let since):
            consider(max(transfer.start, since) + limits.tls, .tls)
            consider(transfer.start + limits.connect, .connect)
        case .waiting(let since): consider(since + limits.firstByte, .firstByte)
        case .transferring: break
        }
        if !isPaused, !transfer.isPaused { consider(transfer.lastActivity + limits.idle, .idle) }
        return (time, limit)
    }
}

extension ClientRequest {
    /// The request's own timeouts. A request without them has those of the session, except for an
    /// idle limit that it sets.
    package func timeouts(in configuration: ClientConfiguration) -> ClientTimeouts {
        var timeouts = timeouts ?? configuration.timeouts
        if self.timeouts == nil, let idle = idleLimit { timeouts.idle = idle.value }
        return timeouts
    }
}
