import Foundation
import HTTPParser
import HTTPServerAuthentication
import HTTPServerCore
import HTTPServerKit
import HTTPServerWebSocket
import TestSupport
import Testing
import WebSocketFrames

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

    @Test(
        "Lines of input are sent, messages are printed as lines, the end of input closes with 1000")
    func lines() async throws {
        let server = try await BinProcess()
        let url = webSocket(server) + "/websocket/echo"
        let result = try await fetch(url, input: "one\r\n\nGrüße\nlast")
        #expect(result.text == "one\n\nGrüße\nlast\n")
        #expect(result.complaints == "httpkit: closed with 1000\n")
        #expect(result.status == 0)
        let silent = try await fetch(url, ["-s"], input: "x\n")
        #expect(silent.text == "x\n" && silent.complaints.isEmpty && silent.status == 0)
        let target = String(server.base.dropFirst("http://".count))
        let other = try await fetch(
            "ws://elsewhere.test/websocket/echo", ["--connect-to", target, "-i"], input: "x\n")
        #expect(other.text.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
        #expect(other.text.hasSuffix("\r\n\r\nx\n"))
        #expect(other.status == 0)
    }

    /// A server that responds to each message with four.
    private static func server() async throws -> HTTPServer {
        var router = Router()
        router.get("/") { request in
            try request.webSocket(origins: .any) { socket in
                for try await _ in socket {
                    for text in ["two\nlines", "two", "l\u{EF}nes"] {
                        try await socket.send(.text(text))
                    }
                    try await socket.send(.binary([0, 10, 255]))
                }
            }
        }
        let server = HTTPServer(ServerConfiguration(host: "127.0.0.1", port: 0), handler: router)
        try await server.start()
        return server
    }

    @Test(
        "--json-messages distinguishes line breaks in a message from its end, and bytes from text")
    func json() async throws {
        let server = try await Self.server()
        let url = "ws://127.0.0.1:\(try #require(server.addresses.first?.port))/"
        let asIs = try await fetch(url, input: "go\n")
        #expect(asIs.output == Array("two\nlines\ntwo\nl\u{EF}nes\n\0\n".utf8) + [255, 10])
        let json = try await fetch(url, ["--json-messages"], input: "go\n")
        #expect(
            json.text == #"""
                {"text":"two\nlines"}
                {"text":"two"}
                {"text":"l\u00efnes"}
                {"base64":"AAr/"}

                """#)
        #expect(json.status == 0)
        await server.shutdown(grace: .zero)
    }

    @Test("-u and -b apply to WebSockets, and the message of a refusal contains no password")
    func login() async throws {
        let accounts = MemoryAccountStore(realm: "test")
        try accounts.add("ann", password: "correct horse")
        var router = Router()
        router.get("/") { request in
            let cookie = request.fields[.cookie] ?? ""
            return try request.webSocket(origins: .any) { socket in
                for try await _ in socket { try await socket.send(.text(cookie)) }
            }
        }
        let server = HTTPServer(
            ServerConfiguration(host: "127.0.0.1", port: 0),
            handler: AuthenticationHandler(router, by: Authenticator(accounts: accounts)))
        try await server.start()
        let place = "127.0.0.1:\(try #require(server.addresses.first?.port))/"
        let talk = try await fetch(
            "ws://\(place)", ["-u", "ann:correct horse", "-b", "a=b"], input: "go\n")
        #expect(talk.text == "a=b\n" && talk.status == 0, "\(talk.complaints)")
        let refused = try await fetch("ws://ann:wrong@\(place)", input: "go\n")
        #expect(refused.status == 22)
        #expect(refused.complaints.contains("401") && refused.complaints.contains(place))
        #expect(!refused.complaints.contains("wrong") && !refused.complaints.contains("preparing"))
        await server.shutdown(grace: .zero)
    }

    @Test("Refused handshakes, connections and flags end with the exit statuses of fetch")
    func refusals() async throws {
        let server = try await BinProcess()
        let refused = try await fetch(webSocket(server) + "/get")
        #expect(refused.status == 22)
        #expect(refused.complaints.contains("200"))
        #expect(try await fetch("ws://127.0.0.1:1/").status == 7)
        #expect(try await fetch(webSocket(server) + "/websocket/echo", ["-d", "x"]).status == 64)
        #expect(try await fetch(webSocket(server) + "/websocket/echo", ["-O"]).status == 64)
        #expect(try await fetch(server.base + "/get", ["--json-messages"]).status == 64)
    }
}
