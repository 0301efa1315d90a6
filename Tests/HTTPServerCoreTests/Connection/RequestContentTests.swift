import HTTPParser
import HTTPServerCore
import TestSupport
import Testing

@Suite("RFC 9112, 6 and 7: Content of requests")
struct RequestContentTests {
    private static let chunkedHead =
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

    private static func limited(_ limit: Int64) -> ServerConfiguration {
        .test { $0.contentLimit = limit }
    }

    @Test("7.1: The handler reads chunked content without framing, and its trailers")
    func chunkedWithTrailers() async throws {
        let client = MemoryConnection(
            AsyncHandler { request in
                let content = try await request.body.collect()
                let trailers = await request.body.trailers
                let text = String(decoding: content, as: UTF8.self)
                return Response(
                    .ok, body: .text("\(text) \(trailers["X-Sum"] ?? "-")"))
            })
        client.send(Self.chunkedHead + "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-Sum: 5\r\n\r\n")
        client.send(Sample.post("f"))
        let record = try await client.output(Sample.ok("f -"))
        #expect(record.text == Sample.ok("abcde 5") + Sample.ok("f -"))
    }

    @Test("Content is delivered as it arrives")
    func streamsIn() async throws {
        let log = ServerLog<String>()
        let client = MemoryConnection(
            AsyncHandler { request in
                for try await piece in request.body {
                    log.add(String(decoding: piece, as: UTF8.self))
                }
                return Response(.ok, body: .text("end"))
            })
        client.send(Self.chunkedHead + "3\r\nabc\r\n")
        #expect(await log.first() == "abc")
        client.send("2\r\nde\r\n")
        #expect(await log.first() == "de")
        #expect(client.record.output.isEmpty)
        client.send("0\r\n\r\n")
        try await client.output(Sample.ok("end"))
    }

    @Test("A task that is cancelled before it reads does not wait for content")
    func cancelledReader() async throws {
        let client = MemoryConnection(
            AsyncHandler { request in
                let reader = Task.detached { () -> String in
                    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                    do {
                        for try await _ in request.body {}
                        return "read"
                    } catch is CancellationError {
                        return "cancelled"
                    }
                }
                return Response(.ok, body: .text(try await reader.value))
            })
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n")
        try await client.output("cancelled")
    }

