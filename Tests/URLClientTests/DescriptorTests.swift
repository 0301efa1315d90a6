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

@Suite("Descriptors", .timeLimit(.minutes(2)))
struct DescriptorTests {
    /// Opens pipes, whose descriptors are often those of sockets that were just closed, and checks
    /// that no other code touches them.
    private final class Watch: Sendable {
        private let state = Locked((isOver: false, faults: 0, rounds: 0))

        init() {
            OwnThread.start { [state] in
                while !state.withLock({ $0.isOver }) {
                    let isGood = Self.round()
                    state.withLock { state in
                        state.rounds += 1
                        if !isGood { state.faults += 1 }
                    }
                }
            }
        }

        /// Whether a pipe holds the written byte until it is closed.
        private static func round() -> Bool {
            var ends: [CInt] = [0, 0]
            guard unsafe pipe(&ends) == 0 else { return true }
            var (sent, received) = (UInt8(7), UInt8(0))
            let isWritten = unsafe write(ends[1], &sent, 1) == 1
            sched_yield()
            let isRead = unsafe read(ends[0], &received, 1) == 1 && received == 7
            // A descriptor that other code has closed cannot be closed again.
            let isOwn = close(ends[0]) == 0 && close(ends[1]) == 0
            return isWritten && isRead && isOwn
        }

        func end() -> (faults: Int, rounds: Int) {
            state.withLock { state in
                state.isOver = true
                return (state.faults, state.rounds)
            }
        }
    }

    @Test("D20: After either side closes connections, their reused descriptors are not touched")
    func reused() async throws {
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                let isLast = connection.index % 2 == 0 || head.contains("/close")
                connection.send(
                    "HTTP/1.1 200 OK\r\n\(isLast ? "Connection: close\r\n" : "")"
                        + "Content-Length: 2\r\n\r\nok")
                if connection.index % 5 == 0 { return connection.reset() }
                if isLast { return }
            }
        }
        let watch = Watch()
        var configuration = ClientConfiguration.ephemeral
        configuration.connectionsPerOrigin = 16
        configuration.idleConnectionLimit = 2
        let session = ClientSession(configuration)
        let answers = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<1_000 {
                if index >= 16 { await group.next() }
                group.addTask {
                    let path = index % 3 == 0 ? "/close" : "/open"
                    let answer = try? await session.data(for: ClientRequest(.get, peer.url(path)))
                    if answer != nil { answers.withLock { $0 += 1 } }
                }
            }
        }
        let (faults, rounds) = watch.end()
        #expect(faults == 0 && rounds > 0)
        #expect(answers.withLock { $0 } > 0 && peer.connectionCount > 300)
    }

    @Test(
        "A session that keeps no connection makes one for each request", arguments: [true, false])
    func noIdleConnections(byNumber: Bool) async throws {
        let peer = try ScriptedPeer { connection in
            while connection.head() != nil {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        var configuration = ClientConfiguration.ephemeral
        if byNumber {
            configuration.idleConnectionLimit = 0
        } else {
            configuration.idleConnectionTime = .zero
        }
        let session = ClientSession(configuration)
        for _ in 0..<5 { _ = try await session.data(for: ClientRequest(.get, peer.url())) }
        #expect(peer.connectionCount == 5)
    }

    /// Uses a session once and releases it.
    private static func useSession(_ peer: ScriptedPeer) async throws {
        _ = try await ClientSession(.ephemeral).data(for: ClientRequest(.get, peer.url()))
    }

    /// Makes many sessions in this process, one after the other.
    private static func manySessions() async throws {
        let peer = try ScriptedPeer { connection in
            while connection.head() != nil {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        for _ in 0..<5 { try await useSession(peer) }
        let threads = try await settled { Files.threadCount() }
        let descriptors = try await settled { Files.descriptorCount() }
        for _ in 0..<200 { try await useSession(peer) }
        #expect(peer.connectionCount == 205)
        // Both numbers are of the whole process, whose thread pools grow and shrink.
        #expect(await soon { Files.threadCount() < threads + 20 })
        #expect(await soon { Files.descriptorCount() < descriptors + 10 })
    }

    @Test("S22: Released sessions leave neither threads nor descriptors behind")
    func sessions() async {
        await #expect(processExitsWith: .success) { try await DescriptorTests.manySessions() }
    }
}
