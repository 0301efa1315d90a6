import Foundation
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("Recording and replaying exchanges", .fewAtOnce)
struct RecordingTests {
    private func folder() throws -> Folder {
        let folder = try Folder()
        try folder.write("content\n", to: "f.txt")
        try folder.write([UInt8].noise(300_000, seed: 5), to: "large.bin")
        return folder
    }

    private func curl(_ port: UInt16, _ arguments: String...) async throws {
        let result = try await Program.run(
            "curl",
            ["-sS", "--max-time", "60", "-o", "/dev/null"]
                + arguments.map { $0.replacing("URL", with: "http://127.0.0.1:\(port)") })
        #expect(result.status == 0, "\(result.complaints)")
    }

    @Test func whatCurlSaysIsRecordedAndAnsweredAlikeAgain() async throws {
        let folder = try folder()
        let server = try await ServeProcess(folder, ["--echo", "/echo"])
        let recorder = try ExchangeRecorder(forwardingTo: server.port)
        // Two requests on one connection, then one request on each of the others.
        try await curl(recorder.port, "URL/f.txt", "-o", "/dev/null", "URL/large.bin")
        try await curl(recorder.port, "-I", "URL/f.txt")
        try await curl(recorder.port, "-r", "2-4", "URL/f.txt")
        try await curl(recorder.port, "URL/nothing")
        try await curl(recorder.port, "-H", "Expect: 100-continue", "-d", "a=b", "URL/echo")
        let exchanges = await recorder.finish()
        #expect(
            exchanges.map { "\($0.method) \($0.status)" }
                == ["GET 200", "GET 200", "HEAD 200", "GET 206", "GET 404", "POST 200"])
        #expect(exchanges.map(\.number) == Array(1...6))
        #expect(exchanges.last?.response.starts(with: Array("HTTP/1.1 100 ".utf8)) == true)
        for exchange in exchanges {
            let counts = [true, false].map { isRequest in
                exchange.pieces.filter { $0.isRequest == isRequest }.map(\.count).reduce(0, +)
            }
            #expect(counts == [exchange.request.count, exchange.response.count])
        }

        // Written to files, and read again.
        let store = try Folder()
        for exchange in exchanges { try exchange.write(into: store.path) }
        let read = try RecordedExchange.all(in: store.path)
        #expect(read.map(\.request) == exchanges.map(\.request))
        #expect(read.map(\.response) == exchanges.map(\.response))
        #expect(read.map(\.pieces) == exchanges.map(\.pieces))
        #expect(store.bytes("003-HEAD.request") == exchanges[2].request)

