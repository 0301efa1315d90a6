import Foundation
import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("Requests in one line", .timeLimit(.minutes(2)))
struct ConvenienceTests {
    private struct Note: Codable, Equatable { var text: String }

    private func session(
        _ answer: @escaping @Sendable (ClientRequest) async throws -> CollectedResponse
    ) -> ClientSession {
        var configuration = ClientConfiguration.ephemeral
        configuration.transport = ClientTransport(answer)
        return ClientSession(configuration)
    }

    @Test("Methods, query items and content arrive")
    func methods() async throws {
        let bin = try await BinServer()
        let query: KeyValuePairs = ["q": "a b&c", "ä": "ö=+"]
        let got = try await bin.session.get(bin.url("/get?x=1"), query: query)
        let echo = try got.requireSuccess().json(BinServer.Echo.self)
        #expect(echo.args == ["x": "1", "q": "a b&c", "ä": "ö=+"])
        #expect(got.url.absoluteString.hasSuffix("/get?x=1&q=a%20b%26c&%C3%A4=%C3%B6%3D%2B"))
        for (method, answer) in [
            ("POST", try await bin.session.post(bin.url("/post"), body: .text("t"))),
            ("PUT", try await bin.session.put(bin.url("/put"), body: .text("t"))),
            ("DELETE", try await bin.session.delete(bin.url("/delete"))),
        ] {
            let echo = try answer.json(BinServer.Echo.self)
            #expect(answer.status == .ok && echo.data == (method == "DELETE" ? "" : "t"))
        }
    }

    @Test("requireSuccess throws for a status that is not a success")
    func success() async throws {
        let session = session { request in
            CollectedResponse(to: request, .notFound, content: Array("gone".utf8))
        }
        let answer = try await session.get("http://h.test/")
        #expect(answer.status == .notFound && answer.text == "gone")
        let error = #expect(throws: ClientError.self) { try answer.requireSuccess() }
        #expect(error?.kind == .unexpectedStatus && error?.message == "404: gone")
        #expect(throws: ClientError.self) { try answer.head.requireSuccess() }
        // The error has its type also within a closure.
        let kind = { () async -> ClientError.Kind? in
            do throws(ClientError) {
                _ = try await session.get("http://h.test/").requireSuccess().json(Note.self)
                return nil
            } catch {
                return error.kind
            }
        }
        #expect(await kind() == .unexpectedStatus)
    }

    @Test(
        "Text is decoded by its charset",
        arguments: [
            ("text/plain", [0xC3, 0xA4], "ä"),
            ("text/plain; charset=UTF-8", [0xEF, 0xBB, 0xBF, 0x61], "a"),
            ("text/plain; charset=iso-8859-1", [0xE4], "ä"), ("text/plain", [0xE4], "\u{FFFD}"),
        ] as [(String, [UInt8], String)])
    func text(_ type: String, _ content: [UInt8], _ text: String) async throws {
        let session = session {
            CollectedResponse(to: $0, fields: [.contentType: type], content: content)
        }
        #expect(try await session.get("http://h.test/").text == text)
    }

