import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("Authentication at nginx and at a Python server", .timeLimit(.minutes(3)))
struct LoginPeerTests {
    private static let (name, password) = PeerServer.user

    private func session() -> ClientSession {
        var configuration = ClientConfiguration.ephemeral
        configuration.authentication.challenge = { challenge in
            guard challenge.failureCount == 0 else { return .reject }
            return .use(.password(user: Self.name, password: Self.password))
        }
        return ClientSession(configuration)
    }

    @Test("nginx: Content is sent again after a Basic challenge")
    func nginx() async throws {
        let users = try ServerDirectory()
        try users.write("users", "\(Self.name):{PLAIN}\(Self.password)\n")
        let server = try await PeerServer.nginx(
            .init(
                at: "127.0.0.1",
                more: """
                    location /in/ {
                        auth_basic "tests";
                        auth_basic_user_file \(users.path("users"));
                        alias \(users.path)/;
                        dav_methods PUT;
                        create_full_put_path on;
                    }

                    """))
        let session = session()
        let content = TestServer.pattern(200_000)
        let (_, response) = try await session.upload(
            for: ClientRequest(.put, server.url("/in/f")), from: .bytes(content))
        #expect(response.status == .created)
        let (again, _) = try await session.data(for: ClientRequest(.get, server.url("/in/f")))
        #expect(again == content)
        let (_, refused) = try await ClientSession(.ephemeral).data(
            for: ClientRequest(.get, server.url("/in/f")))
        #expect(refused.status == .unauthorized)
        withExtendedLifetime(users) {}
    }

    @Test("nginx: A refused Bearer token is renewed")
    func bearer() async throws {
        let server = try await PeerServer.nginx(
            .init(
                at: "127.0.0.1",
                more: """
                    location = /in {
                        if ($http_authorization != "Bearer good") {
                            add_header WWW-Authenticate 'Bearer realm="tests"' always;
                            return 401;
                        }
                        return 200 in;
                    }

                    """))
        let origin = Origin(scheme: "http", host: "127.0.0.1", port: server.port)
        var configuration = ClientConfiguration.ephemeral
        let asked = Locked([String?]())
        configuration.authentication.bearer = BearerAuthentication(origins: [origin]) { refused in
            asked.withLock { $0.append(refused) }
            return refused == nil ? "old" : "good"
        }
        let session = ClientSession(configuration)
        for _ in 0..<2 {
            let (content, response) = try await session.data(
                for: ClientRequest(.get, server.url("/in")))
            #expect(response.status == .ok && content == Array("in".utf8))
        }
        #expect(asked.withLock { $0 } == [nil, "old"])
    }

    @Test("Python: Basic and Digest are accepted", arguments: ["basic", "digest"])
    func python(_ scheme: String) async throws {
        let server = try await PeerServer.python(login: true)
        try server.write(Array("content".utf8), to: "f.txt")
        let session = session()
        for _ in 0..<3 {
            let (content, response) = try await session.data(
                for: ClientRequest(.get, server.url("/\(scheme)/f.txt?a=b")))
            #expect(response.status == .ok && content == Array("content".utf8))
        }
        let (_, refused) = try await ClientSession(.ephemeral).data(
            for: ClientRequest(.get, server.url("/\(scheme)/f.txt")))
        #expect(refused.status == .unauthorized)
    }
}
