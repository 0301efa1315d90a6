import Foundation
import HTTPParser
import TestSupport
import Testing
import URLClient
import WebSocketFrames

@Suite(
    "WebSockets with the Python libraries websockets and wsproto", .fewAtOnce,
    .timeLimit(.minutes(3)))
struct PythonPeerTests {
    private func python(_ script: String, _ arguments: [String]) async throws -> Program.Result {
        try await Program.run("python3", ["-c", script] + arguments)
    }

    private func requireModule(_ name: String) async throws {
        let result = try await python("import \(name)", [])
        try FullSuite.require(name, isThere: result.status == 0)
    }

    @Test(
        "The server exchanges messages with a client of websockets, compressed and uncompressed",
        arguments: [true, false])
    func serverWithWebsockets(_ compresses: Bool) async throws {
        try await requireModule("websockets")
        let server = try await BinProcess()
        let result = try await python(
            """
            import sys
            from websockets.sync.client import connect
            with connect(sys.argv[1], compression=\(compresses ? "'deflate'" : "None"),
                         max_size=None, proxy=None, open_timeout=100, close_timeout=100) as socket:
                for message in ["", "Gr\\u00fc\\u00dfe", b"\\0" * 125, b"ab" * 500000, "x" * 70000]:
                    socket.send(message)
                    assert socket.recv() == message, len(message)
                assert socket.ping().wait(100)
                socket.close(4000, "done")
            print(socket.close_code)
            """, [server.base.replacingOccurrences(of: "http:", with: "ws:") + "/websocket/echo"])
        #expect(result.text == "4000\n", "\(result.complaints)")
    }

    @Test("The server exchanges messages with a client of wsproto")
    func serverWithWsproto() async throws {
        try await requireModule("wsproto")
        let server = try await BinProcess()
        let result = try await python(
            """
            import socket, sys
            from wsproto import ConnectionType, WSConnection
            from wsproto.events import *
            host, port = sys.argv[1].split("/")[2].split(":")
            peer, socket = WSConnection(ConnectionType.CLIENT), socket.create_connection((host, int(port)))
            socket.settimeout(30)
            socket.sendall(peer.send(Request(host=host, target="/websocket/echo")))
            text = ""
            while True:
                data = socket.recv(65536)
                peer.receive_data(data or None)
                for event in peer.events():
                    if isinstance(event, AcceptConnection):
                        socket.sendall(peer.send(Ping(b"p")) + peer.send(Message("one ", message_finished=False))
                            + peer.send(Message("two")))
                    elif isinstance(event, Pong):
                        print("pong", bytes(event.payload))
                    elif isinstance(event, TextMessage):
                        text += event.data
                        if event.message_finished:
                            print(text)
                            socket.sendall(peer.send(CloseConnection(1000, "bye")))
                    elif isinstance(event, CloseConnection):
                        print(event.code)
                        sys.exit()
            """, [server.base])
        #expect(result.text == "pong b'p'\none two\n1000\n", "\(result.complaints)")
    }

    @Test("The client exchanges messages with a server of websockets", arguments: [true, false])
    func clientWithWebsockets(_ compresses: Bool) async throws {
        try await requireModule("websockets")
        let server = try RunningProgram(
            "python3",
            [
                "-c",
                """
                from websockets.sync.server import serve
                def echo(socket):
                    for message in socket:
                        if message == "close": return socket.close(4321, "asked")
                        socket.send(message)
                with serve(echo, "127.0.0.1", 0, max_size=None, open_timeout=100, close_timeout=100,
                           compression=\(compresses ? "'deflate'" : "None")) as server:
                    print(server.socket.getsockname()[1], flush=True)
                    server.serve_forever()
                """,
            ])
        try #require(await server.wait { $0.text.hasSuffix("\n") }, "\(server.complaints)")
        let port = server.text.dropLast()
        let socket = ClientSession(.ephemeral).webSocketTask(
            with: ClientRequest(.get, "ws://127.0.0.1:\(port)/"),
            compression: compresses ? DeflateExtension.Offer() : nil)
        for count in [0, 125, 70_000, 1 << 20] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 / 7) }
            try await socket.send(bytes)
            #expect(try await socket.receive() == .binary(bytes))
        }
        try await socket.sendPing()
        #expect((socket.response?.fields[.secWebSocketExtensions] != nil) == compresses)
        try await socket.send("close")
        let error = await #expect(throws: WebSocketClosedError.self) { try await socket.receive() }
        #expect(error?.end?.code.rawValue == 4321)
        #expect(socket.closeReason == "asked")
    }
}
