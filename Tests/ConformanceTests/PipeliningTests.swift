import Testing

@Suite(
    "RFC 9112 section 9.3: persistence and pipelining over plain sockets", .fewAtOnce, .overTLSToo)
struct PipeliningTests {
    private static let get = "GET /f.txt HTTP/1.1\r\nHost: localhost\r\n\r\n"
    private static let close = "GET /f.txt HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

    private func folder() throws -> Folder {
        let folder = try Folder()
        try folder.write("content\n", to: "f.txt")
        return folder
    }

    /// The responses are of files, and of handlers in tasks.
    @Test(arguments: ["/NUMBER.txt", "/echo?NUMBER.txt"])
    func aThousandRequestsInOneWriteAreAnsweredInOrder(_ path: String) async throws {
        let folder = try Folder()
        for number in 0..<1_000 { try folder.write("<\(number).txt>", to: "\(number).txt") }
        let server = try await ServeProcess(folder, ["--echo", "/echo"])
        let socket = try server.connect()
        let requests = (0..<1_000).map { number in
            let target = path.replacing("NUMBER", with: "\(number)")
            return "GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n"
        }
        try await socket.send(requests.joined())
        for number in 0..<1_000 {
            let response = try await socket.response()
            let isRight =
                response.text.contains("<\(number).txt>")
                || response.text.contains("\"target\":\"/echo?\(number).txt\"")
            #expect(response.status == 200 && isRight, "response \(number)")
            if !isRight { break }
        }
    }

    /// Consecutive responses that are larger than any buffer, and read late.
    @Test func largeAnswersToPipelinedRequestsAreWhole() async throws {
        let folder = try Folder()
        let content = [UInt8].noise(700_000, seed: 1)
        try folder.write(content, to: "large.bin")
        let server = try await ServeProcess(folder)
        let socket = try server.connect()
        let request = "GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n"
        try await socket.send(String(repeating: request, count: 20))
        for _ in 0..<20 { #expect(try await socket.response().content == content) }
    }

    @Test func aRequestMayComeByteByByte() async throws {
        let server = try await ServeProcess(try folder(), ["--echo", "/echo"])
        let socket = try server.connect()
        let request = """
            PUT /echo?x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n\
            5;a=b\r\nhello\r\n7\r\n, world\r\n0\r\nSum: 12\r\n\r\n
            """
        for byte in request.utf8 { try await socket.send([byte]) }
        let echo = try Echo(try await socket.response().content)
        #expect(String(decoding: echo.content, as: UTF8.self) == "hello, world")
        #expect(echo.method == "PUT" && echo.trailers == [["Sum", "12"]])
        try await socket.send(Self.get)
        #expect(try await socket.response().text == "content\n")
    }

    @Test func contentInSmallPiecesArrives() async throws {
        let server = try await ServeProcess(try folder(), ["--echo", "/echo"])
        for count in [1, 100, 5_000, 20_000, 70_000] {
            let socket = try server.connect()
            try await socket.send(
                "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(count)\r\n\r\n")
            let content = [UInt8].noise(count, seed: 5)
            try await socket.send(Array(content[..<(count / 3)]))
            try await socket.send(Array(content[(count / 3)...]))
            #expect(try Echo(try await socket.response().content).content.elementsEqual(content))
        }
    }

    @Test func aConnectionIsReusedUntilItIsToBeClosed() async throws {
        let server = try await ServeProcess(try folder())
        let socket = try server.connect()
        for _ in 0..<3 {
            try await socket.send(Self.get)
            let response = try await socket.response()
            #expect(response.text == "content\n" && response["connection"] == nil)
        }
        try await socket.send(Self.close)
        let last = try await socket.response()
        #expect(last.text == "content\n" && last["connection"]?.lowercased() == "close")
        #expect(try await socket.receiveAll().isEmpty)
    }

    @Test func anOldClientGetsOneAnswerUnlessItAsksForMore() async throws {
        let server = try await ServeProcess(try folder())
        let single = try server.connect()
        try await single.send("GET /f.txt HTTP/1.0\r\n\r\n")
        #expect(
            String(decoding: try await single.receiveAll(), as: UTF8.self).hasSuffix("content\n"))

        let several = try server.connect()
        for _ in 0..<2 {
            try await several.send("GET /f.txt HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            let response = try await several.response()
            #expect(response.text == "content\n")
            #expect(response["connection"]?.lowercased() == "keep-alive")
        }
    }

    /// Content that the server did not read before its response is never parsed as a request.
    @Test func contentOfARefusedRequestIsNoRequest() async throws {
        let server = try await ServeProcess(try folder())
        let socket = try server.connect()
        let inner = "GET /inner HTTP/1.1\r\nHost: localhost\r\n\r\n"
        let length = "Content-Length: \(inner.utf8.count)"
        try await socket.send(
            "POST /f.txt HTTP/1.1\r\nHost: localhost\r\n\(length)\r\n\r\n\(inner)\(Self.close)")
        #expect(try await socket.response().status == 405)
        #expect(try await socket.response().text == "content\n")
        #expect(try await socket.receiveAll().isEmpty)
    }
}
