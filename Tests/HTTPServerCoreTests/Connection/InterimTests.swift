import HTTPParser
import HTTPServerCore
import TestSupport
import Testing

@Suite("RFC 9110, 15.2: Interim responses")
struct InterimTests {
    private static let hinting = AsyncHandler { request in
        try await request.sendInterim(.earlyHints, fields: [.link: "</a.css>; rel=preload"])
        return Response(.ok, body: .text("done"))
    }

    @Test("Interim responses are sent before the handler ends")
    func ahead() async throws {
        let gate = ServerGate()
        let client = MemoryConnection(
            AsyncHandler { request in
                try await request.sendInterim(.earlyHints, fields: [.link: "</a>"])
                try await request.sendInterim(.processing)
                await gate.wait()
                return Response(.ok)
            })
        client.send(Sample.get("/"))
        let first = try await client.output("102 Processing\r\n\r\n")
        #expect(
            first.text
                == "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n")
        gate.open()
        try await client.output("HTTP/1.1 200 OK")
    }

    @Test("Each pipelined request has its own interim response")
    func pipelined() async throws {
        let client = MemoryConnection(Self.hinting)
        client.send(Sample.get("/") + Sample.get("/"))
        let record = try await client.output("done", times: 2)
        #expect(record.count(of: "103 Early Hints") == 2)
    }

    @Test("HTTP/1.0 clients get no interim responses")
    func oldVersion() async throws {
        let client = MemoryConnection(Self.hinting)
        client.send("GET / HTTP/1.0\r\n\r\n")
        let record = try await client.closed()
        #expect(record.text.hasPrefix("HTTP/1.1 200 OK"))
    }

    @Test("No interim response is sent once the response has begun")
    func late() async throws {
        let gate = ServerGate()
        let client = MemoryConnection(
            AsyncHandler { request in
                Response(
                    .ok,
                    body: .stream { writer in
                        try await writer.write("a")
                        try await request.sendInterim(.earlyHints)
                        try await writer.write("b")
                        gate.open()
                    })
            })
        client.send(Sample.get("/"))
        client.end()
        await gate.wait()
        #expect(try await client.closed().count(of: "103") == 0)
    }

    @Test("Fields that would split the message are refused, and no interim response is sent")
    func refused() async throws {
        let client = MemoryConnection(
            AsyncHandler { request in
                await #expect(throws: HTTPMessageError.self) {
                    try await request.sendInterim(.earlyHints, fields: [.link: "a\r\nB: c"])
                }
                return Response(.ok)
            })
        client.send(Sample.get("/"))
        let record = try await client.output("200 OK")
        #expect(record.count(of: "103") == 0)
    }
}
