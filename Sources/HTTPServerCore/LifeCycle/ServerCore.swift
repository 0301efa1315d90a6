internal import HTTPParser
internal import Logging
internal import Synchronization
internal import ToolkitSystem

/// State that all connections of a server share.
package final class ServerCore: Sendable {
    package let configuration: ServerConfiguration
    let logger: Logger
    let observers: ConnectionObservers
    let bodyLimits: ParserLimits
    let times: ConnectionTimes
    /// Computed when the server starts: it would cost system calls for each connection.
    private let openLimit: Atomic<Int>
    /// The loops of the server while it runs.
    let loops = Locked<[EventLoop]>([])
    /// The number of open connections and of reserved slots, which the limit applies to.
    private let open = Atomic<Int>(0)
    /// The number of open connections.
    private let connected = Atomic<Int>(0)
    /// The number of open connections of each client, if that is limited. Entries are above 0.
    private let openByClient = Locked<[PeerNetwork: Int]>([:])
    /// How many tasks wait for the last connection to close.
    private let drains = Atomic<Int>(0)
    private let currentHandler: Locked<any Handler>
    /// The delegate and the readers of events.
    let events: EventHub
    /// Signals changes of the server's state and, while a caller waits for it, the close of the
    /// last connection.
    let changes = EventCount()
    private let closeObservers = Locked<[@Sendable () -> Void]>([])

    package init(configuration: ServerConfiguration, handler: any Handler) {
        self.configuration = configuration
        currentHandler = Locked(handler)
        events = EventHub(interval: configuration.disconnectionInterval.nanoseconds)
        logger = configuration.logger
        observers = ConnectionObservers(configuration)
        var limits = configuration.parserLimits
        limits.contentBytes = min(limits.contentBytes, configuration.contentLimit)
        bodyLimits = limits
        times = ConnectionTimes(configuration)
        openLimit = Atomic(configuration.openLimit)
    }

    /// The decoder for the content coding of a request; `nil` when there is nothing to decode.
    func decoding(_ head: borrowing RequestHead) -> (any ContentDecoding)? {
        guard head.fields.contains(.contentEncoding), let decoder = configuration.contentDecoder
        else { return nil }
        let codings = head.fields.values(of: .contentEncoding).joined(separator: ",")
        return decoder.decoding(codings, byteLimit: bodyLimits.contentBytes)
    }

    /// The handler for new connections.
    var handler: any Handler {
        get { currentHandler.withLock { $0 } }
        set { currentHandler.withLock { $0 = newValue } }
    }

    /// How many connections are open.
    package var openConnections: Int { connected.load(ordering: .sequentiallyConsistent) }

    /// Reserves a slot for one more connection, unless there are too many.
    func admitsConnection() -> Bool {
        let count = open.add(1, ordering: .relaxed).newValue
        guard count > openLimit.load(ordering: .relaxed) else { return true }
        open.subtract(1, ordering: .relaxed)
        return false
    }

    /// Whether fewer connections are open than the limit allows. Another loop may hold the last
    /// slot only until it finds the backlog empty.
    var mayHaveRoom: Bool { openConnections < openLimit.load(ordering: .relaxed) }

    /// Called before the server listens: the limit of descriptors may have changed.
    func prepareLimits() {
        if configuration.raisesDescriptorLimit { Syscalls.raiseDescriptorLimit() }
        openLimit.store(configuration.openLimit, ordering: .relaxed)
    }

    /// Whether the server has other loops.
    func hasLoops(besides loop: EventLoop) -> Bool {
        loops.withLock { $0.contains { $0 !== loop } }
    }

    /// Asks each loop except `loop` to close its connection that has been idle for longest.
    /// - Parameter done: called once all have answered; `true` if a connection was closed.
    func askForRoom(besides loop: EventLoop, then done: @escaping @Sendable (Bool) -> Void) {
        let others = loops.withLock { $0.filter { $0 !== loop } }
        guard !others.isEmpty else { return done(false) }
        let answers = Locked((left: others.count, isMade: false))
        for other in others {
            other.execute {
                let isMade = other.closeLongestIdle()
                let all = answers.withLock { answers in
                    answers = (answers.left - 1, answers.isMade || isMade)
                    return answers
                }
                if all.left == 0 { done(all.isMade) }
            }
        }
    }

    /// Releases a reserved connection slot.
    func releaseSlot() {
        open.subtract(1, ordering: .relaxed)
        let waiting = closeObservers.withLock { exchange(&$0, with: []) }
        for action in waiting { action() }
    }

    /// Uses a reserved connection slot.
    func connectionOpened() {
        let count = connected.add(1, ordering: .sequentiallyConsistent).newValue
        if count == 1 { events.connectionsChanged { openConnections > 0 } }
    }

    func connectionClosed(_ peer: PeerAddress) {
        releasePeer(peer)
        // Before the slot is free: the next connection is counted as soon as it has the slot.
        let count = connected.subtract(1, ordering: .sequentiallyConsistent).newValue
        releaseSlot()
        guard count == 0 else { return }
        events.connectionsChanged { openConnections > 0 }
        if drains.load(ordering: .sequentiallyConsistent) > 0 { changes.advance() }
    }

    /// Counts a connection of a peer.
    /// - Returns: `false` if its address has reached its limit; the connection is not counted then.
    func admits(_ peer: PeerAddress) -> Bool {
        guard let limit = configuration.connectionLimitPerAddress, let client = peer.client else {
            return true
        }
        return openByClient.withLock { open in
            guard open[client, default: 0] < limit else { return false }
            open[client, default: 0] += 1
            return true
        }
    }

    /// Whether the connections of each address are limited.
    var limitsAddresses: Bool { configuration.connectionLimitPerAddress != nil }

    /// Subtracts a connection that `admits` has counted.
    func releasePeer(_ peer: PeerAddress) {
        guard configuration.connectionLimitPerAddress != nil, let client = peer.client else {
            return
        }
        openByClient.withLock { open in
            let left = (open[client] ?? 1) - 1
            open[client] = left > 0 ? left : nil
        }
    }

    /// Waits until no connection is open, or until the time that `end` returns; `nil` is now.
    /// `end` is called again after each of the `changes`.
    func waitForConnections(until end: () -> ContinuousClock.Instant?) async {
        drains.add(1, ordering: .sequentiallyConsistent)
        defer { drains.subtract(1, ordering: .sequentiallyConsistent) }
        while true {
            let known = changes.count
            guard openConnections > 0, let end = end(), end > .now else { return }
            await changes.wait(for: known + 1, until: end)
        }
    }

    /// Calls `action` when the next connection closes or the next reserved slot is released.
    func whenConnectionCloses(_ action: @escaping @Sendable () -> Void) {
        closeObservers.withLock { $0.append(action) }
    }
}

