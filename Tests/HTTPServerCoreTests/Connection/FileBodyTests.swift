import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("Files as content")
struct FileBodyTests {
    private let directory: ServerDirectory
    private let files: FileHandler

    init() throws {
        directory = try ServerDirectory()
        files = FileHandler(root: directory.path)
    }

    private static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ $0 >> 8) }
    }

    /// Sizes of files, each with the most bytes that one call sends. The longest file is left out
    /// for the smallest limit, because it would take thousands of calls.
    private static let loads: [(Int, Int)] = [1_000, 100_000, Int.max].flatMap {
        limit -> [(Int, Int)] in
        let sizes = [0, 1, 16 << 10, (16 << 10) + 1, 300_001]
        return (limit > 1_000 ? sizes + [3_000_000] : sizes).map { ($0, limit) }
    }

    @Test("A file of any size arrives complete", arguments: loads)
    func sizes(_ size: Int, _ sendLimit: Int) async throws {
        let content = Self.bytes(size)
        try directory.write("file", content)
        let client = MemoryConnection(files, peer: MemoryTransport.Peer(sendLimit: sendLimit))
        client.send(Sample.get("/file") + Sample.get("/file", Sample.close))
        client.end()
        let record = try await client.closed()
        let answers = ServerAnswer.all(record.output)
        #expect(answers.map(\.status) == [200, 200])
        #expect(answers.allSatisfy { $0.content == content })
        #expect(record.needlessEvents == 0)
    }

    @Test("A file that shrinks while it is sent closes the connection and is never padded")
    func shrinking() async throws {
        try directory.write("file", Self.bytes(300_000))
        let log = ServerLog<AccessRecord>()
        let client = MemoryConnection(
            files, configuration: .test { $0.accessLog = { log.add($0) } },
            peer: MemoryTransport.Peer(credit: 50_000))
        client.send(Sample.get("/file") + Sample.get("/file"))
        try await client.wait(for: "a blocked send") { $0.interest.contains(.write) }
        try directory.truncate("file", to: 100_000)
        client.read(1_000_000)
        let record = try await client.closed()
        let answer = try #require(ServerAnswer.all(record.output).first)
        #expect(answer["Content-Length"] == "300000")
        #expect(answer.content == Array(Self.bytes(300_000)[..<100_000]))
        let entry = try #require(await log.first())
        #expect(!entry.isComplete)
    }

    @Test("A file that grows while it is sent is sent with the announced length")
    func growing() async throws {
        try directory.write("file", Self.bytes(100_000))
        let client = MemoryConnection(files, peer: MemoryTransport.Peer(credit: 50_000))
        client.send(Sample.get("/file") + Sample.get("/file", Sample.close))
        try await client.wait(for: "a blocked send") { $0.interest.contains(.write) }
        try directory.write("file", Self.bytes(200_000))
        client.read(1_000_000)
        client.end()
        let answers = ServerAnswer.all(try await client.closed().output)
        #expect(answers.map(\.content) == [Self.bytes(100_000), Self.bytes(200_000)])
    }

    @Test(
        "A short file below its announced length leaves nothing in the shared send buffer",
        arguments: [true, false])
    func shortCopied(_ isImmediate: Bool) async throws {
        try directory.write("file", Self.bytes(1_000))
        let path = directory.path
        let answer: @Sendable () throws -> Response = {
            let descriptor = unsafe try RootDirectory(path).openStepwise("file", 0)
            let file = OpenFile(owning: descriptor)
            return Response(.ok, body: .file(file, count: 2_000, mediaType: ""))
        }
        let handler: any Handler =
            isImmediate
            ? SyncHandler { _ in try answer() } : AsyncHandler { _ in try answer() }
        let client = MemoryConnection(handler)
        client.send(Sample.get("/"))
        let record = try await client.closed()
        #expect(record.output.count < 1_200)
        await client.settle()
        let isEmpty = await client.onLoop { [loop = client.loop] _ in loop.sendBuffer.isEmpty }
        #expect(isEmpty)
    }

    @Test(
        "RFC 9110, 14.6: Several ranges of a file are sent as multipart/byteranges",
        arguments: [1, 100_000])
    func multipart(_ scale: Int) async throws {
        let content = Self.bytes(10 * scale)
        try directory.write("file.txt", content)
        let client = MemoryConnection(files, peer: MemoryTransport.Peer(sendLimit: 70_000))
        let range = "bytes=0-\(scale - 1),\(3 * scale)-\(4 * scale - 1),-\(scale)"
        client.send(Sample.get("/file.txt", "Range: \(range)\r\nConnection: close\r\n"))
        let record = try await client.closed()
        let answer = try #require(ServerAnswer.all(record.output).first)
        #expect(answer.status == 206)
        let type = try #require(answer["Content-Type"])
        #expect(type.hasPrefix("multipart/byteranges; boundary="))
        #expect(answer["Content-Range"] == nil)
        let boundary = type.dropFirst("multipart/byteranges; boundary=".count)
        var expected: [UInt8] = []
        for (first, last) in [
            (0, scale - 1), (3 * scale, 4 * scale - 1), (9 * scale, 10 * scale - 1),
        ] {
            expected += "--\(boundary)\r\nContent-Type: text/plain; charset=utf-8\r\n".utf8
            expected += "Content-Range: bytes \(first)-\(last)/\(10 * scale)\r\n\r\n".utf8
            expected += content[first...last]
            expected += [13, 10]
        }
        expected += "--\(boundary)--\r\n".utf8
        #expect(answer.content == expected)
    }
}
