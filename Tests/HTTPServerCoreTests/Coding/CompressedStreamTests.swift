import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("Streams compressed while they are written")
struct CompressedStreamTests {
    private static let request = Sample.get("/", "Accept-Encoding: gzip\r\n")

    private static func streaming(
        length: Int64? = nil, _ producer: @escaping ResponseBody.Producer
    ) -> CompressionHandler {
        CompressionHandler(
            SyncHandler { _ in
                Response(.ok, fields: [.eTag: "\"s\""], body: .stream(length: length, producer))
            })
    }

    /// The part of the content that can be decoded so far.
    private static func readable(_ record: MemoryRecord) -> String {
        guard let answer = ServerAnswer.all(record.output).first else { return "" }
        var (content, position): ([UInt8], Int) = ([], 0)
        guard
            var decoder = try? ContentDecoder(
                .gzip, limits: ContentDecodingLimits(outputBytes: 1 << 30, ratio: 10_000)),
            (try? decoder.decode(
                answer.content.span, from: &position, into: &content, upTo: .max)) != nil
        else { return "broken" }
        return String(decoding: content, as: UTF8.self)
    }

    @Test(
        "The whole content arrives, whatever the sizes of the writes",
        arguments: [[0], [1, 0, 7], [70_000, 1]])
    func whole(_ sizes: [Int]) async throws {
        let pieces = sizes.enumerated().map { Coded.text($1, seed: UInt64($0)) }
        let answer = try await Coded.get(
            Self.streaming { writer in
                for piece in pieces { try await writer.write(piece) }
            })
        #expect(answer["Content-Encoding"] == "gzip")
        #expect(answer["Transfer-Encoding"] == "chunked")
        #expect(answer["Content-Length"] == nil)
        #expect(answer["ETag"] == "\"s-gzip\"")
        #expect(try answer.plain == Array(pieces.joined().utf8))
    }

    @Test("Written content is sent when the producer waits for something else")
    func flushed() async throws {
        let gates = [ServerGate(), ServerGate()]
        let client = MemoryConnection(
            Self.streaming { writer in
                for (number, gate) in gates.enumerated() {
                    try await writer.write("event \(number)\n")
                    try await writer.write("of \(gates.count)\n")
                    await gate.wait()
                }
                try await writer.write("end")
            })
        client.send(Self.request)
        var expected = ""
        for (number, gate) in gates.enumerated() {
            expected += "event \(number)\nof 2\n"
            let wanted = expected
            let record = try await client.wait(for: wanted) { Self.readable($0) == wanted }
            // The head, and both lines in one send: there is no flush between them.
            #expect(record.sends.count == 1 + number + 1)
            gate.open()
        }
        let record = try await client.output("\r\n0\r\n\r\n")
        #expect(try ServerAnswer.all(record.output)[0].plain == Array((expected + "end").utf8))
    }

    @Test("A producer outside of the event loop is flushed, too")
    func otherThread() async throws {
        let gate = ServerGate()
        let client = MemoryConnection(
            Self.streaming { writer in
                try await Task.detached {
                    try await writer.write("first\n")
                    await gate.wait()
                    try await writer.write("second\n")
                }.value
            })
        client.send(Self.request)
        try await client.wait(for: "first") { Self.readable($0) == "first\n" }
        gate.open()
        let record = try await client.output("\r\n0\r\n\r\n")
        #expect(try ServerAnswer.all(record.output)[0].plain == Array("first\nsecond\n".utf8))
    }

    /// The response, once the client has read the content that was held back.
    private static func rest(_ client: MemoryConnection) async throws -> ServerAnswer {
        client.read(1_000_000)
        // Compares bytes: converting so many to text after each send would be slow.
        let record = try await client.wait(for: "the end") {
            $0.output.suffix(7).elementsEqual("\r\n0\r\n\r\n".utf8)
        }
        return ServerAnswer.all(record.output)[0]
    }

