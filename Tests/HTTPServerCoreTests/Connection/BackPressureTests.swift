import HTTPParser
import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem

@Suite("Back-pressure in both directions")
struct BackPressureTests {
    @Test("A producer waits while the client does not read, and resumes when it does")
    func producerWaits() async throws {
        let written = ServerLog<Int>()
        let piece = [UInt8](repeating: 0x61, count: 8 << 10)
        let client = MemoryConnection(
            SyncHandler { _ in
                Response(
                    .ok,
                    body: .stream(length: 100 * 8 << 10) { writer in
                        for number in 1...100 {
                            try await writer.write(piece)
                            written.add(number)
                        }
                    })
            }, peer: MemoryTransport.Peer(credit: 0))
        client.send(Sample.get("/"))
        await client.settle()
        let first = written.entries.count
        #expect(first >= 4 && first < 12)
        client.read(8 * (8 << 10))
        await client.settle()
        #expect(written.entries.count > first)
        #expect(written.entries.count < 24)
        client.read(1 << 20)
        let record = try await client.wait(for: "all") { $0.output.count > 100 * 8 << 10 }
        #expect(ServerAnswer.all(record.output).map(\.content.count) == [100 * 8 << 10])
        // The last piece may arrive before the producer has recorded it.
        await client.settle()
        #expect(written.entries.count == 100)
    }

    /// Counts the turns of a loop while a producer is between its first write and its last.
    private final class Turns: Sendable {
        let written = Locked(0)
        let between = Locked(0)

        func count(on loop: EventLoop) {
            loop.execute { [self] in
                let written = written.withLock { $0 }
                if written > 0 { between.withLock { $0 += 1 } }
                if written < 2_000 { count(on: loop) }
            }
        }
    }

    @Test("A producer with a fast client regularly yields the loop to others")
    func producerYields() async throws {
        let turns = Turns()
        let piece = [UInt8](repeating: 0x61, count: 8 << 10)
        let client = MemoryConnection(
            SyncHandler { _ in
                Response(
                    .ok,
                    body: .stream { writer in
                        for _ in 0..<2_000 {
                            try await writer.write(piece)
                            turns.written.withLock { $0 += 1 }
                        }
                    })
            })
        let loop = try #require(await client.onLoop { $0?.loop })
        turns.count(on: loop)
        client.send(Sample.get("/", Sample.close))
        try await client.closed()
        #expect(turns.between.withLock { $0 } > 100)
    }

    @Test(
        "Reading pauses while the handler does not read, and resumes when it does",
        arguments: [true, false])
    func readerWaits(_ isChunked: Bool) async throws {
        let gate = ServerGate()
        let client = MemoryConnection(
            AsyncHandler { request in
                await gate.wait()
                var count = 0
                for try await piece in request.body { count += piece.count }
                return Response(.ok, body: .text("\(count)"))
            })
        let piece = [UInt8](repeating: 0x62, count: 64 << 10)
        let chunk = Array("10000\r\n".utf8) + piece + [13, 10]
        let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(64 << 16)"
        client.send("POST / HTTP/1.1\r\nHost: a\r\n\(framing)\r\n\r\n")
        client.feed(Array(repeating: .bytes(isChunked ? chunk : piece), count: 64))
        if isChunked { client.send("0\r\n\r\n") }
        let paused = try await client.wait(for: "a pause") { !$0.interest.contains(.read) }
        await client.settle()
        #expect(client.record.received == paused.received)
        #expect(paused.received < 600 << 10)
        gate.open()
        let record = try await client.output(Sample.ok("\(64 << 16)"))
        #expect(record.needlessEvents == 0)
        #expect(record.interest.contains(.read))
    }

    @Test("Waiting chunks of one octet are joined and read in few pieces")
    func smallChunks() async throws {
        let gate = ServerGate()
        let client = MemoryConnection(
            AsyncHandler { request in
                await gate.wait()
                var (count, pieces) = (0, 0)
                for try await piece in request.body {
                    (count, pieces) = (count + piece.count, pieces + 1)
                }
                return Response(.ok, body: .text("\(count) \(pieces < 100)"))
            })
        client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        let chunks = Array(String(repeating: "1\r\na\r\n", count: 10_000).utf8)
        client.feed(Array(repeating: .bytes(chunks), count: 25))
        client.send("0\r\n\r\n")
        await client.settle()
        gate.open()
        try await client.output(Sample.ok("250000 true"))
    }

    @Test("After a response without reading, the rest of the content is discarded")
    func abandonedContent() async throws {
        let gate = ServerGate()
        let client = MemoryConnection(
            AsyncHandler { _ in
                await gate.wait()
                return Response(.ok, body: .text("done"))
            })
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 320000\r\n\r\n")
        client.feed(Array(repeating: .bytes(Array(repeating: 0x61, count: 60_000)), count: 5))
        client.send(String(repeating: "a", count: 20_000), Sample.get("/next"))
        try await client.wait(for: "a pause") { !$0.interest.contains(.read) }
        gate.open()
        try await client.output("done", times: 2)
    }

    @Test("Content larger than all buffers can be echoed")
    func echo() async throws {
        let client = MemoryConnection(
            SyncHandler { request in
                Response(
                    .ok,
                    body: .stream(length: request.contentLength) { writer in
                        for try await piece in request.body { try await writer.write(piece) }
                    })
            }, peer: MemoryTransport.Peer(sendLimit: 10_000))
        let content = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n")
        client.feed([.bytes(content)])
        let record = try await client.wait(for: "all") { $0.output.count > 2_000_000 }
        #expect(ServerAnswer.all(record.output).first?.content == content)
    }
}
