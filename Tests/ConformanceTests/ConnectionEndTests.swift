import Foundation
import TestSupport
import Testing

@Suite("RFC 9112 section 9.6: how connections end, over plain sockets", .fewAtOnce, .overTLSToo)
struct ConnectionEndTests {
    private static let large = [UInt8].noise(8 << 20, seed: 8)

    private func server() async throws -> ServeProcess {
        let folder = try Folder()
        try folder.write("content\n", to: "f.txt")
        try folder.write(Self.large, to: "large.bin")
        return try await ServeProcess(folder, ["--echo", "/echo"])
    }

    /// Requests before the end of the client's stream get responses, then the server closes.
    @Test(arguments: ["/f.txt", "/", "/large.bin", "/echo"], [1, 3])
    func requestsBeforeAHalfCloseAreAnswered(_ path: String, _ count: Int) async throws {
        let server = try await server()
        let socket = try server.connect()
        let request = "GET \(path) HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n"
        try await socket.send(String(repeating: request, count: count))
        socket.endWriting()
        for _ in 0..<count {
            let response = try await socket.response()
            #expect(response.status == 200)
            if path == "/large.bin" { #expect(response.content == Self.large) }
        }
        #expect(try await socket.receiveAll().isEmpty)
        #expect(server.isRunning)
    }

    @Test func anOldClientMayHalfCloseToo() async throws {
        let server = try await server()
        let socket = try server.connect()
        try await socket.send("GET /large.bin HTTP/1.0\r\n\r\n")
        socket.endWriting()
        #expect(try await socket.response().content == Self.large)
        #expect(try await socket.receiveAll().isEmpty)
        #expect(server.isRunning)
    }

    @Test(arguments: [
        "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhello",
        "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
        "GET /f.txt HTTP/1.1\r\nHost: localhost\r\n", "GET /f.txt HT",
    ])
    func aRequestThatEndsEarlyIsNotAnsweredAsAWholeOne(_ request: String) async throws {
        let server = try await server()
        let socket = try server.connect()
        try await socket.send(request)
        socket.endWriting()
        let answer = String(decoding: try await socket.receiveAll(), as: UTF8.self)
        #expect(!answer.contains(" 200 "))
        #expect(server.isRunning)
    }

    /// A client may disconnect at any of these points, and the server continues.
    @Test(arguments: [
        "", "GET /large.bin HTT", "GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\n\r\nGET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\nab",
        "POST /f.txt HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\nab",
    ])
    func aResetHurtsNobodyElse(_ request: String) async throws {
        let server = try await server()
        for round in 0..<40 {
            let socket = try server.connect()
            socket.resetOnClose()
            if !request.isEmpty { try await socket.send(request) }
            if round % 2 == 0, request.hasSuffix("\r\n\r\n") { _ = try await socket.receive() }
        }
        #expect(try await server.get("/large.bin").content == Self.large)
        #expect(server.isRunning)
    }

    /// Bytes that no HTTP client sends.
    private static let garbage: [[UInt8]] = [
        // The first bytes of TLS.
        [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC, 0x03, 0x03] + .noise(500, seed: 2),
        .noise(300, seed: 11), .noise(4_000, seed: 12), .noise(70_000, seed: 13),
        Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8), Array("HELO example.org\r\n".utf8),
        [UInt8](repeating: 0, count: 100), Array("GET  / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8),
        Array("GET / HTTP/1.1\r\n\r\n".utf8), Array("GET / HTTP/1.1\nHost: localhost\n\n".utf8),
    ]

    @Test(arguments: garbage.indices)
    func garbageIsRefusedOnceAndTheConnectionClosed(_ index: Int) async throws {
        let server = try await server()
        let socket = try server.connect()
        // The valid request after the garbage must not get a response.
        let request = "GET /f.txt HTTP/1.1\r\nHost: localhost\r\n\r\n"
        try? await socket.send(Self.garbage[index] + Array(request.utf8))
        let answer = String(decoding: try await socket.receiveAll(), as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 400 ") || answer.hasPrefix("HTTP/1.1 505 "))
        #expect(answer.lowercased().contains("\r\nconnection: close\r\n"))
        #expect(answer.components(separatedBy: "HTTP/1.1 ").count == 2)
        #expect(try await server.get("/f.txt").text == "content\n")
    }
}
