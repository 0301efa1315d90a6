import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("Dispositions", .timeLimit(.minutes(2)))
struct DispositionTests {
    /// Responses that end before, or just when, a delegate decides about them.
    static let answers = [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.0 200 OK\r\n\r\nok",
        "HTTP/1.0 200 OK\r\n\r\n",
    ]

    private func peer(_ answer: String) throws -> ScriptedPeer {
        try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send(answer)
        }
    }

    /// A delegate that may wait before it decides.
    private final class Decider: ClientSessionDelegate {
        let log = Locked([String]())
        private let disposition: ResponseDisposition
        private let takesTime: Bool

        init(_ disposition: ResponseDisposition, takesTime: Bool) {
            self.disposition = disposition
            self.takesTime = takesTime
        }

        func task(
            _ task: TransferTask, didReceiveResponse response: ClientResponse
        ) async -> ResponseDisposition {
            if takesTime { try? await Task.sleep(for: .milliseconds(60)) }
            return disposition
        }

        func task(_ task: TransferTask, didReceiveContent content: [UInt8]) {
            log.withLock { $0.append("content") }
        }

        func task(_ task: DownloadTask, didFinishDownloadingTo path: String) {
            log.withLock { $0.append("file") }
        }

        func task(_ task: TransferTask, didCompleteWith error: ClientError?) {
            log.withLock { $0.append(error.map { "complete \($0.kind)" } ?? "complete") }
        }

        func waitForEnd() async {
            _ = await soon { log.withLock { $0.contains { $0.hasPrefix("complete") } } }
        }
    }

    @Test("A download of decoded content is not resumed by ranges of the coded content")
    func decodedDownload() async throws {
        let coded = try (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }.gzipped()
        let heads = Locked([String]())
        let peer = try ScriptedPeer { connection in
            guard let head = connection.head() else { return }
            heads.withLock { $0.append(head) }
            connection.send(
                "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Encoding: gzip\r\n"
                    + "Content-Length: \(coded.count)\r\n\r\n")
            connection.send(Array(coded[..<(coded.count / 2)]))
        }
        let folder = try ServerDirectory()
        let delegate = Decider(.becomeDownload(path: folder.path("file")), takesTime: false)
        let session = ClientSession(.ephemeral, delegate: delegate)
        let task = session.dataTask(for: ClientRequest(.get, peer.url()))
        task.resume()
        await delegate.waitForEnd()
        #expect(delegate.log.withLock { $0.last?.hasPrefix("complete ") } == true)
        #expect(heads.withLock { $0.allSatisfy { !$0.contains("Range:") } })
        #expect(Files.names(folder.path).allSatisfy { $0 != "file" })
    }

    @Test("A delegate can cancel any response, however small", arguments: answers, [false, true])
    func cancelled(_ answer: String, takesTime: Bool) async throws {
        let peer = try peer(answer)
        let delegate = Decider(.cancel, takesTime: takesTime)
        let session = ClientSession(delegate: delegate)
        let task = session.dataTask(for: ClientRequest(.get, peer.url()))
        let error = await failure { try await task.finished() }
        #expect(error?.kind == .cancelled)
        #expect(error?.phase == .receiving)
        await delegate.waitForEnd()
        #expect(delegate.log.withLock { $0 } == ["complete cancelled"])
    }

    @Test("A small response becomes one complete file", arguments: answers, [false, true])
    func downloaded(_ answer: String, takesTime: Bool) async throws {
        let peer = try peer(answer)
        let folder = try ServerDirectory()
        let delegate = Decider(
            .becomeDownload(path: folder.path("file")), takesTime: takesTime)
        let session = ClientSession(delegate: delegate)
        session.dataTask(for: ClientRequest(.get, peer.url())).resume()
        await delegate.waitForEnd()
        #expect(delegate.log.withLock { $0 } == ["file", "complete"])
        let content = try #require(Files.read(folder.path("file")))
        #expect(String(decoding: content, as: UTF8.self) == (answer.contains("ok") ? "ok" : ""))
        #expect(Files.names(folder.path) == ["file"])
        #expect(peer.connectionCount == 1)
    }

    /// Cancels a download as soon as it is created.
    private final class Refuser: ClientSessionDelegate {
        let path: String

        init(_ path: String) { self.path = path }

        func task(
            _ task: TransferTask, didReceiveResponse response: ClientResponse
        ) async -> ResponseDisposition { .becomeDownload(path: path) }

        func task(_ task: TransferTask, didBecome download: DownloadTask) { download.cancel() }
    }

    @Test("A data task's download that is cancelled at once leaves no file", arguments: answers)
    func refused(_ answer: String) async throws {
        let peer = try peer(answer)
        let folder = try ServerDirectory()
        let session = ClientSession(delegate: Refuser(folder.path("file")))
        let task = session.dataTask(for: ClientRequest(.get, peer.url()))
        let error = await failure { try await task.finished() }
        #expect(error?.kind == .cancelled)
        #expect(Files.names(folder.path) == [])
    }

    @Test(
        "A download asks its delegate about the response once, also over two connections",
        arguments: [false, true])
    func download(cancels: Bool) async throws {
        let content = TestServer.pattern(300_000)
        let peer = try ScriptedPeer { connection in
            guard let head = connection.head() else { return }
            let rest = head.contains("Range: bytes=100000-") ? 100_000 : 0
            let range = "206 Part\r\nContent-Range: bytes 100000-299999/300000"
            connection.send(
                "HTTP/1.1 \(rest > 0 ? range : "200 OK")\r\nETag: \"1\"\r\n"
                    + "Content-Length: \(300_000 - rest)\r\n\r\n")
            connection.send(Array(content[rest..<(rest > 0 ? 300_000 : 100_000)]))
        }
        let folder = try ServerDirectory()
        let delegate = Recorder(cancels ? .cancel : .allow)
        let session = ClientSession(delegate: delegate)
        let task = session.downloadTask(
            for: ClientRequest(.get, peer.url()), to: folder.path("file"))
        let error = await failure { try await task.finished() }
        await delegate.wait { $0.last?.hasPrefix("complete") == true }
        let log = delegate.log.filter { $0 != "wrote" }
        guard !cancels else {
            #expect(error?.kind == .cancelled && Files.names(folder.path) == [])
            #expect(log == ["response 200", "metrics", "complete cancelled"])
            return
        }
        #expect(log == ["response 200", "file", "metrics", "complete"])
        #expect(Files.read(folder.path("file")) == content && peer.connectionCount == 2)
    }

    @Test("A download with a completion handler does not ask the session's delegate")
    func handler() async throws {
        let server = try await TestServer()
        let delegate = Recorder(.cancel)
        let session = ClientSession(delegate: delegate)
        let size = await withCheckedContinuation { continuation in
            session.downloadTask(for: ClientRequest(.get, server.url("/bytes/70000"))) {
                path, _, _ in
                continuation.resume(returning: path.flatMap { Files.read($0)?.count })
            }.resume()
        }
        #expect(size == 70_000)
    }

    @Test("Many small responses are all cancelled")
    func many() async throws {
        let server = try await TestServer()
        let session = ClientSession(delegate: Decider(.cancel, takesTime: false))
        let tasks = (0..<300).map { index in
            session.dataTask(
                for: ClientRequest(.get, server.url(index % 2 == 0 ? "/hello" : "/bytes/0")))
        }
        for task in tasks { task.resume() }
        for task in tasks {
            #expect(await failure { try await task.finished() }?.kind == .cancelled)
        }
    }

    @Test("The times of a transaction are in order")
    func times() async throws {
        let server = try await TestServer()
        let session = ClientSession()
        for path in ["/hello", "/bytes/0", "/bytes/100000", "/hello", "/hello"] {
            let task = session.dataTask(for: ClientRequest(.get, server.url(path)))
            try await task.finished()
            let transaction = try #require(task.metrics?.transactions.first)
            let start = try #require(transaction.requestStart)
            let answer = try #require(transaction.responseStart)
            let end = try #require(transaction.responseEnd)
            #expect(start <= answer)
            #expect(answer <= end)
        }
    }
}