/// The observers of connections and requests, and flags that are checked for each request.
struct ConnectionObservers: Sendable {
    let hooks: ConnectionHooks
    let metrics: (any ServerMetrics)?
    let hasMetrics: Bool
    /// Whether each request that ends is logged.
    let logsRequests: Bool
    /// Whether an observer wants each request.
    let observesRequests: Bool

    init(_ configuration: ServerConfiguration) {
        hooks = configuration.hooks
        metrics = configuration.metrics
        hasMetrics = metrics != nil
        logsRequests = configuration.logger.logLevel <= .debug
        observesRequests =
            logsRequests || configuration.accessLog != nil || hasMetrics || hooks.observesRequests
    }
}

/// The timeouts of connections, in nanoseconds.
struct ConnectionTimes: Sendable {
    let head: UInt64
    let idle: UInt64
    let write: UInt64
    let grace: UInt64

    init(_ configuration: ServerConfiguration) {
        head = configuration.headTimeout.nanoseconds
        idle = configuration.idleTimeout.nanoseconds
        write = configuration.writeTimeout.nanoseconds
        grace = max(configuration.contentGrace.nanoseconds, 1_000_000_000)
    }
}

extension Duration {
    /// Whole nanoseconds, from 0 to about 2^32 seconds.
    package var nanoseconds: UInt64 {
        let parts = components
        guard parts.seconds >= 0 else { return 0 }
        return UInt64(min(parts.seconds, 1 << 32)) * 1_000_000_000
            + UInt64(max(parts.attoseconds, 0) / 1_000_000_000)
    }
}
