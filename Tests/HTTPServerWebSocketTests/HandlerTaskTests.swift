import HTTPServerCore
import HTTPServerKit
import HTTPServerWebSocket
import TestSupport
import Testing
import ToolkitSystem
import WebSocketFrames

@Suite("The task of a WebSocket's handler at the end of the connection")
struct HandlerTaskTests {
    /// How the handler's wait after the conversation ended.
    private enum Outcome { case cancelled, finished }

    /// Calls `talk`, and then waits until the test opens the gate or the task is cancelled.
    private struct Handled {
        let outcomes = Locked<[Outcome]>([])
        let gate = AsyncStream<Void>.makeStream()

        func handler(
            _ talk: @escaping @Sendable (WebSocket) async throws -> Void
        ) -> SyncHandler {
            SyncHandler { [outcomes, gate] request in
                try request.webSocket { socket in
                    try await talk(socket)
                    for await _ in gate.stream { break }
                    outcomes.withLock { $0.append(Task.isCancelled ? .cancelled : .finished) }
                }
            }
        }

        func end() async throws -> [Outcome] {
            try await waitUntil { outcomes.withLock { !$0.isEmpty } }
            return outcomes.withLock { $0 }
        }
    }

    @Test("An immediate task of a cancellation handler sends one message on another WebSocket")
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    func immediateTask() async throws {
        let other = Locked<WebSocket?>(nil)
        let reader = SyncHandler { request in
            try request.webSocket { socket in
                other.withLock { $0 = socket }
                for try await _ in socket {}
            }
        }
        let leaver = SyncHandler { request in
            try request.webSocket { _ in
                try await withTaskCancellationHandler {
                    try await Task.sleep(for: .seconds(600))
                } onCancel: {
                    guard let socket = other.withLock({ $0 }) else { return }
                    Task.immediate { try? await socket.send("gone") }
                }
            }
        }
        let listening = Client(reader)
        try await waitUntil { other.withLock { $0 != nil } }
        let leaving = Client(leaver)
        try await leaving.connection.output("101")
        leaving.close(4001)
        try await leaving.output(closeFrame(4001))
        let record = try await listening.output(serverFrame(1, "gone"))
        #expect(Client.frames(record) == serverFrame(1, "gone"))
    }

    @Test("A handler that only sends is cancelled when the client closes")
    func sender() async throws {
        let handled = Handled()
        let client = Client(handled.handler { try await $0.send("news") })
        try await client.output(serverFrame(1, "news"))
        client.close(1000)
        #expect(try await handled.end() == [.cancelled])
        try await client.output(closeFrame(1000))
        try await client.connection.closed()
    }

    @Test(
        "A handler that only sends is cancelled when the server stops, once or twice",
        arguments: [1, 2])
    func stopping(_ count: Int) async throws {
        let handled = Handled()
        let client = Client(handled.handler { try await $0.send("news") })
        try await client.output(serverFrame(1, "news"))
        for _ in 0..<count { await client.connection.onLoop { $0?.shutDown() } }
        try await client.output(closeFrame(1001))
        client.close(1001)
        #expect(try await handled.end() == [.cancelled])
        try await client.connection.closed()
    }

    @Test("A handler that reads is not cancelled when the client closes, and may continue")
    func reader() async throws {
        let handled = Handled()
        let client = Client(
            handled.handler { for try await message in $0 { try await $0.send(message) } })
        client.send(1, "x")
        try await client.output(serverFrame(1, "x"))
        client.close(1000)
        try await client.output(closeFrame(1000))
        try await client.connection.closed()
        handled.gate.continuation.yield()
        #expect(try await handled.end() == [.finished])
    }

    @Test("A handler that closes the WebSocket itself is not cancelled")
    func closer() async throws {
        let handled = Handled()
        let client = Client(handled.handler { await $0.close(.normal, reason: "") })
        try await client.output(closeFrame(1000))
        client.close(1000)
        try await client.connection.closed()
        handled.gate.continuation.yield()
        #expect(try await handled.end() == [.finished])
    }

    @Test("A reset without a close frame cancels handlers that send and handlers that read")
    func gone() async throws {
        let sending = Handled()
        let reading = Handled()
        let first = Client(sending.handler { try await $0.send("news") })
        let second = Client(
            reading.handler { socket in
                do {
                    for try await message in socket { try await socket.send(message) }
                } catch is WebSocketClosedError {}
            })
        try await first.output(serverFrame(1, "news"))
        second.send(1, "x")
        try await second.output(serverFrame(1, "x"))
        first.connection.hangUp()
        second.connection.hangUp()
        #expect(try await sending.end() == [.cancelled])
        #expect(try await reading.end() == [.cancelled])
    }
}
