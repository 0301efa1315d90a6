#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The times and counts of a task, by transaction, as in `URLSessionTaskMetrics`.
public struct ClientMetrics: Sendable {
    /// When the task was started.
    public internal(set) var startDate = Date()
    /// From the start of the task to its end.
    public internal(set) var duration = Duration.zero
    /// How many redirects were followed.
    public internal(set) var redirectCount = 0
    /// The requests that were sent, in order.
    public internal(set) var transactions: [Transaction] = []

    /// One request and its response.
    ///
    /// The times from ``nameLookupEnd`` to ``responseEnd`` count from ``start``. They are nil for
    /// steps that did not happen, or were not needed because the connection was open.
    public struct Transaction: Sendable {
        /// The URL.
        public internal(set) var url: URL
        /// The version of the response; nil without a response.
        public internal(set) var version: ClientResponse.Version?
        /// When the transaction left the queue, from the start of the task.
        public internal(set) var start = Duration.zero
        /// How long the transaction had waited in the queue.
        public internal(set) var queued = Duration.zero
        /// When the address was known.
        public internal(set) var nameLookupEnd: Duration?
        /// When the connection was established.
        public internal(set) var connectEnd: Duration?
        /// When the TLS handshake was complete.
        public internal(set) var secureConnectionEnd: Duration?
        /// When the request was started.
        public internal(set) var requestStart: Duration?
        /// When the last byte of the request's content was passed to libcurl.
        public internal(set) var requestEnd: Duration?
        /// When the first line of the response arrived.
        public internal(set) var responseStart: Duration?
        /// When the transaction was over.
        public internal(set) var responseEnd: Duration?
        /// Whether the connection had been used before.
        public internal(set) var isConnectionReused = false
        /// The address that the client was connected to: the proxy's, if one was used.
        public internal(set) var remoteAddress = ""
        /// The port of ``remoteAddress``.
        public internal(set) var remotePort = 0
        /// The client's own address.
        public internal(set) var localAddress = ""
        /// The client's own port.
        public internal(set) var localPort = 0
        /// The target that was connected to in place of the URL's host.
        public internal(set) var connectTarget: ConnectTarget?
        /// Whether a proxy was used.
        public internal(set) var isProxied = false
        /// The version of TLS; nil without TLS.
        public internal(set) var tlsVersion: String?
        /// The cipher; nil without TLS.
        public internal(set) var tlsCipher: String?
        /// The length of the request line and fields in bytes.
        public internal(set) var requestHeadBytes = 0
        /// The length of the request's content in bytes.
        public internal(set) var requestContentBytes: Int64 = 0
        /// The length of the status line and fields in bytes.
        public internal(set) var responseHeadBytes = 0
        /// The length of the response's content in bytes, before content decoding.
        public internal(set) var responseContentBytes: Int64 = 0

        init(url: URL) {
            self.url = url
        }
    }
}
