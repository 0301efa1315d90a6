import HTTPParser
import HTTPServerCore
import TestSupport
import Testing

@Suite("RFC 9112, 2.2 and 3: Refused heads")
struct RefusedHeadTests {
    static let heads: [(String, Int)] = [
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\n folded: x\r\n\r\n", 400),
        ("GET / HTTP/1.1\nHost: a\n\n", 400),
        ("GET / HTTP/1.1\rHost: a\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: \u{0}\r\n\r\n", 400),
        ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET x HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET / http/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nabcde", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "0\r\n\r\n", 400
        ),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n", 400),
        ("GET /" + String(repeating: "a", count: 9_000) + " HTTP/1.1\r\nHost: a\r\n\r\n", 414),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "a", count: 9_000) + "\r\n\r\n",
            431
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "X: y\r\n", count: 200) + "\r\n",
            431
        ),
        (String(repeating: "\r\n", count: 20) + "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\u{FC}\u{3}\u{3}", 400),
    ]

    @Test("A refused head gets one response, and no later request is handled", arguments: heads)
    func refused(_ head: String, _ status: Int) async throws {
        let log = ServerLog<String>()
        let client = MemoryConnection(
            SyncHandler { request in
                log.add(request.target.text)
                return Response(.ok)
            })
        client.send(head + Sample.get("/smuggled"), Sample.get("/smuggled"))
        let answered = try await client.output("HTTP/1.1 \(status) ")
        #expect(answered.text.contains(Sample.close))
        #expect(answered.hasShutDownWriting || !answered.isClosed)
        client.end()
        let record = try await client.closed()
        #expect(record.count(of: "HTTP/1.1") == 1)
        #expect(log.entries.isEmpty)
    }

    @Test("Requests before a refused head are answered")
    func requestsBefore() async throws {
        let client = MemoryConnection(Sample.target)
        client.send(Sample.get("/1") + Sample.get("/2") + "GET / HTTP/1.1\r\nBad\r\n\r\n")
        client.end()
        let record = try await client.closed()
        #expect(record.text.hasPrefix(Sample.ok("/1") + Sample.ok("/2") + "HTTP/1.1 400 "))
        #expect(record.count(of: "HTTP/1.1 ") == 3)
    }

    @Test("The refusal waits for the response before it")
    func afterTask() async throws {
        let gate = ServerGate()
        let client = MemoryConnection(
            AsyncHandler { request in
                await gate.wait()
                return Response(.ok, body: .text(request.target.text))
            })
        client.send(Sample.get("/1") + "GET / HTTP/1.1\r\nBad\r\n\r\n")
        await client.settle()
        #expect(client.record.output.isEmpty)
        gate.open()
        let record = try await client.output("HTTP/1.1 400 ")
        #expect(record.text.hasPrefix(Sample.ok("/1")))
    }

    @Test("After a refusal at most 64 KiB are read, and the connection closes in bounded time")
    func boundedLinger() async throws {
        let client = MemoryConnection(Sample.target)
        client.send("bad\r\n\r\n")
        try await client.output("HTTP/1.1 400 ")
        let piece = [UInt8](repeating: 0x61, count: 60_000)
        client.feed(Array(repeating: .bytes(piece), count: 100))
        try await client.wait(for: "a pause") { $0.interest.isEmpty }
        await client.settle()
        // The bytes of one read may be added.
        #expect(client.record.received <= 2 * (64 << 10))
        #expect(!client.record.isClosed)
        #expect(try #require(await client.secondsLeft()) <= 2)
        await client.expire()
        let record = try await client.closed()
        #expect(record.hasShutDownWriting)
        #expect(record.needlessEvents == 0)
    }

    @Test("A client that sends nothing after a refusal is disconnected in bounded time")
    func boundedLingerTime() async throws {
        let client = MemoryConnection(Sample.target)
        client.send("bad\r\n\r\n")
        try await client.output("HTTP/1.1 400 ")
        // It may have been disconnected already.
        let left = await client.secondsLeft() ?? 0
        #expect(left <= 2)
        await client.expire()
        try await client.closed()
    }

    @Test("After a refusal the server does not linger for a client that has ended its stream")
    func noLinger() async throws {
        let gate = ServerGate()
        let client = MemoryConnection(
            AsyncHandler { request in
                await gate.wait()
                return Response(.ok, body: .text(request.target.text))
            })
        client.send(Sample.get("/") + "bad\r\n\r\n")
        client.end()
        await client.settle()
        gate.open()
        let record = try await client.closed()
        #expect(!record.hasShutDownWriting)
        #expect(record.count(of: "HTTP/1.1 ") == 2)
    }

    @Test("RFC 9112, 6.1: An HTTP/1.0 request with a transfer coding closes the connection")
    func oldVersionWithCoding() async throws {
        let client = MemoryConnection(Sample.echo)
        client.send(
            "POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "3\r\nabc\r\n0\r\n\r\n" + Sample.get("/smuggled"))
        client.end()
        let record = try await client.closed()
        #expect(record.count(of: "HTTP/1.1 ") == 1)
        #expect(record.text.contains(Sample.close))
    }

    @Test("No later bytes are handled after a CONNECT that the handler answers with 200")
    func connect() async throws {
        let client = MemoryConnection(SyncHandler { _ in Response(.ok) })
        client.send("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n" + Sample.get("/smuggled"))
        client.end()
        let record = try await client.closed()
        #expect(record.count(of: "HTTP/1.1 ") == 1)
    }
}