        var replay = ExchangeReplay()
        for keepsPieces in [true, false] {
            replay.keepsPieces = keepsPieces
            // The echo contains the peer's port, which is different.
            for exchange in read.dropLast() {
                #expect(try await replay.differences(exchange, port: server.port) == [])
            }
        }
    }

    @Test func aLaterRecordingTakesThePlaceOfAnEarlierOne() throws {
        let store = try Folder()
        for status in [404, 200] {
            let response = Array("HTTP/1.1 \(status) X\r\nContent-Length: 0\r\n\r\n".utf8)
            try RecordedExchange(
                number: 1, method: "GET", status: status,
                request: Array("GET / HTTP/1.1\r\n\r\n".utf8),
                response: response
            ).write(into: store.path)
        }
        #expect(try RecordedExchange.all(in: store.path).map(\.status) == [200])
    }

    @Test func exchangesAreInTheOrderOfTheirNumbers() throws {
        let store = try Folder()
        for number in [1_000, 101, 7] {
            try RecordedExchange(
                number: number, method: "GET", status: 200,
                request: Array("GET / HTTP/1.1\r\n\r\n".utf8),
                response: Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
            ).write(into: store.path)
        }
        // The files may be edited by hand.
        try store.write("> 0 -5\n> 0 3\n", to: "007.timing")
        let exchanges = try RecordedExchange.all(in: store.path)
        #expect(exchanges.map(\.number) == [7, 101, 1_000])
        #expect(exchanges[0].requestPieces.map(\.count) == [3, 15])
    }

    /// A server with a handler, its port, and a recorder in front of it.
    private func recorded(
        _ handler: some Handler
    ) async throws -> (HTTPServer, UInt16, ExchangeRecorder) {
        var configuration = ServerConfiguration()
        configuration.endpoints = [.tcp(host: "127.0.0.1", port: 0)]
        let server = HTTPServer(configuration, handler: handler)
        try await server.start()
        let port = try #require(server.addresses.first?.port)
        return (server, port, try ExchangeRecorder(forwardingTo: port))
    }

    @Test func aResponseThatBreaksOffIsNotTakenForAWholeOne() async throws {
        struct Broken: Error {}
        let handler = SyncHandler { _ in
            .stream { writer in
                try await writer.write("abc")
                throw Broken()
            }
        }
        let (server, port, recorder) = try await recorded(handler)
        for port in [port, recorder.port] {
            let result = try await Program.run(
                "curl",
                ["-sS", "-m", "60", "--http1.0", "-o", "/dev/null", "http://127.0.0.1:\(port)/"])
            #expect(result.status == 56, "curl did not report the read error: \(result.complaints)")
        }
        #expect(await recorder.finish().isEmpty)
        let recorded = RecordedExchange(
            number: 1, method: "GET", status: 200,
            request: Array("GET / HTTP/1.0\r\n\r\n".utf8),
            response: Array("HTTP/1.0 200 OK\r\n\r\nabc".utf8))
        let found = try await ExchangeReplay().differences(recorded, port: port)
        #expect(found.contains("the response is not whole"))
        await server.shutdown()
    }

    /// A response without a length ends with the connection, so the server must end it.
    @Test(arguments: [false, true])
    func aResponseThatItsClientEndsIsNotTakenForAWholeOne(isClients: Bool) async throws {
        let gate = ServerGate()
        let handler = SyncHandler { _ in
            .stream { writer in
                try await writer.write("abc")
                while isClients { try await writer.write([UInt8](repeating: 0, count: 1 << 16)) }
                await gate.wait()
            }
        }
        let (server, _, recorder) = try await recorded(handler)
        var client: PlainSocket? = try PlainSocket(port: recorder.port)
        try await client?.send("GET / HTTP/1.0\r\n\r\n")
        _ = try await client?.receive(through: "abc")
        // Its deinit closes the socket.
        if isClients { client = nil }
        #expect(await recorder.finish().isEmpty)
        gate.open()
        await server.shutdown()
    }

    @Test func aDifferentAnswerIsTold() async throws {
        let folder = try folder()
        let server = try await ServeProcess(folder)
        let recorder = try ExchangeRecorder(forwardingTo: server.port)
        try await curl(recorder.port, "URL/f.txt")
        try await curl(recorder.port, "URL/large.bin")
        let exchanges = await recorder.finish()
        try folder.write("contend\n!", to: "f.txt")
        try #require(exchanges.count == 2)
        let replay = ExchangeReplay()
        #expect(
            try await replay.differences(exchanges[0], port: server.port)
                == ["content of 8 became one of 9 bytes, different from byte 6 on"])
        try FileManager.default.removeItem(at: folder.file("large.bin"))
        let missing = try await replay.differences(exchanges[1], port: server.port)
        #expect(missing.first == "status 200 became 404")
        #expect(missing.contains { $0.hasPrefix("accept-ranges: [\"bytes\"] became [\"-\"]") })
    }

    @Test func whatIsNoWholeExchangeIsLeftOut() async throws {
        let server = try await ServeProcess(folder())
        let recorder = try ExchangeRecorder(forwardingTo: server.port)
        let whole = try PlainSocket(port: recorder.port)
        try await whole.send("GET /f.txt HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _ = try await whole.response()
        let half = try PlainSocket(port: recorder.port)
        try await half.send("GET /f.txt HTTP/1.1\r\nHo")
        let garbage = try PlainSocket(port: recorder.port)
        try await garbage.send("\u{16}\u{3}\u{1}\r\n\r\n")
        _ = try await garbage.receiveAll()
        let exchanges = await recorder.finish()
        #expect(exchanges.map(\.status) == [200])
    }
}
