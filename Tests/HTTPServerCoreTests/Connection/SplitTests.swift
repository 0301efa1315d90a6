import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("RFC 9112, 2: Responses do not depend on how the bytes are split")
struct SplitTests {
    private static let router: Router = {
        var router = Router()
        router.on(.get, "/now") { _ in Response(.ok, body: .text("now")) }
        router.route(.get, "/later", to: Sample.targetLater)
        router.route(.post, "/", to: Sample.echo)
        router.on(.get, "/stream") { _ in
            Response(
                .ok,
                body: .stream { writer in
                    for number in 1...3 { try await writer.write("\(number)\n") }
                })
        }
        return router
    }()

    static let dialogues: [String] = [
        Sample.get("/now") + Sample.get("/later") + Sample.get("/stream")
            + Sample.get("/now", Sample.close),
        Sample.post("abc") + Sample.post("") + Sample.post("defg", Sample.close),
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-Sum: 5\r\n\r\n" + Sample.get("/now", Sample.close),
        "\r\n" + Sample.get("/missing") + Sample.get("/now%") + "BREW / HTTP/1.1\r\nHost: a\r\n\r\n"
            + "GET / HTTP/1.1\r\nHost: a\r\nBad Name: x\r\n\r\n" + Sample.get("/now"),
        // Content that the handler does not read.
        "POST /now HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\nGET /later HTTP/1.1\r"
            + Sample.get("/now", Sample.close),
        "GET /now HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /stream HTTP/1.0\r\n\r\n",
    ]

    private static func whole(_ dialogue: String) async throws -> String {
        let client = MemoryConnection(router)
        client.send(dialogue)
        client.end()
        return try await client.closed().text
    }

    @Test("The client sends byte by byte", arguments: dialogues)
    func eachByte(_ dialogue: String) async throws {
        let client = MemoryConnection(Self.router)
        client.sendEachByte(dialogue)
        client.end()
        let record = try await client.closed()
        let whole = try await Self.whole(dialogue)
        #expect(record.text == whole)
        #expect(record.needlessEvents == 0)
    }

    @Test("The input is split in two at every position", arguments: dialogues)
    func everyCut(_ dialogue: String) async throws {
        let whole = try await Self.whole(dialogue)
        let bytes = Array(dialogue.utf8)
        let loop = try EventLoop(label: "test.loop", firesDeadlines: false)
        for cut in 1..<bytes.count {
            let client = MemoryConnection(Self.router, loop: loop)
            client.feed([.bytes(Array(bytes[..<cut])), .bytes(Array(bytes[cut...])), .end])
            let record = try await client.closed()
            #expect(record.text == whole, "cut at \(cut)")
        }
    }

    @Test("The client accepts output in small pieces", arguments: [1, 2, 7, 100], dialogues)
    func smallWrites(_ limit: Int, _ dialogue: String) async throws {
        let client = MemoryConnection(
            Self.router, peer: MemoryTransport.Peer(sendLimit: limit))
        client.send(dialogue)
        client.end()
        let record = try await client.closed()
        let whole = try await Self.whole(dialogue)
        #expect(record.text == whole)
        #expect(record.sends.allSatisfy { $0 <= limit })
    }
}