    @Test("Invalid JSON, and JSON of another type, are errors")
    func json() async throws {
        for (content, isGood) in [(#"{"text":"t"}"#, true), ("{", false), ("{}", false)] {
            let session = session { CollectedResponse(to: $0, content: Array(content.utf8)) }
            let answer = try await session.get("http://h.test/")
            do throws(ClientError) {
                #expect(try answer.json(Note.self) == Note(text: "t") && isGood)
            } catch {
                #expect(error.kind == .unexpectedContent && !isGood)
            }
        }
    }

    @Test(
        "A call with an invalid or unsupported URL fails",
        arguments: ["", "not a url", "http://", "ftp://h/"])
    func wrongURL(_ url: String) async throws {
        let session = session { CollectedResponse(to: $0) }
        let error = await failure { try await session.get(url, query: ["a": "b"]) }
        #expect(error?.kind == .badURL || error?.kind == .unsupportedURL)
        #expect(ClientRequest(.get, url).fault?.kind == error?.kind)
        #expect(ClientRequest(.get, "http://h.test/").fault == nil)
    }

    @Test("A request can authorize by Basic and by Bearer")
    func authorization() async throws {
        let session = session { request in
            CollectedResponse(
                to: request, content: Array((request.fields[.authorization] ?? "").utf8))
        }
        var request = ClientRequest(.get, "http://h.test/")
        try request.authorize(user: "ada", password: "p")
        #expect(try await session.send(request).text == "Basic YWRhOnA=")
        try request.authorize(bearer: "abc.def")
        #expect(try await session.send(request).text == "Bearer abc.def")
        #expect(try await session.get("http://h.test/").text == "")
        #expect(throws: ClientError.self) { try request.authorize(user: "a:b", password: "") }
        #expect(throws: ClientError.self) { try request.authorize(bearer: "a b") }
    }

    @Test("In process: The session handles redirects, cookies, credentials and the cache")
    func transport() async throws {
        let seen = Locked([String]())
        let session = session { request in
            let path = request.url.path
            seen.withLock { $0.append("\(request.method) \(path)") }
            switch path {
            case "/a":
                return CollectedResponse(
                    to: request, .seeOther,
                    fields: [.location: "/b", .setCookie: "c=1"], content: [1, 2, 3])
            case "/b" where request.fields[.authorization] == nil:
                return CollectedResponse(
                    to: request, .unauthorized, fields: [.wwwAuthenticate: "Basic realm=r"])
            case "/b":
                return CollectedResponse(
                    to: request, fields: [.cacheControl: "max-age=100"],
                    content: Array((request.fields[.cookie] ?? "").utf8))
            default: throw ClientError(.connectionLost, "no such path")
            }
        }
        session.configuration.authentication.credentials.set(
            .password(user: "u", password: "p"), for: Origin(scheme: "http", host: "h.test"))
        let body = ClientBody.text("content")
        let first = try await session.post("http://h.test/a", body: body)
        #expect(first.text == "c=1" && first.url.path == "/b")
        let again = try await session.get("http://h.test/b")
        #expect(again.text == "c=1" && again.head.isFromCache)
        #expect(seen.withLock { $0 } == ["POST /a", "GET /b", "GET /b"])
        let error = await failure { try await session.post("http://h.test/c", body: body) }
        #expect(error?.kind == .connectionLost)
        #expect(try await body.collect(upTo: 7) == Array("content".utf8))
        #expect(await failure { try await body.collect(upTo: 6) }?.kind == .contentTooLong)
    }

    @Test("In process: Downloads, streams, delegates and the total time limit work")
    func transportTasks() async throws {
        let content = TestServer.pattern(300_000)
        let session = session { request in
            if request.url.path == "/never" { try await Task.sleep(for: .seconds(600)) }
            return CollectedResponse(to: request, content: content)
        }
        let folder = try ServerDirectory()
        let request = ClientRequest(.get, "http://h.test/")
        try await session.download(for: request, to: folder.path("f"))
        #expect(Files.read(folder.path("f")) == content)
        let (stream, _) = try await session.bytes(for: request)
        #expect(try await stream.collect(upTo: 300_000) == content)
        let delegate = Recorder()
        try await session.dataTask(for: request, delegate: delegate).finished()
        await delegate.wait { $0.last == "complete" }
        #expect(delegate.order == ["response 200", "content", "metrics", "complete"])
        var never = ClientRequest(.get, "http://h.test/never")
        never.timeouts = ClientTimeouts(total: .milliseconds(100))
        let sent = never
        #expect(await failure { try await session.data(for: sent) }?.kind == .timedOut(.total))
    }
}

@Suite("Content as lines, events and files", .timeLimit(.minutes(2)))
struct ContentShapeTests {
    private func content(_ pieces: [String], end: Bool = true) async throws -> (
        ClientContent, ScriptedPeer
    ) {
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for piece in pieces where !piece.isEmpty {
                connection.send("\(String(piece.utf8.count, radix: 16))\r\n\(piece)\r\n")
                Pause.milliseconds(2)
            }
            if end { connection.send("0\r\n\r\n") }
        }
        let session = ClientSession(.ephemeral)
        return (try await session.bytes(for: ClientRequest(.get, peer.url())).0, peer)
    }

