#if FoundationNetworking
    public import Foundation
    public import URLClient

    #if canImport(FoundationNetworking)
        public import FoundationNetworking
    #endif

    /// The metrics of a task (`URLSessionTaskMetrics`).
    public final class ClientURLSessionTaskMetrics: NSObject, @unchecked Sendable {
        /// The underlying metrics.
        public let client: ClientMetrics
        /// The metrics of each request that was sent.
        public let transactionMetrics: [ClientURLSessionTaskTransactionMetrics]

        init(_ metrics: ClientMetrics) {
            client = metrics
            transactionMetrics = metrics.transactions.map {
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

    /// The metrics of one request (`URLSessionTaskTransactionMetrics`). Dates that did not occur
    /// are nil.
    public final class ClientURLSessionTaskTransactionMetrics: NSObject, @unchecked Sendable {
        private let transaction: ClientMetrics.Transaction
        private let start: Date

        /// - Parameter taskStart: when the task was started.
        init(_ transaction: ClientMetrics.Transaction, since taskStart: Date) {
            self.transaction = transaction
            start = taskStart.addingTimeInterval(transaction.start.inSeconds)
        }

        private func date(_ time: Duration?) -> Date? {
            time.map { start.addingTimeInterval($0.inSeconds) }
        }

        /// The request, by its URL.
        public var request: URLRequest { URLRequest(url: transaction.url) }
        /// The version, such as `http/1.1` or `http/2`.
        public var networkProtocolName: String? { transaction.version?.rawValue.lowercased() }
        /// When the request began to wait for a connection.
        public var fetchStartDate: Date? { date(.zero - transaction.queued) }
        /// When the address was known.
        public var domainLookupEndDate: Date? { date(transaction.nameLookupEnd) }
        /// When the connection was established.
        public var connectEndDate: Date? { date(transaction.connectEnd) }
        /// When the TLS handshake was complete.
        public var secureConnectionEndDate: Date? { date(transaction.secureConnectionEnd) }
        /// When the request began to be sent.
        public var requestStartDate: Date? { date(transaction.requestStart) }
        /// When the request was sent.
        public var requestEndDate: Date? { date(transaction.requestEnd) }
        /// When the first byte of the response arrived.
        public var responseStartDate: Date? { date(transaction.responseStart) }
        /// When the last byte arrived.
        public var responseEndDate: Date? { date(transaction.responseEnd) }
        /// Whether a proxy was used.
        public var isProxyConnection: Bool { transaction.isProxied }
        /// Whether the connection was used before.
        public var isReusedConnection: Bool { transaction.isConnectionReused }
        /// The address of the peer.
        public var remoteAddress: String? {
            transaction.remoteAddress.isEmpty ? nil : transaction.remoteAddress
        }
        /// The port of the peer.
        public var remotePort: Int? { transaction.remotePort == 0 ? nil : transaction.remotePort }
        /// The address of this side.
        public var localAddress: String? {
            transaction.localAddress.isEmpty ? nil : transaction.localAddress
        }
        /// The port of this side.
        public var localPort: Int? { transaction.localPort == 0 ? nil : transaction.localPort }
        /// The content sent, in bytes.
        public var countOfRequestBodyBytesSent: Int64 { transaction.requestContentBytes }
        /// The content received, in bytes.
        public var countOfResponseBodyBytesReceived: Int64 { transaction.responseContentBytes }
        /// The head sent, in bytes.
        public var countOfRequestHeaderBytesSent: Int64 { Int64(transaction.requestHeadBytes) }
        /// The head received, in bytes.
        public var countOfResponseHeaderBytesReceived: Int64 {
            Int64(transaction.responseHeadBytes)
        }
    }
#endif
