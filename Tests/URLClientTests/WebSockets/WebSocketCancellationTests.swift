import HTTPParser
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("WebSockets that are cancelled while they start", .timeLimit(.minutes(3)))
struct WebSocketCancellationTests {
    @Test("A cancellation between the two steps of a start is not lost")
    func besideStart() async throws {
        // No response: a handshake that is not cancelled would last longer than the test.
        let peer = try ScriptedPeer { connection in
            _ = connection.head()
            connection.waitForEnd()
        }
        let session = ClientSession(.ephemeral)
        for _ in 0..<500 {
            let socket = session.webSocketTask(with: ClientRequest(.get, peer.url()))
            let (isThere, goes) = (Locked(false), Locked(false))
            OwnThread.start {
                isThere.withLock { $0 = true }
                while !goes.withLock({ $0 }) {}
                socket.resume()
            }
            defer { goes.withLock { $0 = true } }
            try await waitUntil { isThere.withLock { $0 } }
            goes.withLock { $0 = true }
            socket.cancel()
            try await waitUntil { socket.error != nil }
            #expect(socket.error?.kind == .cancelled)
        }
    }
}
