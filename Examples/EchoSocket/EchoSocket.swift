// EchoSocket: a WebSocket that sends every message back.
//
//   swift run --package-path Examples EchoSocket
//   httpkit fetch ws://localhost:8080/chat
//
// In a browser: open http://localhost:8080/, which is 404, and in its console make a
// `new WebSocket("ws://localhost:8080/chat")`.

import HTTPServerToolkit
import HTTPServerWebSocket

@main
struct EchoSocket {
    static func main() async throws {
        var router = Router()
        router.get("/chat") { request in
            try request.webSocket { socket in
                for try await message in socket { try await socket.send(message) }
            }
        }
        try await HTTPServer(ServerConfiguration(port: 8080), handler: router).run()
    }
}
