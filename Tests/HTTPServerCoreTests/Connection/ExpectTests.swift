import HTTPParser
import HTTPServerCore
import TestSupport
import Testing

@Suite("RFC 9110, 10.1.1: Expect")
struct ExpectTests {
    private static let head =
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"
    private static let interim = "HTTP/1.1 100 Continue\r\n\r\n"

    @Test("100 is sent only when the handler reads")
    func onlyWhenRead() async throws {
        let gate = ServerGate()
        let client = MemoryConnection(
            AsyncHandler { request in
                await gate.wait()
                return Response(
                    .ok,
                    body: .text(String(decoding: try await request.body.collect(), as: UTF8.self)))
            })
        client.send(Self.head)
        await client.settle()
        #expect(client.record.output.isEmpty)
        gate.open()
        let first = try await client.output("100 Continue")
        #expect(first.text == Self.interim)
        client.send("abc")
        let record = try await client.output(Sample.ok("abc"))
        #expect(record.text == Self.interim + Sample.ok("abc"))
        client.send(Sample.post("de"))
        try await client.output(Sample.ok("de"))
    }

    @Test("No 100 is sent to a client that does not wait")
    func impatient() async throws {
        let client = MemoryConnection(Sample.echo)
        client.send(Self.head + "abc")
        let record = try await client.output("POST abc")
        #expect(record.text == Sample.ok("POST abc"))
    }

    @Test("No 100 is sent to HTTP/1.0")
    func oldVersion() async throws {
        let client = MemoryConnection(Sample.echo)
        client.send(Self.head.replacing("1.1", with: "1.0"))
        await client.settle()
        #expect(client.record.output.isEmpty)
        client.send("abc")
        let record = try await client.closed()
        #expect(record.text == Sample.ok("POST abc", Sample.close))
    }

    @Test("No 100 is sent without content")
    func noContent() async throws {
        let client = MemoryConnection(Sample.echo)
        client.send(Self.head.replacing("Content-Length: 3", with: "Content-Length: 0"))
        let record = try await client.output("POST ")
        #expect(record.text == Sample.ok("POST "))
    }

    @Test(
        "A final response instead of 100 closes the connection, because content may follow or not")
    func early() async throws {
        let client = MemoryConnection(SyncHandler { _ in throw HTTPError(.unauthorized) })
        client.send(Self.head, "abc" + Sample.get("/smuggled"))
        client.end()
        let record = try await client.closed()
        #expect(ServerAnswer.all(record.output).map(\.status) == [401])
        #expect(record.text.contains(Sample.close))
        #expect(record.hasShutDownWriting)
    }

    @Test(
        "An unknown expectation is refused by 417",
        arguments: ["100-continue-not", "something", "100-continue, x=y"])
    func unknown(_ expectation: String) async throws {
        let client = MemoryConnection(Sample.echo)
        client.send(Self.head.replacing("100-continue", with: expectation))
        let record = try await client.output("HTTP/1.1 417 ")
        #expect(record.count(of: "HTTP/1.1") == 1)
    }
}
