public import HTTPServerCore
package import ToolkitSystem

/// The header that a proxy sends before a connection's bytes. It names the client on whose behalf
/// the proxy connected (PROXY protocol of HAProxy, versions 1 and 2).
public struct ProxyHeader: Hashable, Sendable {
    /// A version of the protocol.
    public enum Version: Int, Sendable, CaseIterable {
        /// One line of text.
        case text = 1
        /// Binary, with further facts as type, length and value.
        case binary = 2
    }

    /// The party on whose behalf the proxy connected.
    public enum Command: Sendable {
        /// The proxy itself, as for a health check; the header contains nothing else.
        case local
        /// A client.
        case proxy
    }

    /// The party on whose behalf the proxy connected; `proxy` in version 1.
    public var command: Command
    /// The client's address; `nil` if the addresses of the socket are valid, as with `local` and
    /// with an unknown family.
    public var source: SocketAddress?
    /// The address to which the client connected; `nil` together with `source`.
    public var destination: SocketAddress?
    /// The protocol chosen by ALPN, such as the bytes of `h2` (version 2).
    public var applicationProtocol: [UInt8]?
    /// The host name that the client requested, such as by SNI (version 2).
    public var authority: String?
    /// Bytes that identify the connection in the proxy's logs, at most 128 (version 2).
    public var uniqueID: [UInt8]?
    /// The client's TLS session, which ended at the proxy; `nil` if the header has none (version
    /// 2).
    public var tls: TLS?

    /// A TLS session that ended at a proxy.
    public struct TLS: Hashable, Sendable {
        /// The version, such as `TLSv1.3`.
        public var version: String?
        /// The cipher, such as `TLS_AES_256_GCM_SHA384`.
        public var cipher: String?
        /// The common name of the client's certificate. Trust it only if `isVerified`.
        public var commonName: String?
        /// Whether the client sent a certificate, on this connection or earlier in the session.
        public var hasCertificate = false
        /// The proxy's result of checking the certificate; 0 means that it is valid.
        public var verifyResult: UInt32 = 1

        /// Whether the client sent a certificate and the proxy found it valid.
        public var isVerified: Bool { hasCertificate && verifyResult == 0 }

        /// Creates the facts of a session without a certificate.
        public init() {}
    }

    /// Creates a header.
    /// - Parameters:
    ///   - command: the party on whose behalf the proxy connects.
    ///   - source: the client's address.
    ///   - destination: the address to which the client connected, of the same family.
    public init(
        _ command: Command, source: SocketAddress? = nil, destination: SocketAddress? = nil
    ) {
        (self.command, self.source, self.destination) = (command, source, destination)
    }

    /// The client's address as a connection stores it; `nil` if the address of the socket is valid.
    package var peer: PeerAddress? { source.flatMap { PeerAddress($0) } }
}
