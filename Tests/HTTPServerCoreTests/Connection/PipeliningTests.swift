import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("RFC 9112, 9.3.2: Pipelining")
struct PipeliningTests {
    @Test("Requests from one read are answered in order with one write")
    func oneWrite() async throws {
        let client = MemoryConnection(Sample.target)
        let targets = (1...200).map { "/\($0)" }
        client.send(targets.map { Sample.get($0) }.joined())
        let record = try await client.output("/200")
        #expect(record.text == targets.map { Sample.ok($0) }.joined())
        #expect(record.sends.count == 1)
    }

    @Test("Requests answered from tasks keep their order")
    func tasksInOrder() async throws {
        let client = MemoryConnection(Sample.targetLater)
        let targets = (1...50).map { "/\($0)" }
        client.send(targets.map { Sample.get($0) }.joined())
        let record = try await client.output("/50")
        #expect(record.text == targets.map { Sample.ok($0) }.joined())
    }

    @Test("One request is handled at a time")
    func oneAtATime() async throws {
        let (gate, log) = (ServerGate(), ServerLog<String>())
        let client = MemoryConnection(
            AsyncHandler { request in
                log.add(request.target.text)
                if request.target.text == "/1" { await gate.wait() }
                return Response(.ok, body: .text(request.target.text))
            })
        client.send(Sample.get("/1") + Sample.get("/2"))
        _ = await log.first()
        await client.settle()
        #expect(log.entries == ["/1"])
        gate.open()
        let record = try await client.output(Sample.ok("/2"))
        #expect(record.text == Sample.ok("/1") + Sample.ok("/2"))
    }

    @Test("Responses stay in order with a mix of handlers, content and methods")
    func mixed() async throws {
        var router = Router()
        router.on(.get, "/now") { _ in Response(.ok, body: .text("now")) }
        router.route(.get, "/later", to: Sample.targetLater)
        router.route(.post, "/", to: Sample.echo)
        let client = MemoryConnection(router)
        client.send(
            Sample.get("/now") + Sample.post("abc") + Sample.get("/later") + Sample.get("/now")
                + "HEAD /now HTTP/1.1\r\nHost: a\r\n\r\n" + Sample.post("de"))
        let record = try await client.output("POST de")
        let answers = ServerAnswer.all(record.output, heads: [4])
        #expect(answers.map(\.text) == ["now", "POST abc", "/later", "now", "", "POST de"])
    }

    @Test("Requests of a client that does not read are neither handled nor received without bound")
    func boundedWithoutReader() async throws {
        let (count, piece) = (ServerLog<Int>(), [UInt8](repeating: 0x61, count: 5_000))
        let client = MemoryConnection(
            SyncHandler { _ in
                count.add(1)
                return Response(.ok, body: .bytes(piece))
            }, peer: MemoryTransport.Peer(credit: 10))
        let request = Sample.get("/", "X-Padding: \(String(repeating: "x", count: 600))\r\n")
        for _ in 0..<20 { client.send(String(repeating: request, count: 50)) }
        await client.settle()
        #expect(count.entries.count < 50)
        #expect(client.record.received <= 4 * EventLoop.receiveSize)
        #expect(!client.record.interest.contains(.read))

        client.read(10_000_000)
        client.end()
        let record = try await client.closed()
        #expect(record.count(of: "200 OK") == 1_000)
        #expect(record.needlessEvents == 0)
    }

    @Test("Files are opened one at a time for a client that does not read")
    func boundedFiles() async throws {
        let directory = try ServerDirectory()
        try directory.write("big", [UInt8](repeating: 0x62, count: 100_000))
        let count = ServerLog<Int>()
        let files = FileHandler(root: directory.path)
        let client = MemoryConnection(
            SyncHandler { request in
                count.add(1)
                guard case .now(let response) = try files.answer(request) else {
                    return Response(.notFound)
                }
                return response
            }, peer: MemoryTransport.Peer(credit: 0))
        client.send(String(repeating: Sample.get("/big"), count: 100))
        await client.settle()
        #expect(count.entries.count < 5)
        client.read(100 * 101_000)
        client.end()
        let record = try await client.closed()
        let answers = ServerAnswer.all(record.output)
        #expect(answers.count == 100)
        #expect(answers.allSatisfy { $0.content.count == 100_000 })
    }
}
