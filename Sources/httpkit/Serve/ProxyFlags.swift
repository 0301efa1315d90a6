import ArgumentParser
import HTTPServerCore
import HTTPServerProxies

/// The proxies in front of `serve`.
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
            "A proxy whose forwarding fields are believed; can be given several times.",
            discussion: """
                The proxy must write all of the fields that --forwarded-fields names: those that it \
                passes on are a client's.
                """, valueName: "address"))
    var trustedProxy: [String] = []

    @Option(help: "The fields that a --trusted-proxy writes: forwarded or x-forwarded.")
    var forwardedFields = Field.xForwarded

    func validate() throws {
        for names in [proxyProtocol, trustedProxy] {
            do throws(TrustedProxyError) {
                _ = try TrustedProxies(names)
            } catch {
                throw ValidationError(error.description)
            }
        }
    }

    /// The endpoints, with clients that the proxies name.
    func endpoints(_ endpoints: [ServerConfiguration.Endpoint]) -> [ServerConfiguration.Endpoint] {
        guard !proxyProtocol.isEmpty, let proxies = try? TrustedProxies(proxyProtocol) else {
            return endpoints
        }
        return endpoints.map { $0.behindProxies(ProxyProtocol(from: proxies)) }
    }

    /// The handler, which sees the clients that the proxies name.
    func handler(_ handler: any Handler) -> any Handler {
        guard !trustedProxy.isEmpty, let proxies = try? TrustedProxies(trustedProxy) else {
            return handler
        }
        return ForwardedHandler(handler, proxies: proxies, fields: forwardedFields.names)
    }
}
