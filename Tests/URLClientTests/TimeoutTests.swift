import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("Time limits", .timeLimit(.minutes(5)))
struct TimeoutTests {
    private func limit(
        of session: ClientSession = ClientSession(), _ url: String,
        _ change: (inout ClientTimeouts) -> Void
    ) async -> ClientError.Kind? {
        var request = ClientRequest(.get, url)
        var timeouts = ClientTimeouts()
        change(&timeouts)
        request.timeouts = timeouts
        let whole = request
        return await failure { try await session.data(for: whole) }?.kind
    }

    @Test("A silent peer reaches the limits for the first byte and for TLS")
    func silence() async throws {
        let peer = try ScriptedPeer { $0.waitForEnd() }
        let first = await limit(peer.url()) { $0.firstByte = .milliseconds(80) }
        #expect(first == .timedOut(.firstByte))
        let tls = await limit("https://127.0.0.1:\(peer.port)/") { $0.tls = .milliseconds(80) }
        #expect(tls == .timedOut(.tls))
    }

    @Test("Idle: A peer that stops in the middle of the content times out")
    func idle() async throws {
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")
            connection.waitForEnd()
        }
        let session = ClientSession()
        #expect(
            await limit(of: session, peer.url()) { $0.idle = .milliseconds(80) }
                == .timedOut(.idle))
    }

    @Test("D18, S: The total limit ends a task that receives bytes all the time")
    func total() async throws {
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            while connection.send("x") { Pause.milliseconds(5) }
        }
        #expect(await limit(peer.url()) { $0.total = .milliseconds(200) } == .timedOut(.total))
    }

    @Test("The queue limit ends a task that waits for another task's connection")
    func queue() async throws {
        let gate = Gate()
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            gate.wait()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            connection.waitForEnd()
        }
        var configuration = ClientConfiguration()
        configuration.connectionsPerOrigin = 1
        let session = ClientSession(configuration)
        let first = Task { try await session.data(for: ClientRequest(.get, peer.url())) }
        try await waitUntil { peer.connectionCount != 0 }
        #expect(
            await limit(of: session, peer.url()) { $0.queue = .milliseconds(80) }
                == .timedOut(.queue))
        gate.open()
        _ = try await first.value
    }

    @Test("D19: Of many tasks, those that receive bytes continue, and the others time out")
    func manyDeadlines() async throws {
        let expected: [ClientError.Kind?] = (0..<100).map { $0 % 2 == 0 ? nil : .timedOut(.idle) }
        // Other tests may delay the bytes of a steady task.
        var kinds: [ClientError.Kind?] = []
        for _ in 0..<5 where kinds != expected { kinds = try await kindsOfManyDeadlines() }
        #expect(kinds == expected)
    }

    /// The errors of tasks whose servers alternately send steadily and not at all.
    private func kindsOfManyDeadlines() async throws -> [ClientError.Kind?] {
        let peer = try ScriptedPeer { connection in
            guard let head = connection.head() else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n")
            guard head.contains("/steady") else { return connection.waitForEnd() }
            for _ in 0..<60 {
                connection.send("x")
                Pause.milliseconds(120)
            }
            connection.waitForEnd()
        }
        var configuration = ClientConfiguration.ephemeral
        configuration.connectionsPerOrigin = 120
        let session = ClientSession(configuration)
        let tasks = (0..<100).map { index in
            var request = ClientRequest(.get, peer.url(index % 2 == 0 ? "/steady" : "/silent"))
            // The steady tasks take longer than the limit; each byte restarts it.
            request.timeouts = ClientTimeouts(idle: .seconds(4))
            return session.dataTask(for: request)
        }
        for task in tasks { task.resume() }
        var kinds: [ClientError.Kind?] = []
        for task in tasks {
            let error = await failure { try await task.finished() }
            kinds.append(error?.kind)
        }
        return kinds
    }

    @Test("D19: The deadlines are checked by the clock, however many pieces arrive")
    func looks() async throws {
        let pieces = 4_000
        let peer = try ScriptedPeer { connection in
            while connection.head() != nil {
                connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                let burst = String(repeating: "1\r\nx\r\n", count: 40)
                for _ in 0..<(pieces / 40) {
                    connection.send(burst)
                    Pause.milliseconds(1)
                }
                connection.send("0\r\n\r\n")
            }
        }
        let session = ClientSession(.ephemeral)
        var request = ClientRequest(.get, peer.url())
        request.timeouts = ClientTimeouts(
            queue: .seconds(40), connect: .seconds(40), firstByte: .seconds(20),
            idle: .seconds(20), total: .seconds(60))
        let start = ContinuousClock.now
        let delegate = PieceCounter()
        try await session.dataTask(for: request, delegate: delegate).finished()
        #expect(delegate.count.withLock { $0 } > 0)
        // A reader that requests each piece has a separate deadline for each.
        let (content, _) = try await session.bytes(for: request)
        #expect(try await content.collect(upTo: pieces).count == pieces)
        let looks = await session.deadlineLookCount
        #expect(looks <= Int((ContinuousClock.now - start) / .milliseconds(10)) + 5)
    }

    @Test("A field line that is still arriving does not count as idle time")
    func longLine() async throws {
        let peer = try ScriptedPeer { connection in
            while connection.head() != nil {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nLong: ")
                for _ in 0..<20 {
                    connection.send("xxxxxxxx")
                    Pause.milliseconds(250)
                }
                connection.send("\r\n\r\nok")
            }
        }
        var request = ClientRequest(.get, peer.url())
        // The line takes longer as a whole, and each of its pieces much less.
        request.timeouts = ClientTimeouts(idle: .seconds(4))
        // Other tests may delay a piece.
        var contents: [[UInt8]] = []
        for _ in 0..<5 where contents.count < 2 {
            let session = ClientSession(.ephemeral)
            contents = []
            for _ in 0..<2 {
                guard let content = try? await session.data(for: request).0 else { break }
                contents.append(content)
            }
        }
        #expect(contents == [Array("ok".utf8), Array("ok".utf8)])
    }

    private final class PieceCounter: ClientSessionDelegate {
        let count = Locked(0)

        func task(_ task: TransferTask, didReceiveContent content: [UInt8]) {
            count.withLock { $0 += 1 }
        }
    }

    @Test("A slow reader does not reach the idle limit")
    func slowReader() async throws {
        let server = try await TestServer()
        var request = ClientRequest(.get, server.url("/stream/4000000"))
        request.timeouts = ClientTimeouts(idle: .seconds(10))
        // Other tests may delay the server.
        var count: Int?
        for _ in 0..<5 where count == nil { count = try? await Self.slowRead(request) }
        #expect(count == 4_000_000)
    }

    /// The number of bytes that a slow reader receives.
    private static func slowRead(_ request: ClientRequest) async throws -> Int {
        let (content, _) = try await ClientSession().bytes(for: request)
        var count = 0
        for try await piece in content {
            if count == 0 { try await Task.sleep(for: .seconds(12)) }
            count += piece.count
        }
        return count
    }

    @Test("Waiting tasks start by priority, then in the order of their arrival")
    func priorities() async throws {
        let gate = Gate()
        let order = Locked([String]())
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                let target = head.split(separator: " ")[1]
                order.withLock { $0.append(String(target)) }
                if target == "/first" { gate.wait() }
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        var configuration = ClientConfiguration()
        configuration.connectionsPerOrigin = 1
        let session = ClientSession(configuration)
        let tasks = [("first", 0.5), ("a", 0.5), ("b", 0.5), ("low", 0.1), ("high", 0.9)]
            .map { name, priority in
                var request = ClientRequest(.get, peer.url("/\(name)"))
                request.priority = priority
                return session.dataTask(for: request)
            }
        for task in tasks { task.resume() }
        try await waitUntil { !order.withLock({ $0.isEmpty }) }
        gate.open()
        for task in tasks { try await task.finished() }
        #expect(order.withLock { $0 } == ["/first", "/high", "/a", "/b", "/low"])
        #expect(peer.connectionCount == 1)
    }
}
