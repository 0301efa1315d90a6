public import HTTPParser

extension ClientError {
    /// The kinds of errors.
    @nonexhaustive
    public enum Kind: Sendable, Hashable {
        /// The task was cancelled.
        case cancelled
        /// The session takes no tasks any more.
        case sessionInvalidated
        /// The URL is malformed.
        case badURL
        /// The scheme is neither http nor https.
        case unsupportedURL
        /// The request cannot be sent as it is: a field with a line break, for example.
        case badRequest
        /// Content with a method that gives it no meaning.
        case contentNotAllowed
        /// The host's name has no address.
        case cannotFindHost
        /// The proxy's name has no address.
        case cannotFindProxy
        /// No connection could be made.
        case cannotConnect
        /// The proxy refused.
        case proxyRefused
        /// The connection broke.
        case connectionLost
        /// Something took too long.
        case timedOut(ClientTimeouts.Limit)
        /// TLS could not be agreed upon.
        case secureConnectionFailed
        /// The server's certificate leads to no trusted authority.
        case certificateUntrusted
        /// The server's certificate is for other names.
        case certificateNameMismatch
        /// The server's certificate is not valid now.
        case certificateExpired
        /// The server's key is none of the pinned ones.
        case pinMismatch
        /// The client's certificate or key cannot be used.
        case badClientCertificate
        /// The trusted authorities cannot be read.
        case badAuthorities
        /// The answer is not HTTP, or ill-formed.
        case badResponse
        /// The connection was closed without an answer.
        case emptyResponse
        /// The head of the answer is longer than allowed.
        case headTooLong
        /// The content is longer than allowed.
        case contentTooLong
        /// The content ended before its end.
        case truncated
        /// The content coding could not be taken off, or its content is longer than allowed.
        case decodingFailed
        /// The content is not what was asked for: no JSON, or that of something else.
        case unexpectedContent
        /// The status is not one of success, where one was required.
        case unexpectedStatus
        /// The server has answered the handshake of a WebSocket with this status in place of 101.
        case webSocketRefused(HTTPStatus)
        /// There were more redirects than allowed.
        case tooManyRedirects
        /// A redirect that must not be followed.
        case redirectRefused
        /// The content would have to be sent again, and cannot be.
        case bodyNotReplayable
        /// The content could not be read, or was not as long as announced.
        case bodyFailed
        /// The server wants credentials, and there are none.
        case authenticationRequired
        /// A file could not be opened.
        case cannotOpenFile
        /// A file could not be written.
        case cannotWriteFile
        /// No stored response, and the server must not be asked.
        case notCached
        /// A resolver or another hook of the application threw.
        case hookFailed
        /// Something that libcurl cannot do here.
        case notSupported
        /// Out of memory, or a fault of the client's own.
        case internalFailure
    }

    /// How far a transaction had come.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// Before it was started.
        case preparing
        /// Waiting for its turn.
        case queued
        /// Finding the address.
        case resolving
        /// Connecting.
        case connecting
        /// Agreeing on TLS keys.
        case securing
        /// Sending the request.
        case sending
        /// Waiting for the answer.
        case waiting
        /// Receiving the answer.
        case receiving
        /// After the last byte.
        case finishing
    }
}
