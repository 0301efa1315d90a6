import Foundation
import HTTPParser
import TestSupport
import Testing
import URLClient

@Suite("Connecting to a chosen address, with real TLS")
struct ConnectTests {
    /// Two names at two addresses, each with its own certificate.
    private struct Pair {
        let server: PeerServer
        let certificates: TestCertificates
        let session: ClientSession

        init(_ change: (inout ClientConfiguration) -> Void = { _ in }) async throws {
            certificates = try await TestCertificates()
            let toOther = "location = /other { return 302 https://b.test:$server_port/who; }\n"
            server = try await PeerServer.nginx(
                .init(
                    at: "127.0.0.2", identity: try await certificates.identity(for: "a.test"),
                    more: toOther),
                .init(at: "[::1]", identity: try await certificates.identity(for: "b.test")))
            var configuration = ClientConfiguration()
            configuration.tls.authorities = .file(certificates.authority.certificate)
            change(&configuration)
            session = ClientSession(configuration)
        }

        func url(_ name: String, _ path: String = "/who") -> String {
            server.url(path, scheme: "https", host: name)
        }

        func who(_ name: String, at target: ConnectTarget?) async throws -> String {
            var request = ClientRequest(.get, url(name))
            request.connectTo = target
            let (content, response) = try await session.data(for: request)
            #expect(response.status == .ok && response.url.absoluteString == url(name))
            return String(decoding: content, as: UTF8.self)
        }
    }

    @Test("The address is chosen for each request; SNI, Host and certificate stay with the name")
    func perRequest() async throws {
        let pair = try await Pair()
        for _ in 0..<2 {
            let first = try await pair.who("a.test", at: ConnectTarget(host: "127.0.0.2"))
            #expect(first.contains("sni=a.test\n") && first.contains("address=127.0.0.2\n"))
            #expect(first.contains("host=a.test:\(pair.server.port)\n"))
            let second = try await pair.who("b.test", at: ConnectTarget(host: "::1"))
            #expect(second.contains("sni=b.test\n") && second.contains("address=::1\n"))
        }
    }

    @Test(
        "A target has its own port (YMHTTP defect 1), and IPv6 with or without brackets (defect 2)")
    func ports() async throws {
        let pair = try await Pair()
        for host in ["::1", "[::1]"] {
            var request = ClientRequest(.get, "https://b.test/who")
            request.connectTo = ConnectTarget(host: host, port: pair.server.port)
            let (content, _) = try await pair.session.data(for: request)
            let text = String(decoding: content, as: UTF8.self)
            #expect(text.contains("sni=b.test\n") && text.contains("host=b.test\n"))
        }
    }

    @Test("A certificate for another name is refused, also at a chosen address")
    func wrongName() async throws {
        let pair = try await Pair()
        do {
            _ = try await pair.who("a.test", at: ConnectTarget(host: "::1"))
            Issue.record("b.test's certificate was taken for a.test's")
        } catch let error as ClientError {
            #expect(error.urlErrorCode == -1202 && error.exitCode == 60, "\(error)")
        }
    }

    @Test("A policy chooses endpoints for each origin, and an unreachable endpoint is skipped")
    func policy() async throws {
        let dead = PeerServer.deadPort
        let pair = try await Pair { configuration in
            configuration.endpoints = EndpointPolicy { origin, _ in
                let address = origin.host == "a.test" ? "127.0.0.2" : "::1"
                return [
                    ConnectTarget(host: "127.0.0.1", port: dead), ConnectTarget(host: address),
                ]
            }
        }
        let first = try await pair.who("a.test", at: nil)
        let second = try await pair.who("b.test", at: nil)
        #expect(first.contains("address=127.0.0.2\n") && second.contains("address=::1\n"))
    }

    @Test("A redirect to another host is not sent to the first one's address (YMHTTP defect 3)")
    func redirect() async throws {
        let pair = try await Pair { configuration in
            configuration.endpoints = EndpointPolicy { _, _ in [ConnectTarget(host: "::1")] }
        }
        var request = ClientRequest(.get, pair.url("a.test", "/other"))
        request.connectTo = ConnectTarget(host: "127.0.0.2")
        let (content, response) = try await pair.session.data(for: request)
        let text = String(decoding: content, as: UTF8.self)
        #expect(response.url.absoluteString == pair.url("b.test"))
        #expect(text.contains("sni=b.test\n") && text.contains("address=::1\n"))
    }

    @Test("Cookies belong to the host name, not to the address")
    func storage() async throws {
        let pair = try await Pair { $0.cookies = CookieStorage() }
        pair.session.configuration.cookies?.store(
            from: ["Set-Cookie": "a=b; Path=/"], for: try #require(URL(string: pair.url("a.test"))))
        let first = try await pair.who("a.test", at: ConnectTarget(host: "127.0.0.2"))
        let other = try await pair.who("b.test", at: ConnectTarget(host: "::1"))
        #expect(first.contains("cookie=a=b\n") && other.contains("cookie=\n"))
    }

    @Test("An HTTP proxy makes a tunnel to the chosen address, and SNI keeps the name")
    func proxy() async throws {
        let proxy = try await PeerServer.apache()
        let pair = try await Pair { configuration in
            configuration.proxy = .proxy(
                ClientProxy(host: "127.0.0.1", port: proxy.secondPort), bypass: [])
        }
        let text = try await pair.who("a.test", at: ConnectTarget(host: "127.0.0.2"))
        #expect(text.contains("sni=a.test\n") && text.contains("address=127.0.0.2\n"))
        pair.session.invalidateAndCancel()
        #expect(await proxy.waitForLog("CONNECT 127.0.0.2:\(pair.server.port)"))
    }

    @Test("A proxy that requires a login gets its credentials, and responds with 407 without them")
    func proxyUser() async throws {
        let origin = try await PeerServer.nginx(.init(at: "127.0.0.1"))
        let proxy = try await PeerServer.apache(proxyLogin: .basic)
        var configuration = ClientConfiguration()
        configuration.proxy = .proxy(
            ClientProxy(
                host: "127.0.0.1", port: proxy.secondPort, user: PeerServer.user.name,
                password: PeerServer.user.password))
        let request = ClientRequest(.get, origin.url("/who"))
        let (_, response) = try await ClientSession(configuration).data(for: request)
        #expect(response.status == .ok)
        configuration.proxy = .proxy(ClientProxy(host: "127.0.0.1", port: proxy.secondPort))
        let (_, refused) = try await ClientSession(configuration).data(for: request)
        #expect(refused.status == .proxyAuthenticationRequired)
    }
}
