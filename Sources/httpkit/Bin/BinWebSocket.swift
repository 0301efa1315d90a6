import HTTPParser
import HTTPServerCore
import HTTPServerWebSocket
import WebSocketFrames

extension BinRouter {
    /// The longest message that is sent back, in bytes; the test suites of WebSocket send 16 MiB.
    private static let messageLimit: Int64 = 32 << 20

    /// Adds an endpoint that sends every message back.
    mutating func addWebSocket() {
        group("WebSocket")
        var options = WebSocketOptions()
        options.messageBytes = Self.messageLimit
        // Both sides may keep their compression context, so that clients can test this.
        let compression = DeflateExtension.Policy(
            serverKeepsContext: true, clientKeepsContext: true)
        answer(
            [.get], "/websocket/echo", "Sends every message back (RFC 6455).",
            example: "/websocket/echo"
        ) { [options] request in
            // Pages of any origin may connect, as to all endpoints.
            try request.webSocket(origins: .any, compression: compression, options: options) {
                socket in
                for try await message in socket { try await socket.send(message) }
            }
        }
    }
}
