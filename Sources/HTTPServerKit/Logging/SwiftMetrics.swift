#if Metrics
    public import CoreMetrics
    internal import HTTPParser
    public import HTTPServerCore
    internal import ToolkitSystem

    /// Reports the figures of a server to swift-metrics. Requires the package trait `Metrics`.
    ///
    /// | Label after the prefix | Kind | Dimensions |
    /// |---|---|---|
    /// | `connections_active` | meter | |
    /// | `connections_total`, `connections_refused_total` | counter | |
    /// | `received_bytes_total`, `sent_bytes_total` | counter, at the end of each connection | |
    /// | `requests_total` | counter | `method`, `status` |
    /// | `request_duration_seconds` | timer | `method`, `status` |
    /// | `responses_cut_short_total` | counter | |
    ///
    /// `status` is the class, such as `2xx`. Unknown methods are `other`, so peers cannot increase
    /// the number of series without limit.
    public final class SwiftMetrics: ServerMetrics {
        private struct Key: Hashable, Sendable {
            var method: String
            var status: Int
        }

        private struct Series: Sendable {
            var count: Counter
            var duration: CoreMetrics.Timer
        }

        private let prefix: String
        private let factory: any MetricsFactory
        private let active: Meter
        private let total: Counter
        private let refused: Counter
        private let received: Counter
        private let sent: Counter
        private let cutShort: Counter
        private let known = Locked<[Key: Series]>([:])

        /// Creates the metrics.
        /// - Parameters:
        ///   - prefix: the prefix of all labels.
        ///   - factory: the factory of the metrics; by default that of `MetricsSystem`.
        public init(
            prefix: String = "http_server_", factory: any MetricsFactory = MetricsSystem.factory
        ) {
            self.prefix = prefix
            self.factory = factory
            func counter(_ name: String) -> Counter {
                Counter(label: prefix + name, factory: factory)
            }
            active = Meter(label: prefix + "connections_active", factory: factory)
            total = counter("connections_total")
            refused = counter("connections_refused_total")
            received = counter("received_bytes_total")
            sent = counter("sent_bytes_total")
            cutShort = counter("responses_cut_short_total")
        }

        /// Counts a connection.
        public func connectionOpened() {
            active.increment()
            total.increment()
        }

        /// Counts a new connection that was refused.
        public func connectionRefused() {
            refused.increment()
        }

        /// Counts the end of a connection, and its bytes.
        public func connectionClosed(
            _ connection: ConnectionInfo, _ reason: ConnectionCloseReason
        ) {
            active.decrement()
            received.increment(by: connection.bytesReceived)
            sent.increment(by: connection.bytesSent)
        }

        /// Counts a request and records its duration.
        public func requestEnded(_ record: AccessRecord) {
            let key = Key(method: record.countedMethod, status: Int(record.status.code) / 100)
            let series = self.series(of: key)
            series.count.increment()
            series.duration.recordNanoseconds(Int64(clamping: record.elapsed))
            if !record.isComplete { cutShort.increment() }
        }

        private func series(of key: Key) -> Series {
            known.withLock { all in
                if let old = all[key] { return old }
                let dimensions = [("method", key.method), ("status", "\(key.status)xx")]
                let new = Series(
                    count: Counter(
                        label: prefix + "requests_total", dimensions: dimensions, factory: factory),
                    duration: CoreMetrics.Timer(
                        label: prefix + "request_duration_seconds", dimensions: dimensions,
                        preferredDisplayUnit: .seconds, factory: factory))
                all[key] = new
                return new
            }
        }
    }
#endif