    /// A client that takes 500 bytes; the producer writes noise in pieces and pauses after each.
    private static func slowClient(
        _ noise: [UInt8], pieces: Int, pause: Duration?, _ log: ServerLog<Int>
    ) -> MemoryConnection {
        let client = MemoryConnection(
            streaming { writer in
                for start in stride(from: 0, to: noise.count, by: pieces) {
                    try await writer.write(Array(noise[start..<start + pieces]))
                    log.add(start)
                    if let pause { try await Task.sleep(for: pause) }
                }
            }, peer: MemoryTransport.Peer(credit: 500))
        client.send(request)
        return client
    }

    @Test("A client that does not read suspends the producer, and memory stays bounded")
    func backPressure() async throws {
        let log = ServerLog<Int>()
        let noise = Coded.noise(400_000)
        let client = Self.slowClient(noise, pieces: 10_000, pause: nil, log)
        await client.settle()
        let written = log.entries.count
        #expect(written > 5 && written < 20)
        #expect(try await Self.rest(client).plain == noise)
    }

    @Test("A producer that pauses is suspended, too")
    func backPressureWithPauses() async throws {
        let log = ServerLog<Int>()
        let noise = Coded.noise(400_000)
        let client = Self.slowClient(noise, pieces: 2_000, pause: .milliseconds(1), log)
        try await waitUntil { log.entries.count > 25 }
        for _ in 0..<100 where log.entries.count < 60 {
            try await Task.sleep(for: .milliseconds(3))
        }
        #expect(log.entries.count < 60)
        #expect(try await Self.rest(client).plain == noise)
    }

    @Test("A comment is never sent within a long event")
    func longEvent() async throws {
        let text = Coded.noise(100_000).map { String($0, radix: 36) }.joined()
        let events = AsyncStream(ServerSentEvent.self) { continuation in
            continuation.yield(ServerSentEvent(text))
            continuation.finish()
        }
        let client = MemoryConnection(
            CompressionHandler(
                SyncHandler { _ in .events(events, commentInterval: .milliseconds(1)) }),
            peer: MemoryTransport.Peer(credit: 500))
        client.send(Self.request)
        for _ in 0..<10 {
            await client.settle()
            try await Task.sleep(for: .milliseconds(5))
        }
        let answer = try await Self.rest(client)
        #expect(answer["Content-Encoding"] == "gzip")
        let plain = String(decoding: try answer.plain, as: UTF8.self)
        #expect(plain.replacing(":\n\n", with: "") == "data: \(text)\n\n")
        #expect(plain.contains("data: \(text)\n\n"))
    }

    @Test("Streams of announced length are compressed and chunked if they are long enough")
    func announced() async throws {
        let text = Coded.text(3_000)
        let long = try await Coded.get(
            Self.streaming(length: 3_000) { try await $0.write(text) })
        #expect(long["Transfer-Encoding"] == "chunked")
        #expect(try long.plain == Array(text.utf8))
        let short = try await Coded.get(Self.streaming(length: 2) { try await $0.write("ab") })
        #expect(short["Content-Encoding"] == nil)
        #expect(short.text == "ab")
    }

    @Test(
        "A stream of another length than announced closes the connection",
        arguments: [1_999, 2_001])
    func wrongLength(_ written: Int) async throws {
        let text = Coded.text(written)
        let client = MemoryConnection(Self.streaming(length: 2_000) { try await $0.write(text) })
        client.send(Self.request)
        let record = try await client.closed()
        #expect(record.count(of: "\r\n0\r\n\r\n") == 0)
    }

    @Test("A write after the end is an error, and so is a second end")
    func writeAfterEnd() throws {
        let coder = try StreamCoder(level: 6, pool: ContentCodingPool(), length: nil)
        let text = Array("hello".utf8)
        var coded = try coder.encode(text.span)
        coded += try coder.finish()
        #expect(try Coded.gunzip(coded) == text)
        #expect(throws: ResponseWriterError.connectionLost) { try coder.encode(text.span) }
        #expect(throws: ResponseWriterError.connectionLost) { try coder.finish() }
    }

