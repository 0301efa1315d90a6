import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

@Suite("Content pulled from closures and sequences")
struct PulledContentTests {
    private struct Broken: Error {}

    private static func answer(_ body: ResponseBody) async throws -> ServerAnswer {
        try await RouterTests.answer(
            SyncHandler { _ in Response(body: body) }, RouterTests.request("GET", "/"))
    }

    private static let words = ["<p>\n", "", "Hello\n", "</p>\n"]

    @Test(
        "An async closure is called until it returns nil; an empty piece does not end the content")
    func pulled() async throws {
        let body = ResponseBody.pulled(from: Self.words, mediaType: "text/html") { words in
            await Task.yield()
            return words.isEmpty ? nil : Array(words.removeFirst().utf8)
        }
        for _ in 0..<2 {
            let answer = try await Self.answer(body)
            #expect(answer.text == "<p>\nHello\n</p>\n")
            #expect(answer["Content-Type"] == "text/html")
            #expect(answer["Transfer-Encoding"] == "chunked")
        }
    }

    @Test("Pulled content of known length is not chunked")
    func pulledWithLength() async throws {
        let body = ResponseBody.pulled(from: 3, length: 6) { left in
            guard left > 0 else { return nil }
            left -= 1
            return Array("\(left)\n".utf8)
        }
        let answer = try await Self.answer(body)
        #expect(answer.text == "2\n1\n0\n")
        #expect(answer["Content-Length"] == "6")
    }

    @Test("A blocking closure runs outside of the event loop")
    func pulledBlocking() async throws {
        let loops = ServerLog<EventLoop>()
        let body = ResponseBody.pulledBlocking(from: 2) { left in
            guard left > 0 else { return nil }
            left -= 1
            return Array("\(loops.entries.first?.isCurrent ?? true) ".utf8)
        }
        let client = MemoryConnection(SyncHandler { _ in Response(body: body) })
        loops.add(client.loop)
        client.send(RouterTests.request("GET", "/"))
        client.end()
        let record = try await client.closed()
        #expect(ServerAnswer.all(record.output).first?.text == "false false ")
    }

    @Test(
        "A closure that fails after its first piece closes the connection",
        arguments: [true, false])
    func failure(isBlocking: Bool) async throws {
        let body =
            isBlocking
            ? ResponseBody.pulledBlocking(from: 0) { count in
                count += 1
                if count > 1 { throw Broken() }
                return Array("first".utf8)
            }
            : .pulled(from: 0) { count in
                count += 1
                if count > 1 { throw Broken() }
                return Array("first".utf8)
            }
        let client = MemoryConnection(SyncHandler { _ in Response(body: body) })
        client.send(RouterTests.request("GET", "/"))
        let record = try await client.closed()
        #expect(record.text.contains("first"))
        #expect(!record.text.hasSuffix("0\r\n\r\n"))
    }

    @Test("Sequences of bytes and of texts can be sent")
    func sequences() async throws {
        let texts = AsyncStream(String.self) { continuation in
            for word in Self.words { continuation.yield(word) }
            continuation.finish()
        }
        #expect(try await Self.answer(.stream(of: texts)).text == "<p>\nHello\n</p>\n")
        let pieces = AsyncStream([UInt8].self) { continuation in
            for word in Self.words { continuation.yield(Array(word.utf8)) }
            continuation.finish()
        }
        let answer = try await Self.answer(.stream(of: pieces))
        #expect(answer.text == "<p>\nHello\n</p>\n")
        #expect(answer["Content-Type"] == "application/octet-stream")
    }

    // MARK: Events

    @Test(
        "Events are written in the format of the HTML Standard",
        arguments: [
            (ServerSentEvent("a"), "data: a\n\n"),
            (ServerSentEvent(""), "data: \n\n"),
            (ServerSentEvent("a\nb\r\nc\rd\n"), "data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n"),
            (ServerSentEvent("\n\r\r\n\u{301}"), "data: \ndata: \ndata: \ndata: \u{301}\n\n"),
            (
                ServerSentEvent("a", name: "tick", id: "7", retry: .seconds(3)),
                "event: tick\nid: 7\nretry: 3000\ndata: a\n\n"
            ),
            (
                ServerSentEvent("a", name: "x\ndata: y", id: "1\r\nid: 2"),
                "event: x\nid: 1\ndata: a\n\n"
            ),
        ])
    func eventTexts(_ event: ServerSentEvent, _ text: String) {
        #expect(event.text == text)
    }

    @Test("A response of events has Cache-Control: no-cache and ends with the last event")
    func events() async throws {
        let events = AsyncStream(ServerSentEvent.self) { continuation in
            for number in 1...2 { continuation.yield(ServerSentEvent("\(number)")) }
            continuation.finish()
        }
        let answer = try await RouterTests.answer(
            SyncHandler { _ in .events(events) }, RouterTests.request("GET", "/"))
        #expect(answer.text == "data: 1\n\ndata: 2\n\n")
        #expect(answer["Content-Type"] == "text/event-stream")
        #expect(answer["Cache-Control"] == "no-cache")
    }

    @Test("Comments detect a client that disconnects while no events are sent")
    func quietEvents() async throws {
        let isOver = Locked(false)
        let (events, continuation) = AsyncStream.makeStream(of: ServerSentEvent.self)
        continuation.onTermination = { _ in isOver.withLock { $0 = true } }
        let client = MemoryConnection(
            SyncHandler { _ in .events(events, commentInterval: .milliseconds(5)) })
        client.send(Sample.get("/"))
        let record = try await client.output(":\n\n", times: 2)
        client.fail(at: record.output.count + 20, EPIPE)
        try await client.closed()
        try await waitUntil { isOver.withLock { $0 } }
    }
}
