import Foundation
import TestSupport
import Testing

@Suite("httpkit fetch: WebSockets", .fewAtOnce, .timeLimit(.minutes(3)))
struct FetchWebSocketTests {
    private func fetch(
        _ url: String, _ flags: [String] = [], input: String = ""
    ) async throws -> Program.Result {
        try await Program.run(Program.httpkit, ["fetch", url] + flags, input: Array(input.utf8))
    }

    private func webSocket(_ server: BinProcess) -> String {
        server.base.replacingOccurrences(of: "http:", with: "ws:")
    }

    @Test("Lines of input are messages, messages are lines, the end of the input closes with 1000")
    func lines() async throws {
        let server = try await BinProcess()
        let url = webSocket(server) + "/websocket/echo"
        let result = try await fetch(url, input: "one\r\n\nGrüße\nlast")
        #expect(result.text == "one\n\nGrüße\nlast\n")
        #expect(result.complaints == "httpkit: closed with 1000\n")
        #expect(result.status == 0)
        let target = String(server.base.dropFirst("http://".count))
        let other = try await fetch(
            "ws://elsewhere.test/websocket/echo", ["--connect-to", target, "-i"], input: "x\n")
        #expect(other.text.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
        #expect(other.text.hasSuffix("\r\n\r\nx\n"))
        #expect(other.status == 0)
    }

    @Test("What is no WebSocket ends with the status of fetch")
    func refusals() async throws {
        let server = try await BinProcess()
        let refused = try await fetch(webSocket(server) + "/get")
        #expect(refused.status == 22)
        #expect(refused.complaints.contains("200"))
        #expect(try await fetch("ws://127.0.0.1:1/").status == 7)
        #expect(try await fetch(webSocket(server) + "/websocket/echo", ["-d", "x"]).status == 64)
    }
}
