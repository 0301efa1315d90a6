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

@Suite("Content read while it is received", .timeLimit(.minutes(2)))
struct ContentReadingTests {
    private static let whole = TestServer.pattern(3 << 20)

    /// Sends the content in pieces of a length; `/held` ends after a request for `/go`.
    private static func peer(pieces: Int = 50_000) throws -> ScriptedPeer {
        let isReleased = Locked(false)
        return try ScriptedPeer { connection in
            while let head = connection.head() {
                let target = String(head.split(separator: " ")[1])
                if target == "/go" {
                    isReleased.withLock { $0 = true }
                    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                    continue
                }
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(whole.count)\r\n\r\n")
                var start = 0
                while start < whole.count {
                    if target == "/held", start + pieces >= whole.count {
                        for _ in 0..<60_000 where !isReleased.withLock({ $0 }) { usleep(1000) }
                    }
                    let end = min(start + pieces, whole.count)
                    connection.send(Array(whole[start..<end]))
                    start = end
                }
            }
        }
    }

    private static func session(_ wait: Duration) -> ClientSession {
        var configuration = ClientConfiguration.ephemeral
        configuration.briefWait = wait
        return ClientSession(configuration)
    }

    private static func read(_ session: ClientSession, _ url: String) async throws -> [UInt8] {
        let (content, _) = try await session.bytes(for: ClientRequest(.get, url))
        var all: [UInt8] = []
        for try await piece in content {
            #expect(!piece.isEmpty)
            all += piece
        }
        return all
    }

    @Test(
        "Content arrives complete and in order, and requests share one connection",
        arguments: [Duration.zero, .microseconds(1), .microseconds(250), .milliseconds(10)],
        [1 << 10, 200 << 10])
    func whole(_ wait: Duration, pieces: Int) async throws {
        let peer = try Self.peer(pieces: pieces)
        let session = Self.session(wait)
        for _ in 0..<4 {
            let content = try await Self.read(session, peer.url())
            #expect(content == Self.whole)
        }
        #expect(peer.connectionCount == 1)
    }

    @Test("Concurrent readers get all content, also with requests between the pieces")
    func together() async throws {
        let peer = try Self.peer()
        let session = Self.session(.milliseconds(1))
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<3 { group.addTask { try await Self.read(session, peer.url()) } }
            for try await content in group { #expect(content == Self.whole) }
        }
        let (content, _) = try await session.bytes(for: ClientRequest(.get, peer.url()))
        var all: [UInt8] = []
        for try await piece in content {
            all += piece
            let (answer, _) = try await session.data(for: ClientRequest(.get, peer.url("/go")))
            #expect(answer.isEmpty)
        }
        #expect(all == Self.whole)
    }

    @Test(
        "A paused reader does not delay the end of the task, and can read the rest later",
        arguments: [true, false])
    func away(_ isReadToTheEnd: Bool) async throws {
        let peer = try Self.peer()
        let session = Self.session(.milliseconds(10))
        let (content, _) = try await session.bytes(for: ClientRequest(.get, peer.url("/held")))
        var iterator = content.makeAsyncIterator()
        var all: [UInt8] = []
        while all.count < Self.whole.count - 100_000, let piece = try await iterator.next() {
            all += piece
        }
        _ = try await session.data(for: ClientRequest(.get, peer.url("/go")))
        // The rest is so short that it is received before the reader requests it.
        try await content.task.finished()
        guard isReadToTheEnd else { return }
        while let piece = try await iterator.next() { all += piece }
        #expect(all == Self.whole)
    }

    @Test("Reading fails when its task is cancelled", arguments: 0..<8)
    func cancelled(_ count: Int) async throws {
        let peer = try Self.peer()
        let session = Self.session(.milliseconds(1))
        let (content, _) = try await session.bytes(for: ClientRequest(.get, peer.url("/held")))
        let reading = Task {
            var pieces = 0
            for try await _ in content {
                pieces += 1
                if pieces == count { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
            }
        }
        if count == 0 { reading.cancel() }
        await #expect(throws: ClientError.self) { try await reading.value }
        _ = try? await content.task.finished()
        #expect(content.task.error?.kind == .cancelled)
        _ = try await session.data(for: ClientRequest(.get, peer.url("/go")))
    }
}
