import HTTPParser
import HTTPServerKit
import TestSupport
import Testing

@testable import HTTPServerCore

@Suite("Connections above the limit", .fewAtOnce, .timeLimit(.minutes(3)))
struct OverflowTests {
    private let counters = ServerCounters()

    private func full(
        _ overflow: ConnectionOverflow
    ) async throws -> (local: LocalServer, port: UInt16, first: PlainSocket) {
        let local = LocalServer {
            $0.connectionLimit = 1
            $0.connectionOverflow = overflow
            $0.closesIdleAtLimit = false
            $0.metrics = counters
        }
        let port = try await local.start()
        let first = try PlainSocket(port: port)
        try await first.send(LocalServer.get("/1"))
        #expect(try await first.response().text == "/1")
        return (local, port, first)
    }

    @Test("With .wait, they wait until another connection closes")
    func wait() async throws {
        let (local, port, first) = try await full(.wait)
        let second = try PlainSocket(port: port)
        try await second.send(LocalServer.get("/2"))
        try await first.send("GET /3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        #expect(try await first.response().text == "/3")
        #expect(try await second.response().text == "/2")
        await local.server.shutdown()
    }

    @Test("With .refuse, they are closed")
    func refuse() async throws {
        let (local, port, first) = try await full(.refuse)
        for _ in 0..<100 {
            #expect(try await PlainSocket(port: port).receiveAll().isEmpty)
        }
        #expect(local.server.connectionCount == 1)
        #expect(counters.figures.refusedConnections == 100)
        try await first.send(LocalServer.get("/2"))
        #expect(try await first.response().text == "/2")
        await local.server.shutdown()
    }

    @Test("A connection waits for a slot that another loop holds only while it accepts")
    func slotOfAnotherLoop() async throws {
        let local = LocalServer {
            $0.connectionLimit = 1
            $0.connectionOverflow = .refuse
        }
        let port = try await local.start()
        for _ in 0..<10 {
            // A closed connection is not counted any more before its slot is free.
            try await waitUntil { local.server.core.admitsConnection() }
            let only = try PlainSocket(port: port)
            try await only.send("GET /1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            try await Task.sleep(for: .milliseconds(5))
            local.server.core.releaseSlot()
            #expect(try await only.response().text == "/1")
        }
        await local.server.shutdown()
    }

    @Test("With .unavailable, they get 503 with Retry-After")
    func unavailable() async throws {
        let (local, port, first) = try await full(.unavailable(retryAfter: .seconds(7)))
        for _ in 0..<100 {
            let socket = try PlainSocket(port: port)
            try await socket.send(
                "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nsomething")
            let response = try await socket.response()
            #expect(response.status == 503)
            #expect(response["retry-after"] == "7")
            #expect(response["connection"] == "close")
            #expect(response["date"] != nil)
            #expect(try await socket.receiveAll().isEmpty)
        }
        #expect(local.server.connectionCount == 1)
        try await first.send("GET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        #expect(try await first.response().text == "/2")
        #expect(try await first.receiveAll().isEmpty)
        // The server counts the connection slightly longer than its peer sees it.
        try await waitUntil { local.server.connectionCount == 0 }
        #expect(await LocalServer.serves(port))
        await local.server.shutdown()
    }

    @Test("With .unavailable, silent clients and clients that send too much are disconnected")
    func unavailableToStrangers() async throws {
        let (local, port, first) = try await full(.unavailable(retryAfter: .zero))
        let silent = try (0..<100).map { _ in try PlainSocket(port: port) }
        for socket in silent { #expect(try await socket.receiveAll().isEmpty) }
        let loud = try PlainSocket(port: port)
        try? await loud.send([UInt8](repeating: 0x61, count: 4 << 20))
        _ = try? await loud.receiveAll()
        try await first.send(LocalServer.get("/2"))
        #expect(try await first.response().text == "/2")
        await local.server.shutdown()
    }
}
