import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import URLClient

@Suite("Lengths and progress", .timeLimit(.minutes(2)))
struct ProgressTests {
    /// Sends the first part, waits for the gate, then sends the rest.
    private func peer(_ first: String, _ rest: String, _ gate: Gate) throws -> ScriptedPeer {
        try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send(first)
            gate.wait()
            connection.send(rest)
            connection.waitForEnd()
        }
    }

    @Test(
        "D14: The expected length is known after the head, if the head contains it",
        arguments: [
            ("Content-Length: 8\r\n\r\nhalf", "rest", 8),
            ("Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", "4\r\nrest\r\n0\r\n\r\n", nil),
        ] as [(String, String, Int64?)])
    func expected(_ first: String, _ rest: String, _ length: Int64?) async throws {
        let gate = Gate()
        let peer = try peer("HTTP/1.1 200 OK\r\n\(first)", rest, gate)
        let delegate = Recorder()
        let session = ClientSession(delegate: delegate)
        let task = session.dataTask(for: ClientRequest(.get, peer.url()))
        #expect(task.countOfBytesExpectedToReceive == nil)
        task.resume()
        await delegate.wait { $0.contains("content half") }
        #expect(task.countOfBytesExpectedToReceive == length)
        #expect(task.countOfBytesReceived == 4)
        #expect(task.currentProgress.fraction == length.map { _ in 0.5 })
        gate.open()
        await delegate.wait { $0.contains("complete") }
        #expect(task.countOfBytesReceived == 8)
    }

    @Test("D15: Progress follows a download while it runs")
    func download() async throws {
        let gate = Gate()
        let peer = try peer(
            "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf", "rest", gate)
        let folder = try ServerDirectory()
        let task = ClientSession().downloadTask(
            for: ClientRequest(.get, peer.url()), to: folder.path("file"))
        var seen: [Int64] = []
        for await progress in task.progress {
            seen.append(progress.received)
            #expect(progress.received == 0 || progress.expectedToReceive == 8)
            // The peer sends the rest only after half of it was seen.
            if progress.received == 4 { gate.open() }
        }
        #expect(seen.contains(4) && seen.last == 8 && seen == seen.sorted())
    }

    @Test("D15: Progress follows an upload while it runs, as a sequence and in the delegate")
    func upload() async throws {
        let gate = Gate()
        let size = 48 << 20
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            _ = connection.content(1 << 20)
            gate.wait()
            _ = connection.content(size - (1 << 20))
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            connection.waitForEnd()
        }
        var request = ClientRequest(.put, peer.url())
        request.expectation = .never
        let delegate = Recorder()
        let session = ClientSession(delegate: delegate)
        let task = session.uploadTask(
            for: request, from: .bytes([UInt8](repeating: 1, count: size)))
        var parts: [Double] = []
        for await progress in task.progress {
            #expect(progress.expectedToSend == Int64(size))
            parts.append(progress.fraction ?? 0)
            if let part = parts.last, part > 0 { gate.open() }
        }
        #expect(parts == parts.sorted() && parts.contains { $0 > 0 && $0 < 1 })
        #expect(task.countOfBytesSent == Int64(size))
        await delegate.wait { $0.contains("complete") }
        #expect(delegate.log.first == "sent")
    }

    @Test("The progress of a resumed download includes the partial file")
    func resumed() async throws {
        let gate = Gate()
        let peer = try peer(
            "HTTP/1.1 206 Part\r\nContent-Range: bytes 4-7/8\r\nContent-Length: 4\r\n\r\nre", "st",
            gate)
        let folder = try ServerDirectory()
        try folder.write("part", "half and more")
        let data = ResumeData(
            url: ClientRequest(.get, peer.url()).url, partialPath: folder.path("part"), offset: 4,
            validator: "\"1\"")
        let task = ClientSession().downloadTask(resuming: data, to: folder.path("file"))
        for await progress in task.progress where progress.received > 0 {
            #expect(progress.received >= 4 && progress.expectedToReceive == 8)
            #expect(progress.newlyReceived == progress.received - 4)
            if progress.received == 6 { gate.open() }
        }
        #expect(Files.read(folder.path("file")) == Array("halfrest".utf8))
    }

    @Test("A restarted download also counts the bytes that it discarded")
    func restarted() async throws {
        let peer = try ScriptedPeer { connection in
            while connection.head() != nil {
                connection.send(
                    "HTTP/1.1 200 OK\r\nETag: \"\(connection.index)\"\r\n"
                        + "Content-Length: 1000\r\n\r\n")
                connection.send(TestServer.pattern(connection.index == 0 ? 400 : 1_000))
                if connection.index == 0 { return }
            }
        }
        let folder = try ServerDirectory()
        let task = ClientSession(.ephemeral).downloadTask(
            for: ClientRequest(.get, peer.url()), to: folder.path("file"))
        try await task.finished()
        let progress = task.currentProgress
        #expect(progress.received == 1_000 && progress.newlyReceived == 1_400)
    }
}
