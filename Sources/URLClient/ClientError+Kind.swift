public import HTTPParser

extension ClientError {
    /// The kinds of errors.
    @nonexhaustive
    public enum Kind: Sendable, Hashable {
        /// The task was cancelled.
        case cancelled
        /// The session was invalidated and accepts no more tasks.
        case sessionInvalidated
        /// The URL is malformed.
        case badURL
        /// The scheme is neither http nor https.
        case unsupportedURL
        /// The request cannot be sent as it is: a field with a line break, for example.
        case badRequest
        /// The request has content, but its method gives content no meaning.
        case contentNotAllowed
        /// The host's name has no address.
        case cannotFindHost
        /// The proxy's name has no address.
        case cannotFindProxy
        /// No connection could be made.
        case cannotConnect
        /// The proxy refused the connection or the tunnel.
        case proxyRefused
        /// The connection broke.
        case connectionLost
        /// One of the time limits was exceeded.
        case timedOut(ClientTimeouts.Limit)
        /// The TLS handshake failed.
        case secureConnectionFailed
        /// The server's certificate was not issued by a trusted authority.
        case certificateUntrusted
        /// The server's certificate is for other names.
        case certificateNameMismatch
        /// The server's certificate is not valid now.
        case certificateExpired
        /// The server's key is not one of the pinned keys.
        case pinMismatch
        /// The client's certificate or key cannot be used.
        case badClientCertificate
        /// The trusted authorities cannot be read.
        case badAuthorities
        /// The response is not HTTP, or is malformed.
        case badResponse
        /// The connection was closed without a response.
        case emptyResponse
        /// The head of the response is longer than allowed.
        case headTooLong
        /// The content is longer than allowed.
        case contentTooLong
        /// The response ended early.
        case truncated
        /// The content could not be decoded, or the decoded content is longer than allowed.
        case decodingFailed
        /// The content cannot be read as the requested type: it is not JSON, or JSON of another
        /// type.
        case unexpectedContent
        /// The status is not 2xx where 2xx is required.
        case unexpectedStatus
        /// The server answered a WebSocket handshake with this status in place of 101.
        case webSocketRefused(HTTPStatus)
        /// There were more redirects than allowed.
        case tooManyRedirects
        /// The redirect must not be followed.
        case redirectRefused
        /// The request's content must be sent again, but can be sent only once.
        case bodyNotReplayable
        /// The request's content could not be read, or its length was not the announced one.
        case bodyFailed
        /// Credentials are required, and none was accepted.
        case authenticationRequired
        /// A file could not be opened.
        case cannotOpenFile
        /// A file could not be written.
        case cannotWriteFile
        /// No stored response can answer, and the policy forbids asking the server.
        case notCached
        /// A resolver or another hook of the application threw.
        case hookFailed
        /// The installed libcurl, or the session's transport, does not support the request.
        case notSupported
        /// Out of memory, or a defect of this client.
        case internalFailure
    }

    /// How far a transaction had come.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// Before the transaction was started.
        case preparing
        /// Waiting for a connection.
        case queued
        /// Resolving the host name.
        case resolving
        /// Connecting.
        case connecting
        /// In the TLS handshake.
        case securing
        /// Sending the request.
        case sending
        /// Waiting for the response.
        case waiting
        /// Receiving the response.
        case receiving
        /// After the last byte.
        case finishing
    }
}
