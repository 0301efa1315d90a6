import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("Calls to the application that do not return", .timeLimit(.minutes(2)))
struct SilentHookTests {
    private static func silence() async throws {
        try await Task.sleep(for: .seconds(24 * 3600))
    }

    private static let request = ClientRequest(.get, "http://127.0.0.1:9/")

    @Test("An endpoint policy that does not return ends at the total limit")
    func endpoints() async {
        var configuration = ClientConfiguration.ephemeral
        configuration.timeouts.total = .milliseconds(300)
        configuration.endpoints = EndpointPolicy { _, _ in
            try await Self.silence()
            return []
        }
        let session = ClientSession(configuration)
        let error = await failure { try await session.data(for: Self.request) }
        #expect(error?.kind == .timedOut(.total))
    }

    @Test(
        "An endpoint policy that does not return ends at the limit for connecting",
        arguments: [1, 2])
    func connecting(attempts: Int) async {
        let asked = Locked(0)
        var configuration = ClientConfiguration.ephemeral
        configuration.timeouts.connect = .milliseconds(300)
        configuration.endpoints = EndpointPolicy(attempts: attempts) { _, attempt in
            asked.withLock { $0 += 1 }
            if attempt + 1 == attempts { try await Self.silence() }
            return [ConnectTarget(host: "127.0.0.1", port: 9)]
        }
        let session = ClientSession(configuration)
        let error = await failure { try await session.data(for: Self.request) }
        #expect(error?.kind == .timedOut(.connect) && error?.isSafeToRetry == true)
        // On a slow machine the time may end before the first call returns.
        #expect((1...attempts).contains(asked.withLock { $0 }))
    }

    @Test("A token provider that does not return ends at the total limit")
    func token() async throws {
        var configuration = ClientConfiguration.ephemeral
        configuration.timeouts.total = .milliseconds(300)
        let origin = try #require(Self.request.origin)
        configuration.authentication.bearer = BearerAuthentication(origins: [origin]) { _ in
            try await Self.silence()
            return nil
        }
        let session = ClientSession(configuration)
        let error = await failure { try await session.data(for: Self.request) }
        #expect(error?.kind == .timedOut(.total))
    }

    @Test("A WebSocket's token provider that does not return ends at the total limit")
    func webSocketToken() async throws {
        var configuration = ClientConfiguration.ephemeral
        configuration.timeouts.total = .milliseconds(300)
        let origin = try #require(Self.request.origin)
        configuration.authentication.bearer = BearerAuthentication(origins: [origin]) { _ in
            try await Self.silence()
            return nil
        }
        let socket = ClientSession(configuration).webSocketTask(with: Self.request)
        let error = await failure { try await socket.opened() }
        #expect(error?.kind == .timedOut(.total))
    }

    @Test(
        "The total limit of a WebSocket includes its challenge and the request after it",
        arguments: [false, true])
    func webSocketChallenge(isAnswered: Bool) async throws {
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            if connection.index == 0 {
                connection.send(
                    "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n"
                        + "WWW-Authenticate: Basic realm=\"a\"\r\n\r\n")
            }
            connection.waitForEnd()
        }
        var configuration = ClientConfiguration.ephemeral
        configuration.timeouts.total = .seconds(1)
        configuration.authentication.challenge = { _ in
            if !isAnswered { try? await Self.silence() }
            return .use(.password(user: "u", password: "p"))
        }
        let socket = ClientSession(configuration).webSocketTask(
            with: ClientRequest(.get, peer.url()))
        let error = await failure { try await socket.opened() }
        #expect(error?.kind == .timedOut(.total))
    }

    private final class Silent: ClientSessionDelegate {
        func taskNeedsNewBody(_ task: TransferTask) async -> ClientBody {
            try? await SilentHookTests.silence()
            return .none
        }
    }

    @Test("A delegate that does not provide content ends at the total limit")
    func content() async {
        var configuration = ClientConfiguration.ephemeral
        configuration.timeouts.total = .milliseconds(300)
        let session = ClientSession(configuration, delegate: Silent())
        let task = session.uploadTask(
            for: ClientRequest(.post, "http://127.0.0.1:9/"), from: nil)
        let error = await failure { try await task.finished() }
        #expect(error?.kind == .timedOut(.total))
    }

    @Test("A task suspended before its stored response is ready gets it when it resumes")
    func suspendedBeforeServing() async throws {
        let server = try await TestServer { _, router in
            router.on(.get, "/c") { _ in
                Response(.ok, fields: [.cacheControl: "max-age=1000"], body: .text("stored"))
            }
        }
        let gate = Gate()
        var configuration = ClientConfiguration.ephemeral
        _ = try await ClientSession(configuration).data(for: ClientRequest(.get, server.url("/c")))
        let origin = Origin(scheme: "http", host: "127.0.0.1", port: server.port)
        configuration.authentication.bearer = BearerAuthentication(origins: [origin]) { _ in
            try await waitUntil { gate.isDone }
            return nil
        }
        let session = ClientSession(configuration)
        let content = Locked<[UInt8]?>(nil)
        let task = session.dataTask(for: ClientRequest(.get, server.url("/c"))) { bytes, _, _ in
            content.withLock { $0 = bytes }
        }
        task.resume()
        task.suspend()
        gate.open()
        try await waitUntil { task.response != nil }
        for _ in 0..<50 {
            #expect(task.state == .suspended && content.withLock { $0 } == nil)
            try await Task.sleep(for: .milliseconds(1))
        }
        task.resume()
        try await task.finished()
        try await waitUntil { content.withLock({ $0 }) != nil }
        #expect(content.withLock { $0 } == Array("stored".utf8))
        #expect(task.response?.isFromCache == true)
    }

    @Test(
        "After a redirect, a failed connection is safe to retry only for idempotent methods",
        arguments: [(.post, false), (.get, true), (.put, true)] as [(HTTPMethod, Bool)])
    func redirected(_ method: HTTPMethod, _ isSafe: Bool) async throws {
        let server = try await TestServer { _, router in
            let answer = SyncHandler { _ in
                Response(.seeOther, fields: [.location: "http://127.0.0.1:9/"])
            }
            router.route(method, "/pay", to: answer)
        }
        var configuration = ClientConfiguration.ephemeral
        configuration.retries = .never
        let session = ClientSession(configuration)
        let error = await failure {
            try await session.data(for: ClientRequest(method, server.url("/pay")))
        }
        #expect(error?.kind == .cannotConnect && error?.isSafeToRetry == isSafe)
        let direct = await failure {
            try await session.data(for: ClientRequest(method, "http://127.0.0.1:9/"))
        }
        #expect(direct?.isSafeToRetry == true)
    }
}
