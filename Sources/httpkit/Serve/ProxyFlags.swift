import ArgumentParser
import HTTPServerCore
import HTTPServerProxies

/// The proxies that connect to `serve`.
struct ProxyFlags: ParsableArguments {
    enum Field: String, ExpressibleByArgument, CaseIterable {
        case forwarded
        case xForwarded = "x-forwarded"

        var names: ForwardedFields.Names {
            switch self {
            case .forwarded: .forwarded
            case .xForwarded: [.xForwardedFor, .xForwardedProto, .xForwardedHost]
            }
        }
    }

    @Option(
        help: ArgumentHelp(
            "A proxy whose connections begin with the PROXY protocol; can be given several times.",
            discussion: "An address, a network such as 10.0.0.0/8, loopback or unix.",
            valueName: "address"))
    var proxyProtocol: [String] = []

    @Option(
        help: ArgumentHelp(
            "A proxy whose forwarding fields are trusted; can be given several times.",
            discussion: """
                The proxy must write or remove all fields that --forwarded-fields names: a field \
                that it passes on is from the client.
                """, valueName: "address"))
    var trustedProxy: [String] = []

    @Option(help: "The fields that a --trusted-proxy writes: forwarded or x-forwarded.")
    var forwardedFields = Field.xForwarded

    func validate() throws {
        for names in [proxyProtocol, trustedProxy] { _ = try Self.proxies(names) }
    }

    private static func proxies(_ names: [String]) throws -> TrustedProxies {
        do throws(TrustedProxyError) {
            return try TrustedProxies(names)
        } catch {
            throw ValidationError(error.description)
        }
    }

    /// The endpoints, with the clients that the PROXY protocol names.
    func endpoints(
        _ endpoints: [ServerConfiguration.Endpoint]
    ) throws -> [ServerConfiguration.Endpoint] {
        guard !proxyProtocol.isEmpty else { return endpoints }
        let layer = ProxyProtocol(from: try Self.proxies(proxyProtocol))
        return endpoints.map { $0.behindProxies(layer) }
    }

    /// The handler, which gets the clients that the forwarding fields name.
    func handler(_ handler: any Handler) throws -> any Handler {
        guard !trustedProxy.isEmpty else { return handler }
        return ForwardedHandler(
            handler, proxies: try Self.proxies(trustedProxy), fields: forwardedFields.names)
    }
}
