import TestSupport
import Testing
import ToolkitSystem

@testable import HTTPServerTLS

@Suite("HTTP without TLS on a port for TLS")
struct PlainRequestAnswerTests {
    private func answer(_ text: String, redirects: Bool = true) -> String? {
        let bytes = PlainRequestAnswer(redirects: redirects).answer(to: Array(text.utf8))
        return bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    private func request(_ method: String, _ target: String = "/a?b", host: String = "a:8443")
        -> String
    {
        "\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\n\r\n"
    }

    @Test("GET and HEAD are redirected to the same host, port and target")
    func redirect() throws {
        for method in ["GET", "HEAD"] {
            let text = try #require(answer(request(method)))
            #expect(text.hasPrefix("HTTP/1.1 308 "))
            #expect(text.contains("\r\nLocation: https://a:8443/a?b\r\n"))
            #expect(text.contains("\r\nConnection: close\r\n"))
            #expect(text.hasSuffix(method == "HEAD" ? "\r\n\r\n" : "\n"))
        }
    }

    @Test(
        "Other methods are refused, because their content arrived in clear text",
        arguments: ["POST", "PUT", "DELETE", "OPTIONS", "PROPFIND", "PATCH", "UNKNOWN"])
    func methods(_ method: String) {
        #expect(answer(request(method))?.hasPrefix("HTTP/1.1 400 ") == true)
    }

    @Test("Without redirects every method is refused", arguments: ["GET", "HEAD", "POST"])
    func refusal(_ method: String) {
        let text = answer(request(method), redirects: false)
        #expect(text?.hasPrefix("HTTP/1.1 400 ") == true)
        // RFC 9110 section 9.3.2: a response to HEAD has no content.
        #expect(text?.contains("use an https URL") == (method != "HEAD"))
        #expect(text?.hasSuffix("\r\n\r\n") == (method == "HEAD"))
    }

    @Test(
        "A request without a valid host and path is refused",
        arguments: [
            "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", "GET / HTTP/1.0\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost:\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "GET / HTTP/9.9\r\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", "GET /\r\n\r\n", "NONSENSE\r\n\r\n",
        ])
    func malformed(_ text: String) {
        #expect(answer(text)?.hasPrefix("HTTP/1.1 400 ") == true)
    }

    @Test("There is no response before the head is complete, and later bytes do not change it")
    func splits() throws {
        let text = request("GET")
        for count in 1..<text.utf8.count {
            let part = String(decoding: text.utf8.prefix(count), as: UTF8.self)
            #expect(answer(part) == nil, "\(count)")
        }
        #expect(answer(text + "more") == answer(text))
    }

    @Test(
        "Bytes that are not HTTP get no response",
        arguments: ["\u{0}", "get / ", " GET", "\r\n", "1", ""])
    func garbage(_ text: String) {
        #expect(answer(text) == "")
    }

    @Test("A head of more than 8 KiB is refused, whole or in pieces")
    func limit() throws {
        let empty = request("GET", "/").utf8.count
        for (extra, isRedirected) in [(-1, true), (0, true), (1, false), (60_000, false)] {
            let count = PlainRequestAnswer.byteLimit - empty + extra
            let text = request("GET", "/" + String(repeating: "x", count: count))
            let status = isRedirected ? "HTTP/1.1 308 " : "HTTP/1.1 400 "
            #expect(answer(text)?.hasPrefix(status) == true, "\(extra)")
        }
        let open = "GET /" + String(repeating: "x", count: PlainRequestAnswer.byteLimit - 5)
        #expect(answer(open) == nil)
        #expect(answer(open + "x")?.hasPrefix("HTTP/1.1 400 ") == true)
    }

    @Test(
        "The transport responds and shuts down, and passes no bytes to its connection",
        arguments: [1, 1_000])
    func transport(_ piece: Int) throws {
        let pair = TLSPair(try .test { $0.plainRequests = .redirect })
        var rest = Array(request("GET").utf8)[...]
        while !rest.isEmpty {
            pair.socket.inbox.append(Array(rest.prefix(piece)))
            rest = rest.dropFirst(piece)
            let (result, bytes) = pair.receive()
            #expect(bytes.isEmpty)
            #expect(result == .wouldBlock)
            pair.owner.turn()
        }
        #expect(ServerAnswer.all(pair.socket.sent).map(\.status) == [308])
        #expect(pair.socket.isShutDown)
        #expect(pair.owner.failures == ["HTTP without TLS"])
        #expect(pair.owner.facts.security == nil)
        #expect(pair.send([1]) != .done(1))
        pair.socket.hasEnded = true
        #expect(pair.receive().result == .done(0))
        pair.transport.close()
        #expect(pair.socket.isClosed)
    }

    @Test(
        "Content after the response is dropped up to 64 KiB, and not read beyond",
        arguments: [(65_535, true), (65_536, true), (65_537, false)])
    func content(_ count: Int, _ isRead: Bool) throws {
        let pair = TLSPair(try .test())
        pair.socket.inbox.append(Array(request("POST").utf8))
        #expect(pair.receive().result == .wouldBlock)
        for piece in [1, count - 1] {
            pair.socket.inbox.append([UInt8](repeating: 0x41, count: piece))
            while !pair.socket.inbox.isEmpty { #expect(pair.receive().result == .wouldBlock) }
        }
        #expect(pair.socket.interest.contains(.read) == isRead)
        #expect(ServerAnswer.all(pair.socket.sent).map(\.status) == [400])
        #expect(pair.owner.failures == ["HTTP without TLS"])
    }

    @Test("A client that sends its content after the response can send it, and reads the response")
    func contentBehindAnswer() async throws {
        let script = """
            import select, socket, sys
            client = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=60)
            client.sendall(b"POST / HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 60000\\r\\n\\r\\n")
            select.select([client], [], [])
            for _ in range(6): client.sendall(b"x" * 10000)
            answer = client.recv(4096, socket.MSG_WAITALL)
            print(answer.decode().split("\\r\\n")[0])
            """
        try await SecureServer.run(try SecureServer.context()) { port, _ in
            let result = try await Program.run("python3", ["-c", script, "\(port)"])
            #expect(result.text == "HTTP/1.1 400 Bad Request\n", "\(result.complaints)")
        }
    }

    @Test("curl sends large content in clear text, and reads the response")
    func largeContent() async throws {
        try await SecureServer.run(try SecureServer.context()) { port, folder in
            try folder.write("data", [UInt8](repeating: 0x41, count: 16 << 20))
            let result = try await Program.run(
                "curl",
                [
                    "-sS", "-m", "60", "-H", "Expect:", "-w", "%{http_code}", "--data-binary",
                    "@\(folder.path("data"))", "http://127.0.0.1:\(port)/",
                ])
            #expect(result.status == 0, "\(result.complaints)")
            #expect(result.text == "This port speaks TLS; use an https URL.\n400")
        }
    }
}
