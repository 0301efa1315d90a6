import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

@Suite("Access log")
struct AccessLogTests {
    private let log = ServerLog<AccessRecord>()

    private func client(
        _ handler: any Handler, peer: MemoryTransport.Peer = MemoryTransport.Peer()
    ) -> MemoryConnection {
        let log = log
        return MemoryConnection(
            handler, configuration: .test { $0.accessLog = { log.add($0) } }, peer: peer)
    }

    @Test(
        "Each record has the request's line and fields, the response's status and its duration",
        arguments: [true, false])
    func contents(_ isImmediate: Bool) async throws {
        let client = client(isImmediate ? Sample.target : Sample.targetLater)
        let (clock, start) = (ContinuousClock(), Syscalls.realtime().seconds)
        let begin = clock.now
        client.send(Sample.get("/a?b", "Referer: http://r/\r\nUser-Agent: \"test\" 1\r\n"))
        let record = try #require(await log.first())
        #expect(record.method == "GET")
        #expect(record.target == "/a?b")
        #expect(record.version == .http11)
        #expect(record.status == .ok)
        #expect(record.contentBytes == 4)
        #expect(record.referer == "http://r/")
        #expect(record.userAgent == "\"test\" 1")
        #expect(record.isComplete)
        #expect(record.duration >= .zero && record.duration <= clock.now - begin)
        let end = Syscalls.realtime().seconds
        #expect((start...end).contains(record.date.secondsSinceEpoch))
    }

    @Test("Each response has one record, also refusals")
    func one() async throws {
        let client = client(
            SyncHandler { request in
                if request.target.text == "/bad" { throw HTTPError(.forbidden) }
                return Response(.ok, body: .text("abc"))
            })
        client.send(
            Sample.get("/") + "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" + Sample.get("/bad")
                + "GET / HTTP/1.1\r\nHost: \u{1}\r\n\r\n")
        client.end()
        try await client.closed()
        #expect(log.entries.map { Int($0.status.code) } == [200, 200, 403, 400])
        #expect(log.entries.map(\.method) == ["GET", "HEAD", "GET", ""])
        #expect(log.entries.map(\.contentBytes).prefix(2) == [3, 0])
        #expect(log.entries.allSatisfy { $0.isComplete })
    }

    @Test("The content of a stream is counted without its framing")
    func stream() async throws {
        let client = client(
            SyncHandler { _ in
                Response(
                    .ok,
                    body: .stream { writer in
                        for _ in 0..<10 { try await writer.write("abc") }
                    })
            })
        client.send(Sample.get("/"))
        let record = try #require(await log.first())
        #expect(record.contentBytes == 30)
        #expect(record.isComplete)
    }

    @Test("A response that the client did not read is recorded as incomplete")
    func cutShort() async throws {
        let client = client(
            SyncHandler { _ in Response(.ok, body: .bytes(Array(repeating: 0, count: 100_000))) },
            peer: MemoryTransport.Peer(credit: 1_000))
        client.send(Sample.get("/"))
        try await client.wait(for: "a blocked send") { $0.interest.contains(.write) }
        #expect(log.entries.isEmpty)
        client.hangUp()
        try await client.closed()
        #expect(log.entries.map(\.isComplete) == [false])
    }

    @Test(
        "The bytes of an incomplete response are those that the system took, not those announced")
    func cutShortBytes() async throws {
        let client = client(
            SyncHandler { _ in Response(.ok, body: .bytes(Array(repeating: 0x61, count: 100_000)))
            },
            peer: MemoryTransport.Peer(credit: 50_000))
        client.send(Sample.get("/"))
        try await client.wait(for: "a blocked send") { $0.interest.contains(.write) }
        client.hangUp()
        let output = try await client.closed().output
        let head = try #require(output.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound)
        #expect(log.entries.map(\.contentBytes) == [Int64(output.count - head)])
        #expect(log.entries.map(\.failure) == [.connectionLost])
    }

    enum Content: Sendable, CaseIterable { case text, bytes, file }

