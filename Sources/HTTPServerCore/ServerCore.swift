internal import HTTPCodecs
internal import HTTPParser
internal import Logging
internal import Synchronization

/// What all connections of a server share.
package final class ServerCore: Sendable {
    package let configuration: ServerConfiguration
    package let handler: any Handler
    let immediate: (any ImmediateHandler)?
    let logger: Logger
    let hooks: ConnectionHooks
    let metrics: (any ServerMetrics)?
    /// Whether each request that ends is logged.
    let logsRequests: Bool
    /// Whether somebody wants to know of each request.
    let observesRequests: Bool
    let bodyLimits: ParserLimits
    private let decodingLimits: ContentDecodingLimits
    private let decoders = ContentCodingPool()
    let headTime: UInt64
    let idleTime: UInt64
    let writeTime: UInt64
    let graceTime: UInt64
    /// Asked once: it would cost a call for each connection.
    private let openLimit: Int
    private let open = Atomic<Int>(0)
    private let whenFewer = Locked<[@Sendable () -> Void]>([])

    package init(configuration: ServerConfiguration, handler: any Handler) {
        self.configuration = configuration
        self.handler = handler
        immediate = handler as? any ImmediateHandler
        logger = configuration.logger
        hooks = configuration.hooks
        metrics = configuration.metrics
        logsRequests = configuration.logger.logLevel <= .debug
        observesRequests =
            logsRequests || configuration.accessLog != nil || metrics != nil
            || hooks.observesRequests
        var limits = configuration.parserLimits
        limits.contentBytes = min(limits.contentBytes, configuration.contentLimit)
        bodyLimits = limits
        decodingLimits = ContentDecodingLimits(
            outputBytes: max(limits.contentBytes, 0),
            ratio: max(configuration.contentExpansionLimit, 1))
        headTime = configuration.headTimeout.nanoseconds
        idleTime = configuration.idleTimeout.nanoseconds
        writeTime = configuration.writeTimeout.nanoseconds
        openLimit = configuration.openLimit
        graceTime = max(configuration.contentGrace.nanoseconds, 1_000_000_000)
    }

    /// What takes the content coding of a request off; `nil` when there is nothing to do.
    func decoding(_ head: borrowing RequestHead) -> BodyDecoding? {
        guard configuration.decodesContent, head.fields.contains(.contentEncoding) else {
            return nil
        }
        let codings = head.fields.values(of: .contentEncoding).joined(separator: ",")
        return BodyDecoding(codings, limits: decodingLimits, pool: decoders)
    }

    /// How many connections are open.
    package var openConnections: Int { open.load(ordering: .relaxed) }

    /// Counts one more, unless that is too many.
    func admitsConnection() -> Bool {
        let count = open.add(1, ordering: .relaxed).newValue
        guard count > openLimit else { return true }
        open.subtract(1, ordering: .relaxed)
        return false
    }

    func connectionClosed() {
        open.subtract(1, ordering: .relaxed)
        let waiting = whenFewer.withLock { waiting in
            let taken = waiting
            if !taken.isEmpty { waiting = [] }
            return taken
        }
        for action in waiting { action() }
    }

    /// Calls `action` when a connection closes next.
    func whenConnectionCloses(_ action: @escaping @Sendable () -> Void) {
        whenFewer.withLock { $0.append(action) }
    }
}

extension Duration {
    /// Whole nanoseconds, not below zero.
    var nanoseconds: UInt64 {
        let parts = components
        guard parts.seconds >= 0 else { return 0 }
        return UInt64(min(parts.seconds, 1 << 32)) * 1_000_000_000
            + UInt64(max(parts.attoseconds, 0) / 1_000_000_000)
    }
}
