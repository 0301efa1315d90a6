import HTTPParser
import TestSupport
import Testing
import URLClient

@Suite("HTTP/2: streams that share a connection")
struct SharedConnectionTests {
    private static let size = 64 << 20

    @Test("S8: A reader that waits holds little in memory, and does not delay other streams")
    func slowReader() async throws {
        let server = try await PeerServer.nginx(.init(at: "127.0.0.1", speaksHTTP2: true))
        try server.write([UInt8](repeating: 0x61, count: Self.size), to: "f.bin")
        let session = ClientSession(.ephemeral)
        var long = ClientRequest(.get, server.url("/f.bin"))
        long.protocols = .http2PriorKnowledge
        let (content, response) = try await session.bytes(for: long)
        #expect(response.version == .http2)
        var iterator = content.makeAsyncIterator()
        var count = try #require(try await iterator.next()).count
        let held = try await settled { Int(content.task.countOfBytesReceived) }
        #expect(held < Self.size / 4)

        var short = ClientRequest(.get, server.url("/who"))
        short.protocols = .http2PriorKnowledge
        for _ in 0..<10 {
            let (text, answer) = try await session.data(for: short)
            #expect(answer.version == .http2)
            #expect(String(decoding: text, as: UTF8.self).contains("version=HTTP/2.0"))
        }
        #expect(Int(content.task.countOfBytesReceived) < Self.size / 4)
        while let piece = try await iterator.next() { count += piece.count }
        #expect(count == Self.size)
    }

    @Test("A suspended task receives nothing, while others on its connection do")
    func suspended() async throws {
        let server = try await PeerServer.nginx(.init(at: "127.0.0.1", speaksHTTP2: true))
        try server.write([UInt8](repeating: 0x62, count: Self.size), to: "f.bin")
        let session = ClientSession(.ephemeral)
        let folder = try ServerDirectory()
        var long = ClientRequest(.get, server.url("/f.bin"))
        long.protocols = .http2PriorKnowledge
        let task = session.downloadTask(for: long, to: folder.path("f.bin"))
        task.resume()
        #expect(await soon { task.countOfBytesReceived > 0 })
        task.suspend()
        let held = try await settled { Int(task.countOfBytesReceived) }
        var short = ClientRequest(.get, server.url("/who"))
        short.protocols = .http2PriorKnowledge
        for _ in 0..<10 { #expect(try await session.data(for: short).1.version == .http2) }
        #expect(Int(task.countOfBytesReceived) == held)
        task.resume()
        #expect(try await task.finished().status == .ok)
        #expect(Int(task.countOfBytesReceived) == Self.size)
    }
}