    @Test("A producer that fails closes the connection without a last chunk")
    func failure() async throws {
        struct Failure: Error {}
        let client = MemoryConnection(
            Self.streaming { writer in
                try await writer.write(Coded.text(2_000))
                throw Failure()
            })
        client.send(Self.request)
        let record = try await client.closed()
        #expect(record.count(of: "\r\n0\r\n\r\n") == 0)
    }

    @Test("When the client disconnects, the next write of the producer fails")
    func clientGone() async throws {
        let log = ServerLog<String>()
        let client = MemoryConnection(
            Self.streaming { writer in
                do {
                    while true { try await writer.write(Coded.noise(50_000)) }
                } catch {
                    log.add("\(error)")
                    throw error
                }
            }, peer: MemoryTransport.Peer(credit: 500))
        client.send(Self.request)
        await client.settle()
        client.hangUp()
        #expect(await log.first() == "connectionLost")
    }

    @Test("Trailers follow compressed content")
    func trailers() async throws {
        let client = MemoryConnection(
            Self.streaming { writer in
                await writer.setTrailers(["X-Sum": "5"])
                try await writer.write("hello")
            })
        client.send(Self.request)
        let record = try await client.output("\r\n0\r\nX-Sum: 5\r\n\r\n")
        #expect(try ServerAnswer.all(record.output)[0].plain == Array("hello".utf8))
    }

    @Test("HTTP/1.0 clients get a compressed stream that ends with the connection")
    func oldVersion() async throws {
        let client = MemoryConnection(Self.streaming { try await $0.write("hello") })
        client.send("GET / HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n")
        let record = try await client.closed()
        #expect(try ServerAnswer.all(record.output)[0].plain == Array("hello".utf8))
    }

    @Test("HEAD starts no producer and has the fields of GET")
    func head() async throws {
        let log = ServerLog<Int>()
        let handler = Self.streaming { _ in log.add(1) }
        let head = try await Coded.get(handler, method: "HEAD")
        #expect(head["Content-Encoding"] == "gzip")
        #expect(head["Transfer-Encoding"] == "chunked")
        #expect(log.entries.isEmpty)
    }

    @Test("Streams above the limit are sent uncompressed until another one ends")
    func limit() async throws {
        let gate = ServerGate()
        var options = CompressionHandler.Options()
        options.streamLimit = 1
        let handler = CompressionHandler(
            SyncHandler { request in
                let waits = request.target.text == "/wait"
                return Response(
                    .ok,
                    body: .stream { writer in
                        try await writer.write("hello")
                        if waits { await gate.wait() }
                    })
            }, options: options)
        let client = MemoryConnection(handler)
        client.send(Sample.get("/wait", "Accept-Encoding: gzip\r\n"))
        try await client.wait(for: "hello") { Self.readable($0) == "hello" }
        let other = try await Coded.get(handler)
        #expect(other["Content-Encoding"] == nil && other["Vary"] == "Accept-Encoding")
        #expect(other.text == "hello")
        gate.open()
        try await client.output("\r\n0\r\n\r\n")
        // The slot becomes free some time after the producer's end.
        var coding: String?
        for _ in 0..<1_000 where coding == nil {
            await client.settle()
            coding = try await Coded.get(handler)["Content-Encoding"]
        }
        #expect(coding == "gzip")
    }

    @Test("Two pipelined streams do not mix")
    func pipelined() async throws {
        let handler = CompressionHandler(
            SyncHandler { request in
                let text = request.target.text
                return Response(
                    .ok,
                    body: .stream { writer in
                        for _ in 0..<2_000 { try await writer.write(text) }
                    })
            })
        let client = MemoryConnection(handler)
        let fields = "Accept-Encoding: gzip\r\n"
        client.send(Sample.get("/a", fields) + Sample.get("/b", fields))
        let record = try await client.output("\r\n0\r\n\r\n", times: 2)
        let answers = ServerAnswer.all(record.output)
        #expect(try answers.map { try $0.plain.count } == [4_000, 4_000])
        #expect(try answers.map { try $0.plain[1] } == [0x61, 0x62])
    }
}
