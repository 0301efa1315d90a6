public import HTTPServerCore
package import ToolkitSystem

/// Has proxies for TCP name the client ahead of each connection's bytes (PROXY protocol of HAProxy,
/// versions 1 and 2).
///
/// ```swift
/// let proxies = try TrustedProxies(["10.0.0.2"])
/// configuration.endpoints = [
///     .tcp(host: "*", port: 8080).behindProxies(ProxyProtocol(from: proxies))
/// ]
/// ```
///
/// A connection from a named address must begin with the header, within the time for the first head;
/// `Request.peer` and `ConnectionInfo.peer` are the client's address then. Other clients may connect,
/// too, and must not send one. `connectionLimitPerAddress` and the hook `admits` see the proxy: they
/// are asked before anything was read.
public final class ProxyProtocol: Sendable {
    private let proxies: TrustedProxies

    /// Creates a layer for endpoints.
    /// - Parameter proxies: the addresses from which connections begin with the header.
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
    /// The same endpoint, with the client named by proxies. TLS, where there is some, comes after the
    /// header, whichever is added first.
    public func behindProxies(_ layer: ProxyProtocol) -> Self {
        var endpoint = self
        endpoint.layers.insert(layer, at: 0)
        return endpoint
    }
}
