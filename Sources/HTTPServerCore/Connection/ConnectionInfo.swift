public import Logging
internal import Synchronization

/// What is known of a connection: who it is with, and how much has passed.
///
/// Its requests and hooks share it. It may be read from any thread, also when the connection is
/// gone.
public final class ConnectionInfo: Sendable {
    /// A number that no other connection of the process has, from 1 on.
    public let id: UInt64
    /// Where the server took the connection.
    public let local: SocketAddress
    package let peerAddress: PeerAddress
    /// The server's; the server itself is not kept by what is remembered of its connections.
    private let serverLogger: Logger
    let loop: EventLoop
    // The loop alone writes these, so a load and a store do for an addition.
    private let received = Atomic<Int64>(0)
    private let sent = Atomic<Int64>(0)
    private let requests = Atomic<Int>(0)
    /// By which its loop finds the connection, as long as it is there.
    let token = Atomic<UInt64>(.max)

    private static let lastID = Atomic<UInt64>(0)

    init(core: ServerCore, loop: EventLoop, peer: PeerAddress, local: SocketAddress) {
        id = Self.lastID.add(1, ordering: .relaxed).newValue
        serverLogger = core.logger
        self.loop = loop
        peerAddress = peer
        self.local = local
    }

    /// Where the connection came from.
    public var peer: SocketAddress { peerAddress.address }

    /// How many bytes have come so far, heads and framing included.
    public var bytesReceived: Int64 { received.load(ordering: .relaxed) }

    /// How many bytes the system has taken so far, heads and framing included.
    public var bytesSent: Int64 { sent.load(ordering: .relaxed) }

    /// How many requests have begun so far, those whose head could not be read left out.
    public var requestCount: Int { requests.load(ordering: .relaxed) }

    /// The server's logger, with the number of the connection as metadata.
    public var logger: Logger {
        var logger = serverLogger
        logger[metadataKey: "connection"] = "\(id)"
        return logger
    }

    func addReceived(_ count: Int) {
        received.store(received.load(ordering: .relaxed) &+ Int64(count), ordering: .relaxed)
    }

    func addSent(_ count: Int) {
        sent.store(sent.load(ordering: .relaxed) &+ Int64(count), ordering: .relaxed)
    }

    /// - Returns: the number of the request that begins, from 1 on.
    func countRequest() -> Int {
        let number = requests.load(ordering: .relaxed) &+ 1
        requests.store(number, ordering: .relaxed)
        return number
    }
}

extension ConnectionInfo: CustomStringConvertible {
    /// The number and the peer.
    public var description: String { "connection \(id) from \(peer)" }
}
