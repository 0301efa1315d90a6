import HTTPParser
import HTTPServerCore
import TestSupport
import Testing

@Suite("RFC 9112, 9.6: Shutdown")
struct ShutdownTests {
    private static func shutDown(_ client: MemoryConnection) async {
        await client.onLoop { $0?.shutDown() }
    }

    @Test("An idle connection closes at once", arguments: ["", Sample.get("/")])
    func idle(_ requests: String) async throws {
        let client = MemoryConnection(Sample.target)
        client.send(requests)
        await client.settle()
        await Self.shutDown(client)
        let record = try await client.closed()
        #expect(record.text == (requests.isEmpty ? "" : Sample.ok("/")))
    }

    @Test("A busy connection sends its response with Connection: close")
    func busy() async throws {
        let gate = ServerGate()
        let client = MemoryConnection(
            AsyncHandler { request in
                await gate.wait()
                return Response(.ok, body: .text(request.target.text))
            })
        client.send(Sample.get("/1") + Sample.get("/2"))
        await client.settle()
        await Self.shutDown(client)
        await client.settle()
        #expect(!client.record.isClosed)
        gate.open()
        try await client.output(Sample.ok("/1", Sample.close))
        client.end()
        let last = try await client.closed()
        #expect(last.count(of: "HTTP/1.1") == 1)
    }

    @Test("A stream is sent to its end before the connection closes")
    func stream() async throws {
        let gate = ServerGate()
        let client = MemoryConnection(
            SyncHandler { _ in
                Response(
                    .ok,
                    body: .stream { writer in
                        try await writer.write("a")
                        await gate.wait()
                        try await writer.write("b")
                    })
            })
        client.send(Sample.get("/"))
        try await client.output("a\r\n")
        await Self.shutDown(client)
        gate.open()
        let record = try await client.closed()
        #expect(record.text.hasSuffix("1\r\na\r\n1\r\nb\r\n0\r\n\r\n"))
    }

    @Test("Output that waits for a slow client is sent before the connection closes")
    func slowReader() async throws {
        let content = [UInt8](repeating: 0x61, count: 200_000)
        let client = MemoryConnection(
            SyncHandler { _ in Response(.ok, body: .bytes(content)) },
            peer: MemoryTransport.Peer(credit: 100))
        client.send(Sample.get("/"))
        try await client.wait(for: "a blocked send") { $0.interest.contains(.write) }
        await Self.shutDown(client)
        await client.settle()
        #expect(!client.record.isClosed)
        client.read(300_000)
        try await client.wait(for: "all") { $0.output.count > 200_000 }
        await Self.shutDown(client)
        let record = try await client.closed()
        #expect(ServerAnswer.all(record.output).map(\.content.count) == [200_000])
    }

    @Test("Aborting a connection cancels its handler")
    func abort() async throws {
        let (gate, log) = (ServerGate(), ServerLog<Bool>())
        let client = MemoryConnection(
            AsyncHandler { _ in
                await gate.wait()
                log.add(Task.isCancelled)
                return Response(.ok)
            })
        client.send(Sample.get("/"))
        await client.settle()
        await client.onLoop { $0?.abort() }
        #expect(await log.first() == true)
        let last = try await client.closed()
        #expect(last.output.isEmpty)
    }
}
