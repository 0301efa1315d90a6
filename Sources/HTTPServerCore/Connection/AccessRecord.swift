public import HTTPParser
public import ToolkitSystem

/// A finished request and its response.
///
/// It is a small value that retains the request and makes texts only on use.
public struct AccessRecord: Sendable {
    package let storage: Request.Storage?
    /// The connection that the request came on.
    public let connection: ConnectionInfo
    /// The status of the response.
    public let status: HTTPStatus
    /// Bytes of content sent, without framing. If the response was cut short, bytes that the system
    /// did not take are left out.
    public let contentBytes: Int64
    /// Bytes of content received, without transfer coding.
    public let receivedBytes: Int64
    /// Why the response was not sent completely; `nil` if it was.
    public let failure: ConnectionCloseReason?
    /// Nanoseconds from the end of the head to the end of the response.
    package let elapsed: UInt64
    /// Nanoseconds since the epoch.
    package let time: Int64

    init(
        _ observed: consuming RequestObservation, connection: ConnectionInfo,
        failure: ConnectionCloseReason?, ended: UInt64, time: Int64
    ) {
        storage = observed.storage
        self.connection = connection
        status = observed.status
        contentBytes = observed.contentBytes
        receivedBytes = observed.receivedBytes
        self.failure = failure
        elapsed = ended > observed.started ? ended - observed.started : 0
        self.time = time
    }

    /// The request; `nil` when its head could not be read.
    public var request: Request? { storage.map { Request($0) } }
    /// The address of the client; see `Request.peer`.
    public var peer: SocketAddress { peerAddress.address }
    package var peerAddress: PeerAddress { request?.peerAddress ?? connection.peerAddress }
    /// The method; empty when the head was unreadable.
    public var method: String { request?.method.name ?? "" }
    /// The target as received; empty when the head was unreadable.
    public var target: String { request?.originalTarget.text ?? "" }
    /// The version; 1.1 when the head was unreadable.
    public var version: HTTPVersion { request?.version ?? .http11 }
    /// The time from the end of the head to the end of the response.
    public var duration: Duration { .nanoseconds(Int64(clamping: elapsed)) }
    /// The value of Referer.
    public var referer: String? { request?.fields[.referer] }
    /// The value of User-Agent.
    public var userAgent: String? { request?.fields[.userAgent] }
    /// The identifier of the request in logs and at the client; see `Request.traceID`.
    public var traceID: String { request?.traceID ?? "\(connection.id)-" }
    /// When the response ended.
    public var date: HTTPDate { HTTPDate(secondsSinceEpoch: time / 1_000_000_000) }
    /// Whether the response was sent completely.
    public var isComplete: Bool { failure == nil }
}