    private static let text = "a\r\n\nbä\rc\n\r\nlast"

    @Test(
        "Lines are found with any line end, wherever the content is split",
        arguments: [1, 2, 3, 100])
    func lines(_ size: Int) async throws {
        let bytes = Array(Self.text.utf8)
        let pieces = stride(from: 0, to: bytes.count, by: size).map {
            bytes[$0..<min($0 + size, bytes.count)]
        }
        var reader = ClientLineList()
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(bytes.count)\r\n\r\n")
            for piece in pieces {
                connection.send(Array(piece))
                Pause.milliseconds(2)
            }
        }
        let session = ClientSession(.ephemeral)
        let (content, _) = try await session.bytes(for: ClientRequest(.get, peer.url()))
        for try await line in content.lines { reader.all.append(line) }
        #expect(reader.all == ["a", "", "bä", "c", "", "last"])
    }

    private struct ClientLineList { var all: [String] = [] }

    @Test(
        "A line that is too long is an error, with or without its end",
        arguments: ["12345\n", "12345"])
    func longLine(_ line: String) async throws {
        let (content, _) = try await content(["1234\n", line])
        var lines: [String] = []
        do throws(ClientError) {
            for try await line in content.lines(upTo: 4) { lines.append(line) }
            Issue.record("no error")
        } catch {
            #expect(error.kind == .contentTooLong)
        }
        #expect(lines == ["1234"])
    }

    @Test("Server-sent events are parsed")
    func events() async throws {
        let (content, _) = try await content([
            "\u{FEFF}: comment\ndata: one\n", "data:two\n\nevent: add\r\nid: 7\r\ndata\r\n\r", "\n",
            "retry: 1500\nretry: x\nunknown: x\n\nid: a\u{0}b\ndata:  three\n\n", "data: cut off\n",
        ])
        var events: [ClientEvent] = []
        for try await event in content.events { events.append(event) }
        #expect(events.map(\.data) == ["one\ntwo", "", " three"])
        #expect(events.map(\.type) == ["message", "add", "message"])
        #expect(events.map(\.id) == ["", "7", "7"])
        #expect(events.map(\.retry) == [nil, nil, .milliseconds(1500)])
    }

    @Test("An event without an end is an error above the limit")
    func longEvent() async throws {
        let line = "data: " + String(repeating: "x", count: 90) + "\n"
        let (content, _) = try await content(Array(repeating: line, count: 30))
        let error = await failure {
            for try await _ in content.events(upTo: 1_000) {}
        }
        #expect(error?.kind == .contentTooLong)
    }

    @Test("Streamed content can be saved; truncated content does not replace the file")
    func save() async throws {
        let folder = try ServerDirectory()
        let (whole, _) = try await content(["one", "two"])
        #expect(try await whole.save(to: folder.path("f")) == 6)
        #expect(Files.read(folder.path("f")) == Array("onetwo".utf8))
        let (cut, _) = try await content(["three"], end: false)
        let error = await failure { try await cut.save(to: folder.path("f")) }
        #expect(error?.kind == .truncated)
        #expect(Files.read(folder.path("f")) == Array("onetwo".utf8))
        #expect(Files.names(folder.path) == ["f"])
        let (other, _) = try await content(["x"])
        let refused = await failure { try await other.save(to: folder.path("no/f")) }
        #expect(refused?.kind == .cannotWriteFile)
    }
}
