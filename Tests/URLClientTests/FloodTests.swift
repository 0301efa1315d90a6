import HTTPParser
import TestSupport
import Testing
import URLClient

@Suite("A response that always has bytes to read", .timeLimit(.minutes(2)))
struct FloodTests {
    /// libcurl 8.9 and later wants to be called at once as long as there is something to read.
    /// Older versions wait for the socket: the test cannot fail with them.
    @Test("Other tasks and the cancellation do not wait for the end of the response")
    func others() async throws {
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                guard head.contains("/flood") else {
                    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    continue
                }
                connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
                let piece = [UInt8](repeating: 7, count: 256 << 10)
                while connection.send(piece) {}
                return
            }
        }
        let session = ClientSession(.ephemeral)
        let task = session.dataTask(for: ClientRequest(.get, peer.url("/flood")))
        task.resume()
        try await waitUntil { task.countOfBytesReceived > 8 << 20 }
        let (content, _) = try await session.data(for: ClientRequest(.get, peer.url("/other")))
        #expect(content == Array("ok".utf8))
        task.cancel()
        let error = await failure { try await task.finished() }
        #expect(error?.kind == .cancelled)
    }
}
