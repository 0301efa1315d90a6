import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import URLClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("RFC 6797: hosts that require https, with real servers", .timeLimit(.minutes(2)))
struct TransactionStrictTransportTests {
    /// nginx as `a.test`, which requests a client certificate and requires https.
    private struct Setup {
        let certificates: TestCertificates
        let server: PeerServer
        let store = StrictTransportStore()

        init() async throws {
            certificates = try await TestCertificates()
            server = try await PeerServer.nginx(
                .init(
                    at: "127.0.0.1", identity: try await certificates.identity(for: "a.test"),
                    more: "add_header Strict-Transport-Security max-age=1000;\n"
                        + "ssl_client_certificate \(certificates.authority.certificate);\n"
                        + "ssl_verify_client optional;\n"
                        + "location = /stored { add_header Cache-Control max-age=1000; return 200 x; }\n"
                        + "location = /back { return 302 https://a.test/who; }\n"))
        }

        func learn() {
            store.receive(
                [.strictTransportSecurity: "max-age=1000"],
                from: Origin(scheme: "https", host: "a.test"),
                now: HTTPDate(secondsSinceEpoch: 4_000_000_000))
        }

        func data(
            _ url: String, _ change: (inout ClientConfiguration) throws -> Void = { _ in }
        ) async throws -> (text: String, response: ClientResponse) {
            var configuration = ClientConfiguration.ephemeral
            configuration.strictTransport = store
            configuration.tls.authorities = .file(certificates.authority.certificate)
            try change(&configuration)
            var request = ClientRequest(.get, url)
            request.connectTo = ConnectTarget(host: "127.0.0.1", port: server.port)
            let (content, response) = try await ClientSession(configuration).data(for: request)
            return (String(decoding: content, as: UTF8.self), response)
        }
    }

    @Test(
        "The connect target and the client certificate of an http URL are used for https, too",
        arguments: ["/who", "/back"])
    func moved(_ path: String) async throws {
        let setup = try await Setup()
        setup.learn()
        let ada = try await setup.certificates.identity(for: "ada")
        let (text, response) = try await setup.data("http://a.test\(path)") { configuration in
            configuration.tls.clientCertificate = .init(
                certificate: .file(ada.certificate), key: .file(ada.key))
        }
        #expect(response.url.absoluteString == "https://a.test/who")
        #expect(text.contains("sni=a.test\nhost=a.test\n") && text.contains("client=CN=ada\n"))
    }

    @Test("8.1: the field counts only from a server whose certificate was verified")
    func believed() async throws {
        let setup = try await Setup()
        let url = "https://a.test/who"
        _ = try await setup.data(url) { $0.tls.verifiesServer = false }
        #expect(!setup.store.isKnown("a.test"))
        _ = try await setup.data(url) { configuration in
            configuration.tls.authorities = nil
            configuration.trust = TrustPolicy { _ in true }
        }
        #expect(!setup.store.isKnown("a.test"))
        _ = try await setup.data(url) { configuration in
            configuration.trust = TrustPolicy { $0.isTrusted }
        }
        #expect(setup.store.isKnown("a.test"))
    }

    @Test("RFC 9111, 3: a response of a server that was not verified is not stored")
    func storedUnseen() async throws {
        let setup = try await Setup()
        let url = "https://a.test/stored"
        let cache = ClientCache()
        _ = try await setup.data(url) { configuration in
            configuration.cache = cache
            configuration.tls.verifiesServer = false
        }
        _ = try await setup.data(url) { configuration in
            configuration.cache = cache
            configuration.tls.authorities = nil
            configuration.trust = TrustPolicy { _ in true }
        }
        #expect(cache.memoryByteCount == 0)
        for isStored in [false, true] {
            let (_, response) = try await setup.data(url) { $0.cache = cache }
            #expect(response.isFromCache == isStored)
        }
    }

    /// Gives redirects its own connect target.
    private final class Chooser: ClientSessionDelegate {
        let target: ConnectTarget

        init(_ target: ConnectTarget) { self.target = target }

        func task(
            _ task: TransferTask, willRedirectTo request: ClientRequest,
            from response: ClientResponse
        ) async -> ClientRequest? {
            var request = request
            request.connectTo = target
            return request
        }
    }

    @Test("A delegate may choose an address for a redirect to another origin")
    func chosen() async throws {
        let server = try await TestServer { _, router in
            router.on(.get, "/go") { _ in
                Response(.found, fields: [.location: "http://other.test/echo"])
            }
        }
        let target = ConnectTarget(host: "127.0.0.1", port: server.port)
        var request = ClientRequest(.get, "http://name.test/go")
        request.connectTo = target
        let (_, response) = try await ClientSession(.ephemeral).data(
            for: request, delegate: Chooser(target))
        #expect(response.url.absoluteString == "http://other.test/echo")
        #expect(server.seen("/echo").map { $0.fields[.host] } == ["other.test"])
    }
}
