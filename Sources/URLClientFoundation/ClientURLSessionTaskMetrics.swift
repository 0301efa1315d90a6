#if FoundationNetworking
    public import Foundation
    public import URLClient

    #if canImport(FoundationNetworking)
        public import FoundationNetworking
    #endif

    /// What a task took (`URLSessionTaskMetrics`).
    public final class ClientURLSessionTaskMetrics: NSObject, @unchecked Sendable {
        /// The figures as the client gives them.
        public let client: ClientMetrics
        /// One for each request that was sent.
        public let transactionMetrics: [ClientURLSessionTaskTransactionMetrics]

        init(_ metrics: ClientMetrics) {
            client = metrics
            transactionMetrics = metrics.hops.map {
                ClientURLSessionTaskTransactionMetrics($0, since: metrics.startDate)
            }
        }

        /// From the start of the task to its end.
        public var taskInterval: DateInterval {
            DateInterval(start: client.startDate, duration: client.duration.inSeconds)
        }
        /// How many redirects were followed.
        public var redirectCount: Int { client.redirectCount }
    }

    /// What one request took (`URLSessionTaskTransactionMetrics`). Dates that did not occur are nil.
    public final class ClientURLSessionTaskTransactionMetrics: NSObject, @unchecked Sendable {
        private let hop: ClientMetrics.Hop
        private let start: Date

        init(_ hop: ClientMetrics.Hop, since start: Date) {
            (self.hop, self.start) = (hop, start)
        }

        private func date(_ time: Duration?) -> Date? {
            time.map { start.addingTimeInterval($0.inSeconds) }
        }

        /// The request, by its URL.
        public var request: URLRequest { URLRequest(url: hop.url) }
        /// The version, such as `http/1.1` or `http/2`.
        public var networkProtocolName: String? { hop.version?.rawValue.lowercased() }
        /// The start of the task.
        public var fetchStartDate: Date? { date(.zero) }
        /// When the address was known.
        public var domainLookupEndDate: Date? { date(hop.nameLookupEnd) }
        /// When the connection was there.
        public var connectEndDate: Date? { date(hop.connectEnd) }
        /// When TLS was agreed on.
        public var secureConnectionEndDate: Date? { date(hop.secureConnectionEnd) }
        /// When the request began to be sent.
        public var requestStartDate: Date? { date(hop.requestStart) }
        /// When the request was sent.
        public var requestEndDate: Date? { date(hop.requestEnd) }
        /// When the first byte of the response came.
        public var responseStartDate: Date? { date(hop.responseStart) }
        /// When the last byte came.
        public var responseEndDate: Date? { date(hop.responseEnd) }
        /// Whether a proxy stood between.
        public var isProxyConnection: Bool { hop.isProxied }
        /// Whether the connection had served before.
        public var isReusedConnection: Bool { hop.isConnectionReused }
        /// The address of the peer.
        public var remoteAddress: String? { hop.remoteAddress.isEmpty ? nil : hop.remoteAddress }
        /// The port of the peer.
        public var remotePort: Int? { hop.remotePort == 0 ? nil : hop.remotePort }
        /// The address of this side.
        public var localAddress: String? { hop.localAddress.isEmpty ? nil : hop.localAddress }
        /// The port of this side.
        public var localPort: Int? { hop.localPort == 0 ? nil : hop.localPort }
        /// The content sent, in bytes.
        public var countOfRequestBodyBytesSent: Int64 { hop.requestContentBytes }
        /// The content received, in bytes.
        public var countOfResponseBodyBytesReceived: Int64 { hop.responseContentBytes }
        /// The head sent, in bytes.
        public var countOfRequestHeaderBytesSent: Int64 { Int64(hop.requestHeadBytes) }
        /// The head received, in bytes.
        public var countOfResponseHeaderBytesReceived: Int64 { Int64(hop.responseHeadBytes) }
    }
#endif
