import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("Suspended tasks and the socket", .timeLimit(.minutes(5)))
struct SuspensionTests {
    @Test("Receiving: A suspended task stops the server, which continues after the resume")
    func receiving() async throws {
        let sent = Locked(0)
        // The rest is sent after the task is suspended, however fast it is read.
        let gate = Gate()
        let size = 64 << 20
        let content = BlockContent(count: size)
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
            for offset in stride(from: 0, to: size, by: BlockContent.blockSize) {
                if offset == BlockContent.blockSize { gate.wait() }
                guard connection.send(Array(content.piece(at: offset))) else { return }
                sent.withLock { $0 += BlockContent.blockSize }
            }
            connection.waitForEnd()
        }
        let folder = try ServerDirectory()
        let task = ClientSession().downloadTask(
            for: ClientRequest(.get, peer.url()), to: folder.path("file"))
        task.resume()
        try await waitUntil { task.countOfBytesReceived != 0 }
        task.suspend()
        gate.open()
        #expect(await soon { sent.withLock { $0 } > BlockContent.blockSize })
        let count = try await settled { sent.withLock { $0 } }
        let received = task.countOfBytesReceived
        // The peer fills the system's buffers, and the task reads nothing from them.
        #expect(count < size)
        try await Task.sleep(for: .milliseconds(200))
        #expect(sent.withLock { $0 } == count && task.countOfBytesReceived == received)
        #expect(task.state == .suspended)
        task.resume()
        try await task.finished()
        #expect(content.isWhole(in: folder.path("file")) && peer.connectionCount == 1)
    }

    @Test("Sending: Nothing is sent while a task is suspended")
    func sending() async throws {
        let gate = Gate()
        let total = Locked(0)
        let size = 64 << 20
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            total.withLock { $0 += connection.content(1).count }
            gate.wait()
            while total.withLock({ $0 }) < size {
                let piece = connection.content(min(64 << 10, size - total.withLock { $0 }))
                guard !piece.isEmpty else { return }
                total.withLock { $0 += piece.count }
            }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            connection.waitForEnd()
        }
        var request = ClientRequest(.put, peer.url())
        request.expectation = .never
        let task = ClientSession().uploadTask(
            for: request, from: .bytes([UInt8](repeating: 7, count: size)))
        task.resume()
        try await waitUntil { total.withLock({ $0 }) != 0 }
        task.suspend()
        task.suspend()
        let sent = try await settled { Int(task.countOfBytesSent) }
        gate.open()
        // The peer continues to read; it gets the bytes that were sent before, and no more.
        let came = try await settled { total.withLock { $0 } }
        #expect(came <= sent && Int(task.countOfBytesSent) == sent && sent < size)
        task.resume()
        #expect(task.state == .suspended)
        #expect(Int(task.countOfBytesSent) == sent)
        task.resume()
        let response = try await task.finished()
        #expect(response.status == .ok && total.withLock { $0 } == size)
        #expect(peer.connectionCount == 1)
    }

    @Test("Threads that suspend and resume a task at the same time leave it running")
    func manyThreads() async throws {
        let gate = Gate()
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")
            gate.wait()
            connection.send("rest")
            connection.waitForEnd()
        }
        let task = ClientSession(.ephemeral).dataTask(for: ClientRequest(.get, peer.url()))
        task.resume()
        try await waitUntil { task.response != nil }
        let running = Locked(4)
        for _ in 0..<4 {
            OwnThread.start {
                for _ in 0..<2_000 {
                    task.suspend()
                    task.resume()
                }
                running.withLock { $0 -= 1 }
            }
        }
        try await waitUntil { running.withLock { $0 } == 0 }
        #expect(task.state == .running)
        gate.open()
        try await waitUntil { task.state == .completed }
        #expect(task.error == nil && task.countOfBytesReceived == 8)
    }

    @Test("A suspended task does not reach its idle limit")
    func idle() async throws {
        // Other tests may delay a part of the content.
        var isHeld = false
        for _ in 0..<5 where !isHeld { isHeld = try await isHeldBySuspension() }
        #expect(isHeld)
    }

    /// Whether a suspended task stays alive after its idle limit, and then receives the rest.
    private func isHeldBySuspension() async throws -> Bool {
        let gate = Gate()
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")
            gate.wait()
            connection.send("rest")
            connection.waitForEnd()
        }
        var request = ClientRequest(.get, peer.url())
        request.timeouts = ClientTimeouts(idle: .seconds(5))
        let delegate = Recorder()
        let task = ClientSession().dataTask(for: request, delegate: delegate)
        task.resume()
        await delegate.wait { log in
            log.contains { $0 == "content half" || $0.hasPrefix("complete") }
        }
        task.suspend()
        try await Task.sleep(for: .seconds(6))
        let isSuspended = task.error == nil && task.state == .suspended
        task.resume()
        gate.open()
        let error = await failure { try await task.finished() }
        return isSuspended && error == nil && task.countOfBytesReceived == 8
    }
}
