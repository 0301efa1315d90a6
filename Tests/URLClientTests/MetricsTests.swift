import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem
import URLClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("Metrics", .timeLimit(.minutes(2)))
struct MetricsTests {
    /// Keeps the metrics that it gets.
    private final class Collector: ClientSessionDelegate {
        let told = Locked([ClientMetrics]())

        func task(_ task: TransferTask, didCollect metrics: ClientMetrics) {
            told.withLock { $0.append(metrics) }
        }

        func wait() async -> ClientMetrics? {
            _ = await soon { told.withLock { !$0.isEmpty } }
            return told.withLock { $0.first }
        }
    }

    @Test("After the last piece of streamed content the metrics are available")
    func knownAtTheEnd() async throws {
        let server = try await TestServer { _, router in
            router.route(.get, "/", to: AsyncHandler { _ in Response(.ok, body: .text("text")) })
        }
        let session = ClientSession(.ephemeral)
        for _ in 0..<200 {
            let (content, _) = try await session.bytes(for: ClientRequest(.get, server.url("/")))
            #expect(try await content.collect(upTo: 100).count == 4)
            #expect(content.task.metrics?.transactions.count == 1)
        }
    }

    @Test("S6: The delegate gets metrics once, with lengths, addresses and times in order")
    func told() async throws {
        let server = try await TestServer { _, router in
            let first = AsyncHandler { request in
                _ = try await request.body.collect(upTo: 1 << 20)
                return Response(.temporaryRedirect, fields: [.location: "/echo"])
            }
            router.route(.post, "/first", to: first)
        }
        let delegate = Collector()
        let session = ClientSession(.ephemeral, delegate: delegate)
        let content = TestServer.pattern(100_000)
        let task = session.uploadTask(
            for: ClientRequest(.post, server.url("/first")), from: .bytes(content))
        try await task.finished()
        let metrics = try #require(await delegate.wait())
        #expect(metrics.redirectCount == 1 && metrics.transactions.count == 2)
        #expect(task.metrics?.transactions.count == 2)
        #expect(metrics.transactions.map(\.url.path) == ["/first", "/echo"])
        #expect(metrics.transactions.map(\.version) == [.http11, .http11])
        #expect(metrics.transactions.map(\.remotePort) == [Int(server.port), Int(server.port)])
        #expect(
            metrics.transactions.allSatisfy { $0.remoteAddress == "127.0.0.1" && $0.localPort > 0 })
        let (first, last) = (metrics.transactions[0], metrics.transactions[1])
        #expect(!first.isConnectionReused && first.connectEnd != nil)
        #expect(last.requestContentBytes == 100_000 && last.responseContentBytes == 100_000)
        #expect(last.requestHeadBytes > 50 && last.responseHeadBytes > 30)
        for transaction in metrics.transactions {
            let times = [
                transaction.requestStart, transaction.requestEnd, transaction.responseStart,
                transaction.responseEnd,
            ]
            #expect(times.allSatisfy { $0 != nil })
            #expect(times.compactMap(\.self) == times.compactMap(\.self).sorted())
        }
        #expect(delegate.told.withLock { $0.count } == 1)
    }

    @Test(
        "A transfer without a connection does not count as reusing one",
        arguments: ["http://no.such.host.invalid/", "http://127.0.0.1:1/"])
    func noConnection(_ url: String) async throws {
        let task = ClientSession(.ephemeral).dataTask(for: ClientRequest(.get, url))
        await #expect(throws: ClientError.self) { try await task.finished() }
        let transaction = try #require(task.metrics?.transactions.first)
        #expect(!transaction.isConnectionReused && transaction.requestStart == nil)
    }

    @Test("Metrics contain the time in the queue, and whether the connection was reused")
    func queued() async throws {
        let gate = Gate()
        let peer = try ScriptedPeer { connection in
            while connection.head() != nil {
                gate.wait()
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        var configuration = ClientConfiguration.ephemeral
        configuration.connectionsPerOrigin = 1
        let session = ClientSession(configuration)
        let tasks = (0..<2).map { _ in session.dataTask(for: ClientRequest(.get, peer.url())) }
        for task in tasks { task.resume() }
        try await waitUntil { peer.connectionCount != 0 }
        // After this call the session has processed both tasks.
        _ = await session.allTasks
        try await Task.sleep(for: .milliseconds(300))
        gate.open()
        for task in tasks { try await task.finished() }
        let transactions = tasks.compactMap { $0.metrics?.transactions.first }
        try #require(transactions.count == 2)
        #expect(
            transactions[0].queued < transactions[1].queued
                && transactions[1].queued >= .milliseconds(20))
        #expect(transactions.map(\.isConnectionReused) == [false, true])
        #expect(transactions.map { $0.connectEnd == nil } == [false, true])
    }

    @Test("A failed task has metrics, too")
    func failed() async throws {
        let port = PeerServer.deadPort
        let delegate = Collector()
        let session = ClientSession(.ephemeral, delegate: delegate)
        session.dataTask(for: ClientRequest(.get, "http://127.0.0.1:\(port)/")).resume()
        let metrics = try #require(await delegate.wait())
        #expect(metrics.transactions.count == 1)
        #expect(
            metrics.transactions[0].version == nil && metrics.transactions[0].requestStart == nil)
    }
}
