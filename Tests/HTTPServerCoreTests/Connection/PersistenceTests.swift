import HTTPParser
import HTTPServerCore
import TestSupport
import Testing

@Suite("RFC 9112, 9.3: Persistence")
struct PersistenceTests {
    @Test("A connection serves one request after another", arguments: [true, false])
    func keepsOpen(_ isImmediate: Bool) async throws {
        let client = MemoryConnection(isImmediate ? Sample.target : Sample.targetLater)
        for index in 1...3 {
            client.send(Sample.get("/\(index)"))
            try await client.output(Sample.ok("/\(index)"))
        }
        let record = client.record
        #expect(record.text == Sample.ok("/1") + Sample.ok("/2") + Sample.ok("/3"))
        #expect(!record.isClosed)
        #expect(record.sends.count == 3)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var request: String
        var connection: String
        var testDescription: String { request.replacing("\r\n", with: "|") }
    }

    @Test(
        "The HTTP version and the options of Connection decide on persistence",
        arguments: [
            Case(request: Sample.get("/"), connection: ""),
            Case(request: Sample.get("/", "Connection: keep-alive\r\n"), connection: ""),
            Case(request: Sample.get("/", "Connection: close\r\n"), connection: Sample.close),
            Case(
                request: Sample.get("/", "Connection: keep-alive, Close\r\n"),
                connection: Sample.close),
            Case(request: "GET / HTTP/1.0\r\n\r\n", connection: Sample.close),
            Case(
                request: "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
                connection: Sample.keepAlive),
            Case(
                request: "GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n",
                connection: Sample.close),
        ])
    func options(_ example: Case) async throws {
        let client = MemoryConnection(Sample.target)
        client.send(example.request)
        let record = try await client.output(Sample.ok("/", example.connection))
        if example.connection == Sample.close {
            try await client.closed()
        } else {
            client.send(Sample.get("/next"))
            try await client.output("/next")
        }
        #expect(record.text.hasPrefix("HTTP/1.1 200"))
    }

    @Test("9.6: No request after one with Connection: close is answered", arguments: [true, false])
    func nothingAfterClose(_ isImmediate: Bool) async throws {
        let client = MemoryConnection(isImmediate ? Sample.target : Sample.targetLater)
        client.send(Sample.get("/1", Sample.close) + Sample.get("/2"))
        client.end()
        let record = try await client.closed()
        #expect(record.text == Sample.ok("/1", Sample.close))
        #expect(record.closes == 1)
    }

    @Test("2.2: An empty line before a request is skipped")
    func emptyLine() async throws {
        let client = MemoryConnection(Sample.target)
        client.send("\r\n" + Sample.get("/1"), "\r\n", Sample.get("/2"))
        let record = try await client.output(Sample.ok("/2"))
        #expect(record.text == Sample.ok("/1") + Sample.ok("/2"))
    }

    @Test("2.2: An empty line after a request does not begin a head, so no 408 follows")
    func lateEmptyLine() async throws {
        let client = MemoryConnection(Sample.target)
        client.send(Sample.get("/1"))
        try await client.output(Sample.ok("/1"))
        let deadline = await client.onLoop { $0?.deadline ?? 0 }
        #expect(deadline > 0 && deadline < .max)
        client.send("\r\n")
        await client.settle()
        #expect(await client.onLoop { $0?.deadline ?? 0 } >= deadline)
        await client.expire()
        let record = try await client.closed()
        #expect(record.text == Sample.ok("/1"))
    }

    @Test("A closed connection is deallocated")
    func leavesNothing() async throws {
        for isImmediate in [true, false] {
            let client = MemoryConnection(isImmediate ? Sample.target : Sample.targetLater)
            client.send(Sample.get("/1"), Sample.post("abc"), Sample.get("/2", Sample.close))
            try await client.closed()
            await client.settle()
            let isGone = await client.onLoop { $0 == nil }
            #expect(isGone)
        }
    }
}
