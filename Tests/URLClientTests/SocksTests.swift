import HTTPCodecs
import HTTPParser
import Testing
import ToolkitSystem
import URLClient

@Suite("SOCKS proxies", .timeLimit(.minutes(2)))
struct SocksTests {
    private func get(
        _ url: String, through proxy: ClientProxy
    ) async throws -> (content: [UInt8], transaction: ClientMetrics.Transaction?) {
        var request = ClientRequest(.get, url)
        request.proxy = .proxy(proxy)
        let task = ClientSession().dataTask(for: request, delegate: Recorder())
        try await task.finished()
        let (content, _) = try await ClientSession().data(for: request)
        return (content, task.metrics?.transactions.last)
    }

    @Test(
        "Names are resolved by the client (4, 5) or by the proxy (4a, 5h)",
        arguments: [
            (ClientProxy.Kind.socks4, "localhost", "4 user= address 127.0.0.1:81"),
            (.socks4a, "name.test", "4 user= name name.test:81"),
            (.socks5, "localhost", "5 user= address 127.0.0.1:81"),
            (.socks5h, "name.test", "5 user= name name.test:81"),
        ])
    func kinds(_ kind: ClientProxy.Kind, _ host: String, _ asked: String) async throws {
        let socks = try SocksProxy()
        let proxy = ClientProxy(kind, host: "127.0.0.1", port: socks.port)
        var request = ClientRequest(.get, "http://\(host):81/x")
        request.proxy = .proxy(proxy)
        var configuration = ClientConfiguration.ephemeral
        configuration.resolver.family = .ipv4
        let (content, response) = try await ClientSession(configuration).data(for: request)
        #expect(content == Array("ok".utf8) && response.status == .ok)
        #expect(socks.asked.withLock { $0 } == [asked])
        let head = try #require(socks.heads.withLock { $0.first })
        #expect(head.hasPrefix("GET /x HTTP/1.1\r\nHost: \(host):81\r\n"))
        #expect(!head.lowercased().contains("proxy"))
    }

    @Test("Version 5 uses a login (RFC 1929), which the server does not get")
    func login() async throws {
        let socks = try SocksProxy(login: "me:pass")
        let good = ClientProxy(
            .socks5h, host: "127.0.0.1", port: socks.port, user: "me", password: "pass")
        let (content, transaction) = try await get("http://name.test/", through: good)
        #expect(content == Array("ok".utf8) && transaction?.isProxied == true)
        #expect(socks.asked.withLock { Set($0) } == ["5 user=me:pass name name.test:80"])
        #expect(socks.heads.withLock { $0 }.allSatisfy { !$0.contains("Authorization") })
        for (user, password) in [("me", "wrong"), (nil, nil)] as [(String?, String?)] {
            let proxy = ClientProxy(
                .socks5h, host: "127.0.0.1", port: socks.port, user: user, password: password)
            let error = await failure { try await get("http://name.test/", through: proxy) }
            #expect(error?.kind == .proxyRefused, "\(error?.description ?? "-")")
            #expect(error?.exitCode == 97)
        }
    }

    @Test("A refusal is reported as the proxy's", arguments: [ClientProxy.Kind.socks4a, .socks5h])
    func refusal(_ kind: ClientProxy.Kind) async throws {
        let socks = try SocksProxy(refuses: true)
        let proxy = ClientProxy(kind, host: "127.0.0.1", port: socks.port)
        let error = await failure { try await get("http://name.test/", through: proxy) }
        #expect(error?.kind == .proxyRefused, "\(error?.description ?? "-")")
        #expect(error?.isSafeToRetry == true && error?.urlErrorCode == -1005)
    }
}
