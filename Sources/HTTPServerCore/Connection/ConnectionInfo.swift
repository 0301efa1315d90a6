public import Logging
internal import Synchronization
public import ToolkitSystem

/// A connection: its peer, and how much was transferred.
///
/// The connection's requests and hooks share it. It may be read from any thread, also after the
/// connection is closed.
public final class ConnectionInfo: Sendable {
    /// A number that no other connection of the process has, from 1 on.
    public let id: UInt64
    /// The address of the listener that accepted the connection.
    private let listening: SocketAddress
    /// `nil` unless the listener is bound to all addresses of the machine.
    private let socket: Locked<LocalSocket>?
    /// The address at the other end of the socket, which may belong to a proxy.
    let socketPeer: PeerAddress
    /// Set by the layers of the transport.
    private let facts = Locked(TransportFacts())
    /// Whether there are facts; saves most requests the lock.
    private let hasFacts = Atomic<Bool>(false)
    /// The server's logger. A reference to the server would keep the server alive.
    private let serverLogger: Logger
    package let loop: EventLoop
    // Only the loop writes these, so a load and a store suffice for an addition.
    private let received = Atomic<Int64>(0)
    private let sent = Atomic<Int64>(0)
    private let requests = Atomic<Int>(0)
    /// Identifies the last user who logged in by Basic, and the authenticator; 0 without one.
    private let login = Atomic<UInt64>(0)
    /// The token by which the loop finds the connection while it is open.
    let token = Atomic<UInt64>(.max)

    private static let lastID = Atomic<UInt64>(0)

    init(logger: Logger, loop: EventLoop, peer: PeerAddress, local: SocketAddress) {
        id = Self.lastID.add(1, ordering: .relaxed).newValue
        serverLogger = logger
        self.loop = loop
        socketPeer = peer
        listening = local
        socket = local.isWildcard ? Locked(LocalSocket()) : nil
    }

    /// The local address of the connection. If the listener is bound to all addresses, the system
    /// is asked at the first use. If the connection is closed before the first use, this is the
    /// address of the listener.
    public var local: SocketAddress {
        if let address = fact({ $0.local }) { return address }
        let address = socket?.withLock { socket in
            if socket.address == nil, socket.descriptor >= 0 {
                socket.address = Syscalls.localAddress(of: socket.descriptor)
            }
            return socket.address
        }
        return address ?? listening
    }

    /// Sets the connection's socket; `nil` before the close, which frees the descriptor's number.
    func keepSocket(_ descriptor: CInt?) { socket?.withLock { $0.descriptor = descriptor ?? -1 } }

    /// How the connection is encrypted; `nil` if it is not.
    public var security: TLSInfo? { fact { $0.security }?.value }

    /// The client's address: from a layer of the transport such as PROXY, else of the socket.
    package var peerAddress: PeerAddress { fact { $0.peer } ?? socketPeer }

    private func fact<Fact>(_ read: (inout TransportFacts) -> Fact?) -> Fact? {
        hasFacts.load(ordering: .acquiring) ? facts.withLock(read) : nil
    }

    func learn(_ change: (inout TransportFacts) -> Void) {
        facts.withLock(change)
        hasFacts.store(true, ordering: .releasing)
    }

    /// The address of the client.
    public var peer: SocketAddress { peerAddress.address }

    /// How many bytes were received so far, heads and framing included.
    public var bytesReceived: Int64 { received.load(ordering: .relaxed) }

    /// How many bytes the system has taken so far, heads and framing included.
    public var bytesSent: Int64 { sent.load(ordering: .relaxed) }

    /// How many requests have begun so far, without requests whose head could not be read.
    public var requestCount: Int { requests.load(ordering: .relaxed) }

    /// The server's logger, with the number of the connection as metadata.
    public var logger: Logger {
        var logger = serverLogger
        logger[metadataKey: "connection"] = "\(id)"
        return logger
    }

    /// Whether `number` is the last login on the connection.
    package func isLoggedIn(_ number: UInt64) -> Bool { login.load(ordering: .relaxed) == number }

    package func setLogin(_ number: UInt64) { login.store(number, ordering: .relaxed) }

    /// Forgets a login.
    /// - Returns: whether it was the last login on the connection.
    package func takeLogin(_ number: UInt64) -> Bool {
        login.compareExchange(expected: number, desired: 0, ordering: .relaxed).exchanged
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

/// The local end of a connection.
private struct LocalSocket: Sendable {
    var descriptor: CInt = -1
    var address: SocketAddress?
}

extension SocketAddress {
    /// Whether the address stands for all addresses of the machine.
    var isWildcard: Bool {
        switch self {
        case .ipv4(let host, _): host == "0.0.0.0"
        case .ipv6(let host, _): host == "::"
        case .unix: false
        }
    }
}

extension ConnectionInfo: CustomStringConvertible {
    /// The number and the peer.
    public var description: String { "connection \(id) from \(peer)" }
}
