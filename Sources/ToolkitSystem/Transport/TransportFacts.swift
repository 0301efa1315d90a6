/// Facts of a connection that the layers of its transport have learned. Most connections have few,
/// so a missing kind takes only one word of memory.
package struct TransportFacts: Sendable {
    private struct Addresses {
        var peer: PeerAddress?
        var local: SocketAddress?
    }

    private var addresses: Shared<Addresses>?
    /// How the connection is encrypted; `nil` if it is not.
    package var security: Shared<TLSInfo>?

    package init() {}

    /// The client, if the socket's peer is a proxy.
    package var peer: PeerAddress? { addresses?.value.peer }
    /// The address that the client has connected to, if the socket's peer is a proxy.
    package var local: SocketAddress? { addresses?.value.local }

    /// Stores the addresses that a proxy has reported.
    package mutating func learn(peer: PeerAddress?, local: SocketAddress?) {
        addresses = Shared(Addresses(peer: peer, local: local))
    }
}

/// A value that several owners share.
package final class Shared<Value: Sendable>: Sendable {
    package let value: Value

    package init(_ value: Value) {
        self.value = value
    }
}
