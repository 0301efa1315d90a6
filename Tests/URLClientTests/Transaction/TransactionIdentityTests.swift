import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import Testing
import ToolkitSystem
import URLClient

@Suite("RFC 6750: tokens, and the user of a stored response", .timeLimit(.minutes(3)))
struct TransactionIdentityTests {
    /// A server that returns the token of each request.
    private static func server() async throws -> TestServer {
        try await TestServer { _, router in
            router.on(.get, "/renewed") { _ in
                throw HTTPError(.unauthorized, fields: [.wwwAuthenticate: "Bearer realm=\"r\""])
            }
            router.on(.get, "/me") { request in
                guard let value = request.fields[.authorization], value.hasPrefix("Bearer ") else {
                    throw HTTPError(.unauthorized, fields: [.wwwAuthenticate: "Bearer realm=\"r\""])
                }
                return Response(
                    .ok, fields: [.cacheControl: "private, max-age=600"],
                    body: .text("of \(value.dropFirst(7))"))
            }
        }
    }

    private static func origin(_ server: TestServer) -> Origin {
        Origin(scheme: "http", host: "127.0.0.1", port: server.port)
    }

    private func text(
        _ session: ClientSession, _ server: TestServer
    ) async throws -> (text: String, isFromCache: Bool) {
        let (content, response) = try await session.data(
            for: ClientRequest(.get, server.url("/me")))
        return (String(decoding: content, as: UTF8.self), response.isFromCache)
    }

    @Test(
        "The first request of a session gets the response for its own user",
        arguments: [false, true])
    func users(hasFolder: Bool) async throws {
        let server = try await Self.server()
        let folder = TemporaryPath()
        let cache = try hasFolder ? ClientCache(memoryLimit: 0, folder: folder.text) : ClientCache()
        func session(_ token: String) -> ClientSession {
            var configuration = ClientConfiguration.ephemeral
            configuration.cache = cache
            configuration.authentication.bearer = BearerAuthentication(
                origins: [Self.origin(server)]
            ) { _ in token }
            return ClientSession(configuration)
        }
        for token in ["ada", "bob", "ada"] {
            let first = session(token)
            #expect(try await text(first, server).text == "of \(token)")
            await cache.flush()
            let again = try await text(first, server)
            #expect(again.text == "of \(token)" && again.isFromCache)
        }
    }

    @Test("After a reset of the session, the token source is asked again")
    func reset() async throws {
        let server = try await Self.server()
        let user = Locked("ada")
        var configuration = ClientConfiguration.ephemeral
        configuration.authentication.bearer = BearerAuthentication(
            origins: [Self.origin(server)]
        ) { _ in user.withLock { $0 } }
        let session = ClientSession(configuration)
        #expect(try await text(session, server).text == "of ada")
        user.withLock { $0 = "bob" }
        #expect(try await text(session, server).text == "of ada")
        await session.reset()
        #expect(try await text(session, server).text == "of bob")
    }

    @Test("Without a token, the request is sent, and the token source is asked once")
    func noToken() async throws {
        let server = try await Self.server()
        let count = Locked(0)
        var configuration = ClientConfiguration.ephemeral
        configuration.authentication.bearer = BearerAuthentication(
            origins: [Self.origin(server)]
        ) { _ in
            count.withLock { $0 += 1 }
            return nil
        }
        let (_, response) = try await ClientSession(configuration).data(
            for: ClientRequest(.get, server.url("/hello")))
        #expect(response.status == .ok && count.withLock { $0 } == 1)
    }

    @Test("An error of the token source is the task's error")
    func sourceFails() async throws {
        struct Broken: Error {}
        let server = try await Self.server()
        let isBroken = Locked(true)
        var configuration = ClientConfiguration.ephemeral
        configuration.authentication.bearer = BearerAuthentication(
            origins: [Self.origin(server)]
        ) { refused in
            if isBroken.withLock({ $0 }) { throw Broken() }
            return "good"
        }
        let session = ClientSession(configuration)
        let error = await failure {
            try await session.data(for: ClientRequest(.get, server.url("/me")))
        }
        #expect(error?.kind == .hookFailed && error?.underlying is Broken)
        isBroken.withLock { $0 = false }
        #expect(try await text(session, server).text == "of good")
    }

    @Test("A ClientError of the token source is reported as hookFailed, also at a renewal")
    func sourceLosesItsConnection() async throws {
        let server = try await Self.server()
        let calls = Locked(0)
        var configuration = ClientConfiguration.ephemeral
        configuration.cache = nil
        configuration.authentication.bearer = BearerAuthentication(
            origins: [Self.origin(server)]
        ) { refused in
            calls.withLock { $0 += 1 }
            guard refused == nil else { throw ClientError(.connectionLost, "elsewhere") }
            return "stale"
        }
        let session = ClientSession(configuration)
        let error = await failure {
            try await session.data(for: ClientRequest(.get, server.url("/renewed")))
        }
        #expect(error?.kind == .hookFailed && error?.underlying is ClientError)
        #expect(calls.withLock { $0 } == 2)
    }

    @Test("A stored token answers a challenge, and is sent without a challenge from then on")
    func stored() async throws {
        let server = try await Self.server()
        let spaces = Locked([ProtectionSpace]())
        var configuration = ClientConfiguration.ephemeral
        configuration.cache = nil
        configuration.authentication.credentials.set(.token("t1"), for: Self.origin(server))
        configuration.authentication.challenge = { challenge in
            spaces.withLock { $0.append(challenge.space) }
            return .useProposed
        }
        let session = ClientSession(configuration)
        for _ in 0..<3 { #expect(try await text(session, server).text == "of t1") }
        let space = ProtectionSpace(origin: Self.origin(server), realm: "r", scheme: .bearer)
        #expect(spaces.withLock { $0 } == [space])
    }

    @Test("A token of the application answers a challenge; an invalid token is not sent")
    func asked() async throws {
        let server = try await Self.server()
        var configuration = ClientConfiguration.ephemeral
        configuration.authentication.challenge = { _ in .use(.token("t2")) }
        #expect(try await text(ClientSession(configuration), server).text == "of t2")
        configuration.authentication.credentials = CredentialStorage()
        configuration.authentication.challenge = { _ in .use(.token("no token\r\nX: y")) }
        let (_, response) = try await ClientSession(configuration).data(
            for: ClientRequest(.get, server.url("/me")))
        #expect(response.status == .unauthorized)
    }
}
