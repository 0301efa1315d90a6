#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Why a task did not end well.
///
/// A response with any status is no error: 404 is an answer.
public struct ClientError: Error, Sendable {
    /// What went wrong.
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

    /// How far a hop had come.
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

    /// What went wrong.
    public var kind: Kind
    /// A sentence for people.
    public var message: String
    /// How far the hop had come.
    public var phase: Phase
    /// How many bytes of the request's content were sent.
    public var bytesSent: Int64
    /// How many bytes of the response's content had come.
    public var bytesReceived: Int64
    /// Whether it is certain that the server has done nothing, so that any request can be sent
    /// again.
    public var isSafeToRetry: Bool
    /// The URL of the hop.
    public var url: URL?
    /// With which a download goes on where it stopped, if that is possible.
    public var resumeData: ResumeData?
    /// libcurl's number, which is the exit status of its program; 0 where libcurl had no part.
    public var curlCode: Int32
    /// What an application's hook threw.
    public var underlying: (any Error)?

    /// Creates an error.
    public init(
        _ kind: Kind, _ message: String = "", phase: Phase = .preparing, bytesSent: Int64 = 0,
        bytesReceived: Int64 = 0, isSafeToRetry: Bool = false, url: URL? = nil,
        resumeData: ResumeData? = nil, curlCode: Int32 = 0, underlying: (any Error)? = nil
    ) {
        self.kind = kind
        self.message = message
        self.phase = phase
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
        self.isSafeToRetry = isSafeToRetry
        self.url = url
        self.resumeData = resumeData
        self.curlCode = curlCode
        self.underlying = underlying
    }

    /// Whether the task was cancelled.
    public var isCancelled: Bool { kind == .cancelled }
    /// Whether something took too long.
    public var isTimeout: Bool {
        if case .timedOut = kind { true } else { false }
    }
}

extension ClientError: CustomStringConvertible {
    /// What went wrong, where, and what is known of it.
    public var description: String {
        var text = kind.text
        if !message.isEmpty { text += ": \(message)" }
        if let url { text += " (\(url.absoluteString), while \(phase.rawValue))" }
        return text
    }
}