    @Test("Long content of announced length arrives complete", arguments: [1 << 16, 3_000_017])
    func longContent(_ length: Int) async throws {
        let client = MemoryConnection(
            AsyncHandler { request in
                var (count, sum) = (0, 0)
                for try await piece in request.body {
                    for byte in piece { sum = (sum &* 31 &+ Int(byte)) & 0xFFFF_FFFF }
                    count += piece.count
                }
                return Response(.ok, body: .text("\(count) \(sum)"))
            })
        let content = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
        let sum = content.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF_FFFF }
        let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n"
        client.feed([.bytes(Array(head.utf8) + content[..<1_000])])
        client.feed([.bytes(Array(content[1_000...]) + Array(Sample.post("x").utf8))])
        let record = try await client.output("1 120")
        #expect(record.text.hasPrefix(Sample.ok("\(length) \(sum)")))
    }

    @Test("A Content-Length above the limit is 413 before any content, and no handler runs")
    func announcedTooLong() async throws {
        let log = ServerLog<Int>()
        let client = MemoryConnection(
            SyncHandler { _ in
                log.add(1)
                return Response(.ok)
            }, configuration: Self.limited(10))
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n")
        let record = try await client.output("HTTP/1.1 413 ")
        #expect(record.text.contains(Sample.close))
        #expect(log.entries.isEmpty)
    }

    @Test(
        "413 can be read by a client that continues to send", arguments: [11, 100, 70_000, 500_000])
    func refusalIsReadable(_ length: Int) async throws {
        let client = MemoryConnection(Sample.echo, configuration: Self.limited(10))
        let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n"
        client.send(head + String(repeating: "a", count: length / 2))
        client.send(String(repeating: "b", count: length - length / 2), Sample.get("/smuggled"))
        let refused = try await client.wait(for: "the end") { $0.hasShutDownWriting }
        #expect(refused.text.hasPrefix("HTTP/1.1 413 "))
        client.end()
        await client.settle()
        // Content beyond the linger limit is not read; the connection still lingers.
        #expect(client.record.isClosed == (length < 60_000))
        await client.expire()
        let record = try await client.closed()
        #expect(record.count(of: "HTTP/1.1") == 1)
    }

    @Test(
        "The content limit applies to chunked content as it arrives",
        arguments: [(10, 200), (11, 413)])
    func chunkedTooLong(_ length: Int, _ status: Int) async throws {
        let client = MemoryConnection(Sample.echo, configuration: Self.limited(10))
        let half = length / 2
        let (first, second) = (
            String(repeating: "a", count: half), String(repeating: "b", count: length - half)
        )
        client.send(
            Self.chunkedHead + "\(half)\r\n\(first)\r\n", "\(length - half)\r\n\(second)\r\n",
            "0\r\n\r\n")
        let record = try await client.output("HTTP/1.1 \(status) ")
        #expect(ServerAnswer.all(record.output).map(\.status) == [status])
        #expect(record.text.contains(Sample.close) == (status == 413))
    }

    @Test("A handler's own limit is 413, too", arguments: [true, false])
    func collectLimit(_ isAnnounced: Bool) async throws {
        let client = MemoryConnection(
            AsyncHandler { request in
                Response(.ok, body: .bytes(try await request.body.collect(upTo: 4)))
            })
        client.send(
            isAnnounced ? Sample.post("abcde") : Self.chunkedHead + "5\r\nabcde\r\n0\r\n\r\n")
        try await client.output("HTTP/1.1 413 ")
    }

    @Test(
        "7.1: Ill-formed chunks are 400 and close the connection",
        arguments: [
            "x\r\n", "+3\r\nabc\r\n", "3\nabc\r\n", "3\r\nabcd\r\n", "11111111111111111\r\n",
        ])
    func badChunks(_ content: String) async throws {
        let client = MemoryConnection(Sample.echo)
        client.send(Self.chunkedHead + content + Sample.get("/smuggled"))
        let record = try await client.output("HTTP/1.1 400 ")
        #expect(record.text.contains(Sample.close))
        client.send(Sample.get("/smuggled"))
        client.end()
        let last = try await client.closed()
        #expect(last.count(of: "HTTP/1.1") == 1)
    }

    @Test("Short unread content is discarded and the connection persists")
    func unread() async throws {
        let client = MemoryConnection(Sample.target)
        client.send(Sample.post("GET /x HTTP/1.1\r\nHost: a\r\n\r\n"), Sample.get("/next"))
        let record = try await client.output("/next")
        #expect(record.text == Sample.ok("/") + Sample.ok("/next"))
    }

    @Test("Long unread content closes the connection, and is not parsed as requests")
    func muchUnread() async throws {
        let client = MemoryConnection(Sample.target)
        let smuggled = String(repeating: Sample.get("/smuggled"), count: 4_000)
        client.send(Sample.post(smuggled))
        try await client.output(Sample.ok("/", Sample.close))
        client.end()
        await client.settle()
        await client.expire()
        let last = try await client.closed()
        #expect(last.count(of: "HTTP/1.1 200") == 1)
    }

    @Test("After a handler reads content partly, the next request is still found")
    func halfRead() async throws {
        let client = MemoryConnection(
            AsyncHandler { request in
                for try await _ in request.body { break }
                return Response(.ok, body: .text("enough"))
            })
        let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\n\r\n"
        client.send(head + "0123456789")
        try await client.output("enough")
        client.send("GET /smuggled HTTP/1.1\r\n\r\n".prefix(26) + "0123", Sample.post("x"))
        let record = try await client.output("enough", times: 2)
        #expect(record.text == Sample.ok("enough") + Sample.ok("enough"))
    }

    @Test("Content can be read once; a second read is empty")
    func readOnce() async throws {
        let client = MemoryConnection(
            AsyncHandler { request in
                let first = try await request.body.collect().count
                let second = try await request.body.collect().count
                return Response(.ok, body: .text("\(first) \(second)"))
            })
        client.send(Sample.post("abc"))
        try await client.output(Sample.ok("3 0"))
    }
}
