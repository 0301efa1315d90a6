import HTTPParser
import HTTPServerProxies
import HTTPServerTLS
import HTTPServerToolkit
import HTTPServerWebSocket
import URLClient

func secureEndpoint() throws -> ServerConfiguration.Endpoint {
    let tls = try TLSContext(
        TLSConfiguration(certificates: [.files(chain: "site.pem", key: "site.key")]))
    let secure = ServerConfiguration.Endpoint.tcp(host: "*", port: 8443).secured(by: tls)
    return secure
}

func addChat(to router: inout Router) {
    router.get("/chat") { request in
        try request.webSocket { socket in
            for try await message in socket { try await socket.send(message) }
        }
    }
}

func proxied(_ router: Router) throws -> (any Handler, ServerConfiguration.Endpoint) {
    let proxies = try TrustedProxies(["loopback"])
    let proxied = ForwardedHandler(router, proxies: proxies, fields: .xForwarded)
    let behind = ServerConfiguration.Endpoint.tcp(host: "10.0.0.5", port: 8080)
        .behindProxies(ProxyProtocol(from: try TrustedProxies(["10.0.0.2"])))
    return (proxied, behind)
}

func connectElsewhere() async throws -> (Int, UInt16) {
    var request = ClientRequest(.get, "https://example.org/")
    request.connectTo = ConnectTarget(host: "203.0.113.7", port: 8443)
    let (content, response) = try await ClientSession().data(for: request)
    return (content.count, response.status.code)
}
