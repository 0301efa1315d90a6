public import HTTPServerCore
package import ToolkitSystem

/// Lets TCP proxies name the client before each connection's bytes (PROXY protocol of HAProxy,
/// versions 1 and 2).
///
/// ```swift
/// let proxies = try TrustedProxies(["10.0.0.2"])
/// configuration.endpoints = [
///     .tcp(host: "*", port: 8080).behindProxies(ProxyProtocol(from: proxies))
/// ]
/// ```
///
/// A connection from a named address must begin with the header, within the time limit for the
/// first head. `Request.peer` and `ConnectionInfo.peer` are then the client's address. Other peers
/// may connect, too, and must not send a header. `connectionLimitPerAddress` and the hook `admits`
/// see the proxy, because they are checked before the header is read.
public final class ProxyProtocol: Sendable {
    private let proxies: TrustedProxies

    /// Creates a layer for endpoints.
    /// - Parameter proxies: the proxies whose connections begin with the header.
    public init(from proxies: TrustedProxies) {
        self.proxies = proxies
    }
}

extension ProxyProtocol: TransportLayer {
    package var isSecure: Bool { false }

    package func transport(
        over transport: any Transport, for owner: any TransportOwner
    ) -> any Transport {
        guard proxies.contains(owner.socketPeer) else { return transport }
        return ProxyTransport(over: transport, owner: owner)
    }
}

extension ServerConfiguration.Endpoint {
    /// The same endpoint, with the client named by proxies. The header precedes TLS, whichever is
    /// added first.
    public func behindProxies(_ layer: ProxyProtocol) -> Self {
        var endpoint = self
        endpoint.layers.insert(layer, at: 0)
        return endpoint
    }
}
