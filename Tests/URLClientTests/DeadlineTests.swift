import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("Time limits that start later", .timeLimit(.minutes(5)))
struct DeadlineTests {
    /// A delegate that waits before it allows a response.
    private final class Thoughtful: ClientSessionDelegate {
        let gate = Gate()

        func task(
            _ task: TransferTask, didReceiveResponse response: ClientResponse
        ) async -> ResponseDisposition {
            try? await Task.sleep(for: .seconds(3))
            gate.open()
            return .allow
        }
    }

    private func request(
        _ method: HTTPMethod, _ url: String, _ timeouts: ClientTimeouts
    ) -> ClientRequest {
        var request = ClientRequest(method, url)
        request.timeouts = timeouts
        request.expectation = .never
        return request
    }

    @Test("Idle: A server that is silent after the delegate allowed its response times out")
    func silentAfterQuestion() async throws {
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n")
            connection.waitForEnd()
        }
        // Other tests may delay the response, before the delegate gets it.
        var isAsked = false
        for _ in 0..<5 where !isAsked {
            let delegate = Thoughtful()
            let task = ClientSession(.ephemeral).dataTask(
                for: request(
                    .get, peer.url(), ClientTimeouts(idle: .seconds(2), total: .seconds(40))),
                delegate: delegate)
            let error = await failure { try await task.finished() }
            isAsked = delegate.gate.isDone
            #expect(error?.kind == .timedOut(.idle), "\(error?.description ?? "-")")
        }
        #expect(isAsked)
    }

    @Test("Idle: The delegate's time does not count, also when other deadlines are checked")
    func answeredAfterQuestion() async throws {
        // Other tests may delay the rest.
        var isAnswered = false
        for _ in 0..<5 where !isAnswered { isAnswered = try await isAnsweredAfterQuestion() }
        #expect(isAnswered)
    }

    /// Whether all content arrives if the server sends the rest after the delegate's answer.
    private func isAnsweredAfterQuestion() async throws -> Bool {
        let delegate = Thoughtful()
        let gate = delegate.gate
        let peer = try ScriptedPeer { connection in
            guard let head = connection.head(), head.contains(" /slow ") else {
                return connection.waitForEnd()
            }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
            gate.wait()
            Pause.milliseconds(300)
            connection.send("rest")
            connection.waitForEnd()
        }
        let session = ClientSession(.ephemeral)
        let silent = request(.get, peer.url("/silent"), ClientTimeouts(idle: .milliseconds(50)))
        // Each of these makes the session check the deadlines of all tasks.
        let others = Task {
            while !Task.isCancelled { _ = await failure { try await session.data(for: silent) } }
        }
        defer { others.cancel() }
        let task = session.dataTask(
            for: request(.get, peer.url("/slow"), ClientTimeouts(idle: .seconds(2))),
            delegate: delegate)
        let error = await failure { try await task.finished() }
        return error == nil && task.countOfBytesReceived == 4
    }

    @Test("Idle: A server that is silent after an upload with a pause times out")
    func silentAfterGap() async throws {
        // Other tests may delay the first piece.
        var error: ClientError?
        for _ in 0..<5 where error?.bytesSent != 4 { error = try await errorAfterGap() }
        #expect(error?.kind == .timedOut(.idle), "\(error?.description ?? "-")")
        #expect(error?.bytesSent == 4)
    }

    /// The error of an upload with a pause that gets no response.
    private func errorAfterGap() async throws -> ClientError? {
        let peer = try ScriptedPeer { $0.waitForEnd() }
        let (pieces, continuation) = AsyncStream<[UInt8]>.makeStream()
        continuation.yield([1, 2])
        let rest = Task {
            try await Task.sleep(for: .seconds(3))
            continuation.yield([3, 4])
            continuation.finish()
        }
        let request = request(
            .post, peer.url(), ClientTimeouts(idle: .seconds(2), total: .seconds(40)))
        let error = await failure {
            try await ClientSession(.ephemeral).upload(
                for: request, from: .stream(pieces, length: 4))
        }
        try await rest.value
        return error
    }

    @Test(
        "First byte: The limit counts from the end of the upload, which may take longer",
        arguments: [20, nil] as [Int64?])
    func firstByte(_ length: Int64?) async throws {
        let peer = try ScriptedPeer { $0.waitForEnd() }
        let (pieces, continuation) = AsyncStream<[UInt8]>.makeStream()
        let source = Task {
            for _ in 0..<10 {
                continuation.yield([1, 2])
                try await Task.sleep(for: .milliseconds(200))
            }
            continuation.finish()
        }
        let request = request(
            .post, peer.url(), ClientTimeouts(firstByte: .seconds(1), total: .seconds(40)))
        let error = await failure {
            try await ClientSession(.ephemeral).upload(
                for: request, from: .stream(pieces, length: length))
        }
        #expect(error?.kind == .timedOut(.firstByte), "\(error?.description ?? "-")")
        #expect(error?.bytesSent == 20 && error?.phase == .waiting)
        try await source.value
    }
}
