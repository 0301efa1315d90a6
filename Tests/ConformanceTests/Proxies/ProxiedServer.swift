import HTTPParser
import HTTPServerAuthentication
import HTTPServerCore
import HTTPServerKit
import HTTPServerProxies
import HTTPServerWebSocket
import Logging
import TestSupport
import Testing
import ToolkitSystem
import URLClient
import WebDAVKit

/// A server inside the test process, behind proxies at 127.0.0.1.
///
/// `/facts` responds with facts of the client, one `name=value` per line; `/dav` is WebDAV,
/// `/limited` allows each client one request an hour, `/login` is for ann with the password
/// right, `/chat` sends each message back, and `/count` counts the content.
struct ProxiedServer {
    /// How the proxy names its client.
    enum Naming {
        case proxyProtocol
        case fields(ForwardedFields.Names)
    }

    let server: HTTPServer
    let port: UInt16
    /// The access log.
    let records = ServerLog<AccessRecord>()
    /// The number of bytes of content that `/count` has received.
    let counted = Locked(0)
    /// The server's warnings and errors.
    let complaints = ServerLog<String>()

    init(
        _ naming: Naming, proxies: [String] = ["127.0.0.1"],
        _ change: (inout ServerConfiguration) -> Void = { _ in }
    ) async throws {
        let (records, complaints) = (records, complaints)
        let trusted = try TrustedProxies(proxies)
        var endpoint = ServerConfiguration.Endpoint.tcp(host: "127.0.0.1", port: 0)
        var handler: any Handler = try Self.router(counted)
        switch naming {
        case .proxyProtocol: endpoint = endpoint.behindProxies(ProxyProtocol(from: trusted))
        case .fields(let names):
            handler = ForwardedHandler(handler, proxies: trusted, fields: names)
        }
        var configuration = ServerConfiguration()
        configuration.endpoints = [endpoint]
        configuration.loops = 1
        configuration.headTimeout = .seconds(120)
        configuration.accessLog = { records.add($0) }
        configuration.logger = Logger(label: "proxied") { _ in ComplaintLog(log: complaints) }
        change(&configuration)
        server = HTTPServer(configuration, handler: handler)
        try await server.start()
        port = try #require(server.addresses.first?.port)
    }

    private static func router(_ counted: Locked<Int>) throws -> Router {
        var router = Router()
        router.route(.get, "/facts", to: SyncHandler { .text(facts(of: $0)) })
        router.mountWebDAV("/dav", WebDAVHandler(store: MemoryStore(), locks: MemoryLockStore()))
        router.route(
            .get, "/limited",
            to: RateLimitHandler(
                SyncHandler { _ in Response(.ok) }, requests: 1, per: .seconds(3_600)))
        let accounts = MemoryAccountStore(realm: "tests", rounds: 3)
        try accounts.add("ann", password: "right")
        router.route(
            .get, "/login",
            to: AuthenticationHandler(
                SyncHandler { _ in Response(.ok) }, by: Authenticator(accounts: accounts)))
        router.get("/chat") { request in
            try request.webSocket { socket in
                for try await message in socket { try await socket.send(message) }
            }
        }
        router.put("/count") { request in
            for try await piece in request.body { counted.withLock { $0 += piece.count } }
            return .text("\(counted.withLock { $0 })")
        }
        return router
    }

    private static func facts(of request: Request) -> String {
        let security = request.connection.security
        let lines: [(String, String?)] = [
            ("client", request.peer.host), ("port", request.peer.port.map { "\($0)" }),
            ("local", "\(request.local)"), ("scheme", request.scheme), ("host", request.host),
            ("url", request.url), ("tls", security?.version), ("cipher", security?.cipher),
            ("name", security?.serverName), ("alpn", security?.applicationProtocol),
            ("certificate", security?.peerCertificate?.commonName),
        ]
        return lines.map { "\($0)=\($1 ?? "-")\n" }.joined()
    }

    /// Runs curl from the address 127.0.0.`from`.
    static func curl(_ arguments: [String], from: Int = 1) async throws -> Program.Result {
        try await Program.run(
            "curl", ["-sS", "-m", "110", "--interface", "127.0.0.\(from)"] + arguments)
    }

    /// The facts as a dictionary.
    static func facts(_ arguments: [String], from: Int = 1) async throws -> [String: String] {
        let result = try await curl(arguments, from: from)
        try #require(result.status == 0, "\(result.complaints)")
        return Dictionary(
            result.text.split(separator: "\n").compactMap { line in
                let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
                return parts.count == 2 ? (parts[0], parts[1]) : nil
            }, uniquingKeysWith: { first, _ in first })
    }
}

/// Records warnings and errors.
private struct ComplaintLog: LogHandler {
    let log: ServerLog<String>
    var logLevel = Logger.Level.warning
    var metadata = Logger.Metadata()

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { log.add("\(event.level) \(event.message)") }
}
