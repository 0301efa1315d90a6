import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import ToolkitSystem
import URLClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("Retries, strict transport, and the list of tasks", .timeLimit(.minutes(3)))
struct TransactionRetryTests {
    private static let answer =
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"

    private func session(_ change: (inout ClientConfiguration) -> Void = { _ in }) -> ClientSession
    {
        var configuration = ClientConfiguration.ephemeral
        configuration.retries.firstDelay = .milliseconds(1)
        change(&configuration)
        return ClientSession(configuration)
    }

    /// Closes `count` connections after it has read a request, then responds.
    private func peer(closing count: Int) throws -> ScriptedPeer {
        try ScriptedPeer { connection in
            guard connection.head() != nil, connection.index >= count else { return }
            connection.send(Self.answer)
            connection.waitForEnd()
        }
    }

    @Test("An idempotent request is retried once, and POST never")
    func closed() async throws {
        let once = try peer(closing: 1)
        let (content, _) = try await session().data(for: ClientRequest(.get, once.url()))
        #expect(content == Array("hello".utf8) && once.connectionCount == 2)
        let twice = try peer(closing: 2)
        await #expect(throws: ClientError.self) {
            try await session().data(for: ClientRequest(.get, twice.url()))
        }
        #expect(twice.connectionCount == 2)
        let post = try peer(closing: 1)
        await #expect(throws: ClientError.self) {
            try await session().data(for: ClientRequest(.post, post.url(), body: .text("x")))
        }
        #expect(post.connectionCount == 1)
        let never = try peer(closing: 1)
        await #expect(throws: ClientError.self) {
            try await session { $0.retries = .never }
                .data(for: ClientRequest(.get, never.url()))
        }
        #expect(never.connectionCount == 1)
    }

    @Test("A status that the session names is retried after Retry-After")
    func retryAfter() async throws {
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send(
                connection.index > 0
                    ? Self.answer
                    : "HTTP/1.1 503 No\r\nRetry-After: 0\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
            connection.waitForEnd()
        }
        let asking = session { $0.retries.statuses = [.serviceUnavailable] }
        let (_, response) = try await asking.data(for: ClientRequest(.get, peer.url()))
        #expect(response.status == .ok && peer.connectionCount == 2)
    }

    @Test("RFC 5861, 4: a stored response is served when the server closes the connection")
    func gone() async throws {
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil, connection.index == 0 else { return }
            connection.send(
                "HTTP/1.1 200 OK\r\nCache-Control: max-age=0, stale-if-error=1000\r\n"
                    + "Content-Length: 5\r\nConnection: close\r\n\r\nhello")
            connection.waitForEnd()
        }
        let session = session()
        _ = try await session.data(for: ClientRequest(.get, peer.url()))
        let (content, response) = try await session.data(for: ClientRequest(.get, peer.url()))
        #expect(content == Array("hello".utf8) && response.isFromCache)
    }

    @Test("RFC 6797, 8.3: http becomes https before anything is sent")
    func strictTransport() async throws {
        let path = TemporaryPath()
        path.write(
            #"{"version":1,"hosts":[{"host":"localhost","expiry":4102444800,"includesSubdomains":false}]}"#
        )
        let server = try await TestServer()
        let strict = session { $0.strictTransport = StrictTransportStore(file: path.text) }
        do {
            _ = try await strict.data(
                for: ClientRequest(.get, server.url("/hello", host: "localhost")))
            Issue.record("the request was sent by http")
        } catch {
            #expect(error.url?.scheme == "https")
        }
        let (_, response) = try await strict.data(for: ClientRequest(.get, server.url("/hello")))
        #expect(response.status == .ok)
    }

    @Test(
        "A task whose delegate never answers a redirect ends once, at its timeout",
        arguments: [ClientTimeouts.Limit.total, .idle])
    func silentDelegate(_ limit: ClientTimeouts.Limit) async throws {
        let bin = try await BinServer()
        var request = bin.request(.get, "/redirect/1")
        request.timeouts =
            limit == .total ? ClientTimeouts(total: .seconds(1)) : ClientTimeouts(idle: .seconds(1))
        var isAsked = false
        // On a busy machine the timeout may pass before the redirect arrives.
        for _ in 0..<50 where !isAsked {
            let delegate = Silent()
            let session = ClientSession(.ephemeral, delegate: delegate)
            let task = session.dataTask(for: request)
            task.resume()
            #expect(await soon { task.state == .completed })
            #expect(task.error?.kind == .timedOut(limit) && task.error?.urlErrorCode == -1001)
            let questions = delegate.questions.withLock { $0 }
            isAsked = questions == 1
            // The answer comes too late, and changes nothing.
            delegate.release()
            session.finishTasksAndInvalidate()
            #expect(await soon { delegate.ends.withLock { $0.last == "invalid" } })
            #expect(delegate.ends.withLock { $0 } == ["complete", "invalid"])
            #expect(delegate.questions.withLock { $0 } == questions)
        }
        #expect(isAsked)
    }

    @Test("The idle timeout does not run while a task is suspended")
    func suspendedDelegate() async throws {
        let bin = try await BinServer()
        var request = bin.request(.get, "/redirect/1")
        request.timeouts = ClientTimeouts(idle: .seconds(2))
        var isHeld = false
        for _ in 0..<20 where !isHeld {
            let delegate = Silent(suspends: true)
            let session = ClientSession(.ephemeral, delegate: delegate)
            let task = session.dataTask(for: request)
            task.resume()
            #expect(await soon { task.state == .suspended || task.state == .completed })
            // The session handles the suspension before it lists its tasks, unless it was too late.
            isHeld = await session.allTasks.count == 1 && task.state == .suspended
            guard isHeld else {
                delegate.release()
                continue
            }
            try await Task.sleep(for: .seconds(3))
            #expect(task.state == .suspended && task.error == nil)
            task.resume()
            #expect(await soon { task.state == .completed })
            #expect(task.error?.kind == .timedOut(.idle))
            delegate.release()
        }
        #expect(isHeld)
    }

    private final class Silent: ClientSessionDelegate {
        let questions = Locked(0)
        let ends = Locked([String]())
        private let waiting = Locked<CheckedContinuation<Void, Never>?>(nil)
        private let suspends: Bool

        init(suspends: Bool = false) { self.suspends = suspends }

        func task(
            _ task: TransferTask, willRedirectTo request: ClientRequest,
            from response: ClientResponse
        ) async -> ClientRequest? {
            questions.withLock { $0 += 1 }
            await withCheckedContinuation { continuation in
                waiting.withLock { $0 = continuation }
                if suspends { task.suspend() }
            }
            return request
        }

        func task(_ task: TransferTask, didCompleteWith error: ClientError?) {
            ends.withLock { $0.append("complete") }
        }

        func sessionDidBecomeInvalid() { ends.withLock { $0.append("invalid") } }

        func release() {
            waiting.withLock { waiting in
                waiting?.resume()
                waiting = nil
            }
        }
    }

    @Test("allTasks has running and suspended tasks, not tasks that never started or are completed")
    func allTasks() async throws {
        let peer = try ScriptedPeer { $0.waitForEnd() }
        let session = session { $0.timeouts = ClientTimeouts(idle: nil) }
        let tasks = (0..<3).map { _ in session.dataTask(for: ClientRequest(.get, peer.url())) }
        #expect(await session.allTasks.isEmpty)
        tasks[0].resume()
        tasks[1].resume()
        #expect(await session.allTasks.count == 2)
        tasks[1].suspend()
        #expect(await session.allTasks.count == 2)
        tasks[1].resume()
        #expect(await session.allTasks.count == 2)
        tasks[0].cancel()
        try await waitUntil { tasks[0].state == .completed }
        #expect(await session.allTasks.map(\.identifier) == [tasks[1].identifier])
        tasks[1].cancel()
        tasks[2].cancel()
    }
}
