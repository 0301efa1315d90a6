import HTTPCodecs
import HTTPParser
import HTTPServerAuthentication
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("RFC 9110, 11: logging in", .timeLimit(.minutes(3)))
struct TransactionAuthenticationTests {
    private let user = ClientCredential.password(user: "u", password: "p")

    @Test(
        "Basic and Digest log in to the endpoints of httpbin",
        arguments: [
            "/basic-auth/u/p", "/digest-auth/auth/u/p", "/digest-auth/auth/u/p/MD5",
            "/digest-auth/auth/u/p/SHA-256",
        ])
    func schemes(_ path: String) async throws {
        let bin = try await BinServer { configuration in
            configuration.authentication.challenge = { challenge in
                challenge.failureCount == 0
                    ? .use(.password(user: "u", password: "wrong"))
                    : .use(.password(user: "u", password: "p"))
            }
        }
        #expect(try await bin.send(.get, path).status == 200)
        // The login is known from then on.
        #expect(try await bin.send(.get, path).status == 200)
    }

    @Test("Without a valid credential the response is 401, and a cancelled challenge is an error")
    func refused() async throws {
        let bin = try await BinServer()
        #expect(try await bin.send(.get, "/basic-auth/u/p").status == 401)
        let count = Locked(0)
        let wrong = try await BinServer { configuration in
            configuration.authentication.challenge = { _ in
                count.withLock { $0 += 1 }
                return .use(.password(user: "u", password: "wrong"))
            }
        }
        #expect(try await wrong.send(.get, "/basic-auth/u/p").status == 401)
        #expect(count.withLock { $0 } == 3)
        let cancelling = try await BinServer { configuration in
            configuration.authentication.challenge = { _ in .cancel }
        }
        let error = await cancelling.failure(cancelling.request(.get, "/basic-auth/u/p"))
        #expect(error?.kind == .cancelled)
    }

    @Test("The credential of the URL and a stored credential log in")
    func given() async throws {
        let bin = try await BinServer()
        let url = "http://u:p@127.0.0.1:\(bin.port)/basic-auth/u/p"
        let (_, response) = try await bin.session.data(for: ClientRequest(.get, url))
        #expect(response.status == .ok)
        let stored = try await BinServer()
        stored.session.configuration.authentication.credentials.set(
            user, for: Origin(scheme: "http", host: "127.0.0.1", port: stored.port))
        #expect(try await stored.send(.get, "/basic-auth/u/p").status == 200)
    }

