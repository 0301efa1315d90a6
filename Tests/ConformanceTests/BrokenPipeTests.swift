import Foundation
import HTTPServerCore
import HTTPServerKit
import Testing

@Suite("Clients that disconnect: no signal ends the process", .fewAtOnce)
struct BrokenPipeTests {
    /// Here the server runs inside the test process. It has the default action of SIGPIPE, so a
    /// library that raises the signal ends all tests.
    @Test func resetsAndHalfReadAnswersRaiseNoSignal() async throws {
        let folder = try Folder()
        try folder.write(.noise(8 << 20, seed: 8), to: "large.bin")
        let server = HTTPServer(
            ServerConfiguration(host: "127.0.0.1", port: 0),
            handler: FileHandler(root: folder.path))
        try await server.start()
        let port = try #require(server.addresses.first?.port)
        try await vanish { try PlainSocket(port: port) }
        await server.shutdown()
    }

    /// `httpkit serve` calls `HTTPServer.ignoreBrokenPipes()`, and can send files without blocking
    /// the signal.
    @Test func whereTheSignalIsIgnoredNoneEndsTheServer() async throws {
        let folder = try Folder()
        try folder.write(.noise(8 << 20, seed: 8), to: "large.bin")
        let server = try await ServeProcess(folder)
        try await vanish { try server.connect() }
        #expect(server.isRunning)
        #if os(Linux)
            // The signal has a handler, so that child processes have its default action.
            let status = try String(contentsOfFile: "/proc/\(server.pid)/status", encoding: .utf8)
            #expect(Self.signals("SigCgt", in: status) & 1 << (UInt64(SIGPIPE) - 1) != 0)
            #expect(Self.signals("SigIgn", in: status) & 1 << (UInt64(SIGPIPE) - 1) == 0)
        #endif
    }

    /// A set of signals in the status of a process in /proc.
    private static func signals(_ name: String, in status: String) -> UInt64 {
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line.flatMap { UInt64($0.dropFirst(name.count + 2), radix: 16) } ?? 0
    }

    /// Connects 200 clients that disconnect during a response, and one that reads its response.
    private func vanish(_ connect: () throws -> PlainSocket) async throws {
        for round in 0..<200 {
            let socket = try connect()
            if round % 2 == 0 { socket.resetOnClose() }
            try await socket.send("GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n")
            if round % 3 == 0 { _ = try await socket.receive() }
        }
        let last = try connect()
        try await last.send("HEAD /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(try await last.receive(through: "\r\n\r\n").contains(" 200 "))
    }
}
