internal import HTTPParser

/// All that a hop is, for libcurl.
struct HopSettings {
    var wire: WireURL
    var method: HTTPMethod
    var fields: HTTPFields
    /// Where there is content to send, and be it none: its length, nil if that is not known.
    var upload: (length: Int64?, ())?
    var target: ConnectTarget?
    var proxy: ClientProxy?
    var protocols: ProtocolPolicy
    var tls: TLSOptions
    var trust: TrustPolicy?
    var resolver: ResolverOptions
    var connectTimeout: Duration?
    /// How long to wait for `100 Continue`; nil if it is not asked for.
    var expectationWait: Duration?
    var idleConnectionTime: Duration
    var allowsHTTP09: Bool
    /// Whether a large receive buffer is worth its memory.
    var receivesMuch: Bool
}

extension HopSettings {
    /// Whether an HTTP proxy is asked to connect to the server.
    var tunnels: Bool { proxy?.makesTunnel(to: wire.origin, target) ?? false }

    /// Whether it matters when the request goes out: to know what a proxy has said before, and that
    /// what must not be done twice is not sent twice.
    var needsStart: Bool { proxy != nil || !method.isIdempotent }
}
