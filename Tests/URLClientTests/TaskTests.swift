import HTTPCodecs
import HTTPParser
import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("Tasks", .timeLimit(.minutes(2)))
struct TaskTests {
    /// Sends half of the content, waits for the gate, then sends the rest.
    private func halves(_ gate: Gate) throws -> ScriptedPeer {
        try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")
            gate.wait()
            connection.send("rest")
            connection.waitForEnd()
        }
    }

    @Test("D25: A suspended task continues where it stopped")
    func suspension() async throws {
        let gate = Gate()
        let peer = try halves(gate)
        let delegate = Recorder()
        let session = ClientSession(delegate: delegate)
        let task = session.dataTask(for: ClientRequest(.get, peer.url()))
        task.resume()
        await delegate.wait { $0.contains("content half") }
        task.suspend()
        task.suspend()
        #expect(task.state == .suspended)
        gate.open()
        task.resume()
        #expect(task.state == .suspended)
        task.resume()
        // The content received meanwhile may have completed it by now.
        #expect(task.state != .suspended)
        await delegate.wait { $0.last == "complete" }
        let content = delegate.log.filter { $0.hasPrefix("content") }
        #expect(content == ["content half", "content rest"])
        #expect(peer.connectionCount == 1)
    }

    @Test("Y36: A new task is suspended once; each resume ends one suspension")
    func countedSuspensions() async throws {
        let gate = Gate()
        let peer = try halves(gate)
        let task = ClientSession().dataTask(for: ClientRequest(.get, peer.url()))
        task.suspend()
        task.resume()
        #expect(task.state == .suspended)
        task.resume()
        #expect(task.state == .running)
        // Resuming a running task does not count against a later suspension.
        task.resume()
        task.resume()
        task.suspend()
        #expect(task.state == .suspended)
        gate.open()
        task.resume()
        #expect(task.state != .suspended)
        try await task.finished()
        #expect(task.countOfBytesReceived == 8)
    }

    @Test("D26: Callbacks are in order; a task whose response was allowed is running")
    func order() async throws {
        let server = try await TestServer()
        let delegate = Recorder()
        let session = ClientSession(delegate: delegate)
        var request = ClientRequest(.post, server.url("/echo"))
        request.body = .text("content")
        let task = session.dataTask(for: request)
        #expect(task.state == .suspended)
        task.resume()
        await delegate.wait { $0.last == "complete" }
        #expect(
            delegate.log.filter { $0 != "sent" } == [
                "response 200", "content content", "metrics", "complete",
            ])
        // This is the state that the delegate has seen.
        #expect(delegate.states == [.running])
        #expect(task.state == .completed)
    }

    @Test("Y14: All references to a task, also in allTasks, are the same object")
    func identity() async throws {
        let gate = Gate()
        let peer = try halves(gate)
        let delegate = Recorder()
        let session = ClientSession(delegate: delegate)
        let task = session.dataTask(for: ClientRequest(.get, peer.url()))
        let copy = task
        copy.resume()
        await delegate.wait { $0.contains("content half") }
        let all = await session.allTasks
        #expect(all.count == 1 && all.first === task && task.state == .running)
        copy.taskDescription = "the same"
        #expect(all.first?.taskDescription == "the same" && all.first?.identifier == 1)
        gate.open()
        try await task.finished()
        #expect(copy.countOfBytesReceived == 8)
    }

    @Test("S: A response that the delegate cancels is not read")
    func dispositionCancel() async throws {
        let server = try await TestServer()
        let delegate = Recorder(.cancel)
        let session = ClientSession(delegate: delegate)
        let task = session.dataTask(for: ClientRequest(.get, server.url("/stream/200000000")))
        task.resume()
        await delegate.wait { $0.last?.hasPrefix("complete") == true }
        #expect(delegate.log == ["response 200", "metrics", "complete cancelled"])
        #expect(task.error?.urlErrorCode == -999)
        #expect(delegate.size.withLock { $0 } == 0 && task.countOfBytesReceived < 4 << 20)
    }

    @Test("S: a data task becomes a download")
    func becomeDownload() async throws {
        let server = try await TestServer()
        let folder = try ServerDirectory()
        let delegate = Recorder(.becomeDownload(path: folder.path("file")))
        let session = ClientSession(delegate: delegate)
        session.dataTask(for: ClientRequest(.get, server.url("/bytes/100000"))).resume()
        await delegate.wait { $0.last == "complete" }
        #expect(
            delegate.log.filter { $0 != "wrote" }
                == ["response 200", "became", "file", "metrics", "complete"])
        #expect(Files.read(folder.path("file"))?.elementsEqual(TestServer.pattern(100_000)) == true)
    }

    @Test("D13: A download is complete without a delegate, or with one without methods")
    func silentDownload() async throws {
        let server = try await TestServer()
        let session = ClientSession()
        let (path, size) = await withCheckedContinuation { continuation in
            session.downloadTask(for: ClientRequest(.get, server.url("/bytes/70000"))) {
                path, _, _ in
                continuation.resume(returning: (path, path.flatMap { Files.read($0)?.count }))
            }.resume()
        }
        #expect(size == 70_000)
        // The file was temporary.
        let name = try #require(path)
        try await waitUntil { Files.read(name) == nil }
        // A delegate without a method for progress, and one without any method.
        let folder = try ServerDirectory()
        let content = TestServer.pattern(70_000)
        let delegates: [(String, any ClientSessionDelegate)] = [
            ("silent", Silent()), ("mute", Mute()),
        ]
        for (name, delegate) in delegates {
            let session = ClientSession(delegate: delegate)
            let task = session.downloadTask(
                for: ClientRequest(.get, server.url("/bytes/70000")), to: folder.path(name))
            try await task.finished()
            #expect(Files.read(folder.path(name))?.elementsEqual(content) == true)
            if let silent = delegate as? Silent {
                try await waitUntil { silent.size.withLock { $0 != nil } }
                #expect(silent.size.withLock { $0 } == 70_000)
            }
        }
    }

    private final class Silent: ClientSessionDelegate {
        let size = Locked<Int?>(nil)

        func task(_ task: DownloadTask, didFinishDownloadingTo path: String) {
            size.withLock { $0 = Files.read(path)?.count ?? 0 }
        }
    }

    private final class Mute: ClientSessionDelegate {}

    @Test("A task can be cancelled before and while it runs, and cannot be resumed after that")
    func cancellation() async throws {
        let gate = Gate()
        let peer = try halves(gate)
        let session = ClientSession()
        let request = ClientRequest(.get, peer.url())
        let fresh = session.dataTask(for: request)
        fresh.cancel()
        #expect(await failure { try await fresh.finished() }?.kind == .cancelled)
        fresh.resume()
        #expect(fresh.state == .completed)

        let delegate = Recorder()
        let running = session.dataTask(for: request, delegate: delegate)
        running.resume()
        await delegate.wait { $0.contains("content half") }
        running.cancel()
        #expect(await failure { try await running.finished() }?.kind == .cancelled)
        #expect(running.error?.urlErrorCode == -999)
        // A task that was cancelled cannot be resumed, and its end is reported once.
        running.resume()
        #expect(await soon { running.state == .completed })
        await delegate.wait { $0.contains("complete cancelled") }
        #expect(delegate.log.filter { $0.hasPrefix("complete") } == ["complete cancelled"])
        #expect(peer.connectionCount == 1)
        gate.open()
    }

    @Test("A caller that is cancelled already sends nothing, and gets no response")
    func cancelledCaller() async throws {
        let gate = Gate()
        gate.open()
        let peer = try halves(gate)
        let session = ClientSession()
        let request = ClientRequest(.get, peer.url())
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await session.data(for: request) },
            { _ = try await session.bytes(for: request) },
            { _ = try await session.dataTask(for: request).finished() },
        ]
        for call in calls {
            // It is cancelled from inside, because from outside a response could come first.
            let task = Task {
                unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
                return await failure(call)
            }
            #expect(await task.value?.kind == .cancelled)
        }
        #expect(peer.connectionCount == 0)
    }

    @Test("An invalidated session ends its tasks, releases its delegate and refuses new tasks")
    func invalidation() async throws {
        let gate = Gate()
        let peer = try halves(gate)
        weak var kept: Recorder?
        let log: Locked<[String]>
        do {
            let delegate = Recorder()
            kept = delegate
            log = delegate.entries
            let session = ClientSession(delegate: delegate)
            let task = session.dataTask(for: ClientRequest(.get, peer.url()))
            task.resume()
            await delegate.wait { $0.contains("content half") }
            session.finishTasksAndInvalidate()
            gate.open()
            await delegate.wait { $0.last == "invalid" }
            #expect(delegate.log.suffix(2) == ["complete", "invalid"])
            let late = session.dataTask(for: ClientRequest(.get, peer.url()))
            late.resume()
            #expect(await failure { try await late.finished() }?.kind == .sessionInvalidated)
        }
        try await waitUntil { kept == nil }
        #expect(log.withLock { $0.last } != nil)
    }

    @Test("Y32: An invalidated session releases its delegate, even if session and task are kept")
    func delegateLetGo() async throws {
        let gate = Gate()
        let peer = try halves(gate)
        weak var kept: Recorder?
        let session = ClientSession(delegate: Recorder())
        kept = session.delegate as? Recorder
        let log = try #require(kept?.entries)
        let task = session.dataTask(for: ClientRequest(.get, peer.url()))
        task.resume()
        #expect(await soon { log.withLock { $0.contains("content half") } })
        #expect(session.delegate != nil && kept != nil)
        session.invalidateAndCancel()
        #expect(await soon { session.delegate == nil && kept == nil })
        #expect(log.withLock { $0.suffix(2) == ["complete cancelled", "invalid"] })
        #expect(task.state == .completed)
        gate.open()
        withExtendedLifetime((session, task)) {}
    }

    @Test("A task's own delegate is released at the end of the task", arguments: [false, true])
    func ownDelegateLetGo(isDownload: Bool) async throws {
        let server = try await TestServer()
        let folder = try ServerDirectory()
        let session = ClientSession()
        let request = ClientRequest(.get, server.url("/bytes/70000"))
        weak var kept: Recorder?
        let task: TransferTask
        do {
            let delegate = Recorder()
            kept = delegate
            task =
                isDownload
                ? session.downloadTask(
                    for: request, to: folder.path("file"), delegate: delegate)
                : session.dataTask(for: request, delegate: delegate)
        }
        #expect(kept != nil)
        try await task.finished()
        #expect(await soon { kept == nil })
        withExtendedLifetime((session, task)) {}
    }

    @Test("invalidateAndCancel ends running tasks; the shared session ignores it")
    func invalidateAndCancel() async throws {
        let gate = Gate()
        let peer = try halves(gate)
        let delegate = Recorder()
        let session = ClientSession(delegate: delegate)
        let task = session.dataTask(for: ClientRequest(.get, peer.url()))
        task.resume()
        await delegate.wait { $0.contains("content half") }
        #expect(await session.allTasks.map(\.identifier) == [task.identifier])
        session.invalidateAndCancel()
        await delegate.wait { $0.last == "invalid" }
        #expect(delegate.log.suffix(2) == ["complete cancelled", "invalid"])
        #expect(await session.allTasks.isEmpty && task.error?.urlErrorCode == -999)
        gate.open()
        let late = session.dataTask(for: ClientRequest(.get, peer.url()))
        late.resume()
        #expect(await failure { try await late.finished() }?.kind == .sessionInvalidated)
        #expect(await session.allTasks.isEmpty)
        ClientSession.shared.invalidateAndCancel()
        let server = try await TestServer()
        _ = try await ClientSession.shared.data(for: ClientRequest(.get, server.url("/hello")))
    }

    @Test("D17, S: A slow delegate delays the connection, and does not fill the memory")
    func slowDelegate() async throws {
        let sent = Locked(0)
        let content = BlockContent(count: 64_000_000)
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(content.count)\r\n\r\n")
            for offset in stride(from: 0, to: content.count, by: BlockContent.blockSize) {
                let piece = Array(content.piece(at: offset))
                guard connection.send(piece) else { return }
                sent.withLock { $0 += piece.count }
            }
            connection.waitForEnd()
        }
        let delegate = Recorder()
        let session = ClientSession(delegate: delegate)
        delegate.queueBlock.withLock { $0 = true }
        let task = session.dataTask(for: ClientRequest(.get, peer.url()))
        task.resume()
        await delegate.wait { $0.contains("blocked") }
        // While the delegate sleeps, the client's buffers limit the received bytes, and those of
        // the system the sent ones.
        _ = try await settled { sent.withLock { $0 } + Int(task.countOfBytesReceived) }
        #expect(task.countOfBytesReceived < 4 << 20)
        #expect(sent.withLock { $0 } < content.count)
        delegate.gate.open()
        await delegate.wait { $0.last == "complete" }
        #expect(delegate.size.withLock { $0 } == content.count)
    }
}

/// Lets scripts and delegates wait.
final class Gate: Sendable {
    private let isOpen = Locked(false)
    private let hasBegun = Locked(false)

    /// Lets the other side start.
    func begin() { hasBegun.withLock { $0 = true } }
    var isBegun: Bool { hasBegun.withLock { $0 } }

    func open() { isOpen.withLock { $0 = true } }

    /// Whether it was opened.
    var isDone: Bool { isOpen.withLock { $0 } }

    /// Blocks its thread, which is never one of the concurrency pool.
    func wait() {
        for _ in 0..<60_000 where !isOpen.withLock({ $0 }) { Pause.milliseconds(1) }
    }
}

/// The error that a closure throws; nil if it throws none.
func failure(_ body: () async throws -> Void) async -> ClientError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? ClientError
    }
}

/// The error that a closure throws; nil if it throws none.
func failure<Value>(_ body: () async throws -> Value) async -> ClientError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? ClientError
    }
}