    @Test("With the toolkit's own server, content is sent again after the challenge")
    func authenticator() async throws {
        let store = MemoryAccountStore(realm: "r", rounds: 10)
        try store.add("u", password: "p")
        let seen = Locked([String]())
        for scheme in [AuthenticationScheme.basic, .digest] {
            var options = Authenticator.Options()
            options.schemes = [scheme]
            let authenticator = Authenticator(accounts: store, options: options)
            let server = try await TestServer { _, router in
                let inner = AsyncHandler { request in
                    let value = request.fields[.authorization] ?? ""
                    seen.withLock { $0.append(String(value.prefix(6))) }
                    return Response(
                        .ok, body: .bytes(try await request.body.collect(upTo: 1 << 20)))
                }
                let handler = AuthenticationHandler(inner, by: authenticator)
                router.route(.post, "/in", to: handler)
                router.route(.get, "/in", to: handler)
            }
            var configuration = ClientConfiguration.ephemeral
            configuration.authentication.challenge = { _ in
                .use(.password(user: "u", password: "p"))
            }
            let session = ClientSession(configuration)
            let request = ClientRequest(.post, server.url("/in"), body: .text("content"))
            for _ in 0..<3 {
                let (content, response) = try await session.data(for: request)
                #expect(response.status == .ok && content == Array("content".utf8))
            }
        }
        #expect(
            seen.withLock { $0 } == ["Basic ", "Basic ", "Basic ", "Digest", "Digest", "Digest"])
    }

    @Test(
        "Apache: the application is asked once, and later requests reuse the login",
        arguments: ["basic", "digest"])
    func apache(_ scheme: String) async throws {
        let server = try await PeerServer.apache()
        try server.write(Array("content".utf8), to: "f.txt")
        let asked = Locked(0)
        var configuration = ClientConfiguration.ephemeral
        configuration.authentication.challenge = { _ in
            asked.withLock { $0 += 1 }
            return .use(
                .password(user: PeerServer.user.name, password: PeerServer.user.password))
        }
        let session = ClientSession(configuration)
        for _ in 0..<3 {
            let request = ClientRequest(.get, server.url("/\(scheme)/f.txt"))
            let (content, response) = try await session.data(for: request)
            #expect(response.status == .ok && content == Array("content".utf8))
        }
        #expect(asked.withLock { $0 } == 1)
    }

    @Test(
        "Apache: a user of two areas logs in to both",
        arguments: [["digest", "basic"], ["basic", "digest"]])
    func areas(_ areas: [String]) async throws {
        let server = try await PeerServer.apache()
        try server.write(Array("content".utf8), to: "f.txt")
        let configuration = ClientConfiguration.ephemeral
        configuration.authentication.credentials.set(
            .password(user: PeerServer.user.name, password: PeerServer.user.password),
            for: Origin(scheme: "http", host: "127.0.0.1", port: server.port))
        let session = ClientSession(configuration)
        for area in areas + areas {
            let (content, response) = try await session.data(
                for: ClientRequest(.get, server.url("/\(area)/f.txt")))
            #expect(response.status == .ok && content == Array("content".utf8), "\(area)")
        }
    }

    private final class Answerer: ClientSessionDelegate {
        let spaces = Locked([ProtectionSpace]())

        func task(
            _ task: TransferTask, didReceiveChallenge challenge: ClientChallenge
        ) async -> ChallengeAnswer {
            spaces.withLock { $0.append(challenge.space) }
            return challenge.failureCount == 0
                ? .use(.password(user: "u", password: "p"), remembers: false) : .reject
        }
    }

    @Test("The delegate is asked if the session has no credential")
    func delegate() async throws {
        let bin = try await BinServer()
        let delegate = Answerer()
        for path in ["/basic-auth/u/p", "/basic-auth/u/other"] {
            let (_, response) = try await bin.session.data(
                for: bin.request(.get, path), delegate: delegate)
            #expect(response.status == (path.hasSuffix("other") ? .unauthorized : .ok))
        }
        let spaces = delegate.spaces.withLock { $0 }
        #expect(spaces.count == 2 && spaces.allSatisfy { $0.scheme == .basic && !$0.isProxy })
    }

    @Test("Bearer: concurrent requests share one renewal of the token")
    func bearer() async throws {
        let valid = Locked("t1")
        let renewals = Locked(0)
        let server = try await TestServer { _, router in
            router.on(.get, "/in") { request in
                guard request.fields[.authorization] == "Bearer \(valid.withLock { $0 })" else {
                    throw HTTPError(.unauthorized, fields: [.wwwAuthenticate: "Bearer"])
                }
                return Response(.ok, body: .text("in"))
            }
        }
        var configuration = ClientConfiguration.ephemeral
        let origin = Origin(scheme: "http", host: "127.0.0.1", port: server.port)
        configuration.authentication.bearer = BearerAuthentication(origins: [origin]) { _ in
            renewals.withLock { $0 += 1 }
            return valid.withLock { $0 }
        }
        let session = ClientSession(configuration)
        let url = server.url("/in")
        func all() async throws -> Int {
            try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await session.data(for: ClientRequest(.get, url)).1.status }
                }
                return try await group.reduce(into: 0) { $0 += $1 == .ok ? 1 : 0 }
            }
        }
        #expect(try await all() == 20)
        #expect(renewals.withLock { $0 } == 1)
        valid.withLock { $0 = "t2" }
        #expect(try await all() == 20)
        #expect(renewals.withLock { $0 } == 2)
    }
}