    @Test(
        "A short response is recorded when it is sent, not when it is queued",
        arguments: Content.allCases)
    func smallContent(_ content: Content) async throws {
        let folder = try ServerDirectory()
        try folder.write("f", Array(repeating: 0x61, count: 10_000))
        let path = folder.path("f")
        let client = client(
            SyncHandler { _ in
                let body: ResponseBody =
                    switch content {
                    case .text: .text(String(repeating: "a", count: 10_000))
                    case .bytes: .bytes(Array(repeating: 0x61, count: 10_000))
                    case .file:
                        .file(
                            OpenFile(owning: try Syscalls.openFile(path)), count: 10_000,
                            mediaType: "text/plain")
                    }
                return Response(.ok, body: body)
            }, peer: MemoryTransport.Peer(credit: 1_000))
        client.send(Sample.get("/"))
        try await client.wait(for: "a blocked send") { $0.interest.contains(.write) }
        #expect(log.entries.isEmpty)
        client.hangUp()
        let output = try await client.closed().output
        let head = try #require(output.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound)
        #expect(log.entries.map(\.failure) == [.connectionLost])
        #expect(log.entries.map(\.contentBytes) == [Int64(output.count - head)])
    }

    @Test("A response to a lost peer counts no bytes")
    func gone() async throws {
        let client = client(
            SyncHandler { _ in .text("abc") },
            peer: MemoryTransport.Peer(failure: (offset: 0, code: EPIPE)))
        client.send(Sample.get("/"))
        try await client.closed()
        #expect(log.entries.map(\.failure) == [.connectionLost])
        #expect(log.entries.map(\.contentBytes) == [0])
    }

    @Test("An incomplete stream counts no more bytes than were sent")
    func cutShortStream() async throws {
        let client = client(
            SyncHandler { _ in
                Response(
                    .ok,
                    body: .stream { writer in
                        while true { try await writer.write("0123456789") }
                    })
            }, peer: MemoryTransport.Peer(credit: 50_000))
        client.send(Sample.get("/"))
        try await client.wait(for: "a blocked send") { $0.interest.contains(.write) }
        await client.settle()
        client.hangUp()
        try await client.closed()
        let bytes = try #require(log.entries.first).contentBytes
        #expect(bytes > 0 && bytes < 50_000)
    }

    @Test("A response that waited for the client is recorded as complete once it is sent")
    func late() async throws {
        let client = client(
            SyncHandler { _ in Response(.ok, body: .bytes(Array(repeating: 0, count: 100_000))) },
            peer: MemoryTransport.Peer(credit: 1_000))
        client.send(Sample.get("/") + Sample.get("/"))
        try await client.wait(for: "a blocked send") { $0.interest.contains(.write) }
        client.read(300_000)
        client.end()
        try await client.closed()
        #expect(log.entries.map(\.isComplete) == [true, true])
        #expect(log.entries.map(\.contentBytes) == [100_000, 100_000])
    }

    @Test("A request whose client leaves before the response is recorded as incomplete")
    func left() async throws {
        let client = client(
            AsyncHandler { _ in
                await ServerGate().wait()
                return Response(.ok)
            })
        client.send(Sample.get("/"))
        await client.settle()
        client.hangUp()
        try await client.closed()
        #expect(log.entries.map(\.isComplete) == [false])
    }

    @Test("Input of clients cannot break the combined line")
    func combined() async throws {
        let client = client(Sample.target)
        client.send(
            Sample.get("/a\"b", "Referer: \\\u{9B}\r\nUser-Agent: \"x\" \t y\r\n"))
        let line = try #require(await log.first()).combined
        #expect(line.hasPrefix("unix - - ["))
        #expect(line.contains("] \"GET /a\\\"b HTTP/1.1\" 200 4 \""))
        #expect(line.hasSuffix("\"\\\\\\x9b\" \"\\\"x\\\" \\x09 y\""))
        #expect(!line.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x9B })
    }
}
