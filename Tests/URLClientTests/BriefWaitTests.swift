import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import ToolkitSystem
import URLClient

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

@Suite("Brief waits", .timeLimit(.minutes(2)))
struct BriefWaitTests {
    /// Responds with the target of each request; to `/late` only after a request for `/now`.
    private static func peer() throws -> ScriptedPeer {
        let asked = Locked(false)
        return try ScriptedPeer { connection in
            while let head = connection.head() {
                let target = String(head.split(separator: " ")[1])
                if target == "/now" { asked.withLock { $0 = true } }
                if target == "/late" {
                    for _ in 0..<60_000 where !asked.withLock({ $0 }) { usleep(1000) }
                }
                connection.send(
                    "HTTP/1.1 200 OK\r\nContent-Length: \(target.utf8.count)\r\n\r\n\(target)")
            }
        }
    }

    /// How the requesting thread waits for the response.
    enum Pause: Sendable {
        case none, blocking(Duration), polling(Duration)
    }

    private static func session(_ pause: Pause) -> ClientSession {
        var configuration = ClientConfiguration.ephemeral
        configuration.briefPolling = .zero
        switch pause {
        case .none: break
        case .blocking(let time): configuration.briefWait = time
        case .polling(let time): configuration.briefPolling = time
        }
        return ClientSession(configuration)
    }

    private static func get(
        _ session: ClientSession, _ peer: ScriptedPeer, _ target: String
    ) async throws -> String {
        let (content, _) = try await session.data(for: ClientRequest(.get, peer.url(target)))
        return String(decoding: content, as: UTF8.self)
    }

    @Test(
        "Sequential requests get their own responses over one connection",
        arguments: [
            Pause.none, .blocking(.microseconds(1)), .blocking(.microseconds(250)),
            .blocking(.milliseconds(10)), .polling(.microseconds(1)), .polling(.microseconds(100)),
            .polling(.milliseconds(10)), .polling(.seconds(1)),
        ])
    func oneAfterTheOther(_ pause: Pause) async throws {
        let peer = try Self.peer()
        let session = Self.session(pause)
        for number in 0..<200 {
            let target = "/\(number)"
            #expect(try await Self.get(session, peer, target) == target)
        }
        #expect(peer.connectionCount == 1)
    }

    @Test(
        "Another request completes while a thread waits for a response",
        arguments: [Pause.blocking(.milliseconds(10)), .polling(.milliseconds(10))], 0..<4)
    func interrupted(_ pause: Pause, _ round: Int) async throws {
        let peer = try Self.peer()
        let session = Self.session(pause)
        for number in 0..<60 { _ = try await Self.get(session, peer, "/\(number)") }
        async let late = Self.get(session, peer, "/late")
        try await Task.sleep(for: .milliseconds(round))
        #expect(try await Self.get(session, peer, "/now") == "/now")
        #expect(try await late == "/late")
    }

    @Test(
        "Concurrent requests between sequential ones get their own responses",
        arguments: [Pause.none, .blocking(.milliseconds(10)), .polling(.milliseconds(10))])
    func inTurn(_ pause: Pause) async throws {
        let peer = try Self.peer()
        let session = Self.session(pause)
        for round in 0..<10 {
            for number in 0..<20 { _ = try await Self.get(session, peer, "/\(number)") }
            let answers = await withTaskGroup(of: String?.self) { group in
                for number in 0..<(2 << (round % 4)) {
                    group.addTask { try? await Self.get(session, peer, "/g\(number)") }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(answers) == Set((0..<(2 << (round % 4))).map { "/g\($0)" }))
        }
    }

    @Test(
        "A session works after tasks were cancelled during the wait",
        arguments: [Pause.blocking(.milliseconds(10)), .polling(.milliseconds(10))])
    func cancelled(_ pause: Pause) async throws {
        let peer = try Self.peer()
        let session = Self.session(pause)
        for number in 0..<60 { _ = try await Self.get(session, peer, "/\(number)") }
        for _ in 0..<100 {
            let task = Task { try await Self.get(session, peer, "/one") }
            task.cancel()
            _ = try? await task.value
        }
        #expect(try await Self.get(session, peer, "/whole") == "/whole")
        session.finishTasksAndInvalidate()
    }
}
