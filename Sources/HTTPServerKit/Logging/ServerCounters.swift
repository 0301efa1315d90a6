internal import HTTPParser
public import HTTPServerCore
internal import ToolkitSystem

/// Figures of a server, counted in memory.
///
/// ```swift
/// let counters = ServerCounters()
/// configuration.metrics = counters
/// print(counters.figures.requests)
/// ```
public final class ServerCounters: ServerMetrics {
    /// A snapshot of the counts.
    public struct Figures: Sendable, Hashable {
        /// Connections that are open now.
        public var openConnections = 0
        /// Connections accepted since the start.
        public var connections = 0
        /// New connections that were refused.
        public var refusedConnections = 0
        /// Bytes received by connections that are closed, heads and framing included.
        public var bytesReceived: Int64 = 0
        /// Bytes sent by connections that are closed, heads and framing included.
        public var bytesSent: Int64 = 0
        /// Requests that ended, by method and status class. Unknown methods and heads that could
        /// not be parsed are counted as `other`, so that peers cannot add names.
        public var requests: [Key: Int] = [:]
        /// Responses that were not sent completely.
        public var cutShort = 0
        /// A histogram of durations: the count at an index is that of requests that took at most
        /// the bound of `ServerCounters.durationBounds` at this index, and more than the bound
        /// before. The last count is for requests above all bounds.
        public var durations: [Int] = []
        /// The sum of the durations of all requests.
        public var totalDuration = Duration.zero
    }

    /// The method and status class by which requests are counted.
    public struct Key: Sendable, Hashable {
        /// The method's name, or `other`.
        public var method: String
        /// The first digit of the status, 2 to 9.
        public var statusClass: Int

        /// Creates a key.
        public init(method: String, statusClass: Int) {
            self.method = method
            self.statusClass = statusClass
        }
    }

    /// The bounds of the histogram of durations: 100 microseconds to 10 seconds.
    public static let durationBounds: [Duration] = [
        .microseconds(100), .microseconds(250), .microseconds(500), .milliseconds(1),
        .microseconds(2_500), .milliseconds(5), .milliseconds(10), .milliseconds(25),
        .milliseconds(50), .milliseconds(100), .milliseconds(250), .milliseconds(500), .seconds(1),
        .milliseconds(2_500), .seconds(5), .seconds(10),
    ]

    private static let bounds = durationBounds.map(\.nanoseconds)
    private let state = Locked(Figures(durations: Array(repeating: 0, count: bounds.count + 1)))

    /// Creates counters that are all zero.
    public init() {}

    /// The counts so far.
    public var figures: Figures { state.withLock { $0 } }

    /// Counts a connection.
    public func connectionOpened() {
        state.withLock { figures in
            figures.openConnections += 1
            figures.connections += 1
        }
    }

    /// Counts a new connection that was refused.
    public func connectionRefused() {
        state.withLock { $0.refusedConnections += 1 }
    }

    /// Counts the end of a connection, and its bytes.
    public func connectionClosed(_ connection: ConnectionInfo, _ reason: ConnectionCloseReason) {
        state.withLock { figures in
            figures.openConnections -= 1
            figures.bytesReceived += connection.bytesReceived
            figures.bytesSent += connection.bytesSent
        }
    }

    /// Counts a request.
    public func requestEnded(_ record: AccessRecord) {
        let key = Key(method: record.countedMethod, statusClass: Int(record.status.code) / 100)
        let slot = Self.bounds.firstIndex { record.elapsed <= $0 } ?? Self.bounds.count
        state.withLock { figures in
            figures.requests[key, default: 0] += 1
            figures.durations[slot] += 1
            figures.totalDuration += record.duration
            if !record.isComplete { figures.cutShort += 1 }
        }
    }
}

extension AccessRecord {
    /// The name of a known method, else `other`: peers must not create new series.
    package var countedMethod: String {
        guard let method = request?.method, method.isKnown else { return "other" }
        return method.name
    }
}
