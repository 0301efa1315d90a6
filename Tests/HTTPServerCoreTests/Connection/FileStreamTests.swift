import HTTPParser
import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem

@Suite("Parts of files in streams")
struct FileStreamTests {
    private static let content = (0..<3_000_000).map {
        UInt8(truncatingIfNeeded: $0 &* 13 &+ $0 >> 8)
    }

    /// Writes a text, two parts of a file and a text.
    private static func handler(_ path: String, length: Int64?) throws -> SyncHandler {
        let file = OpenFile(owning: try Syscalls.openFile(path))
        return SyncHandler { _ in
            Response(
                .ok,
                body: .stream(mediaType: "application/octet-stream", length: length) { writer in
                    try await writer.write("<")
                    try await writer.write(file, offset: 0, count: 1_000_000)
                    try await writer.write(file, offset: 1_000_000, count: 0)
                    try await writer.write(file, offset: 1_000_000, count: 2_000_000)
                    try await writer.write(">")
                })
        }
    }

    private static var whole: [UInt8] { [0x3C] + content + [0x3E] }

    @Test(
        "Parts of files and bytes keep their order, chunked or not, at any send size",
        arguments: [nil, 3_000_002], [5_000, 70_000, .max])
    func order(_ length: Int64?, _ sendLimit: Int) async throws {
        let directory = try ServerDirectory()
        try directory.write("file", Self.content)
        let client = MemoryConnection(
            try Self.handler(directory.path + "/file", length: length),
            peer: MemoryTransport.Peer(sendLimit: sendLimit))
        client.send(Sample.get("/") + Sample.get("/", Sample.close))
        let record = try await client.closed()
        let answers = ServerAnswer.all(record.output)
        #expect(answers.map(\.status) == [200, 200])
        #expect(answers.allSatisfy { $0.content == Self.whole })
    }

    @Test("A part longer than the announced length is not sent, and the connection closes")
    func tooLong() async throws {
        let directory = try ServerDirectory()
        try directory.write("file", Self.content)
        let client = MemoryConnection(
            try Self.handler(directory.path + "/file", length: 1_000_000))
        client.send(Sample.get("/"))
        let record = try await client.closed()
        #expect(record.output.count < 1_000_000)
    }

    @Test("A file that shrinks closes the connection")
    func shrinking() async throws {
        let directory = try ServerDirectory()
        try directory.write("file", Self.content)
        let client = MemoryConnection(
            try Self.handler(directory.path + "/file", length: nil),
            peer: MemoryTransport.Peer(credit: 50_000))
        client.send(Sample.get("/"))
        try await client.wait(for: "a blocked send") { $0.interest.contains(.write) }
        try directory.truncate("file", to: 100_000)
        client.read(10_000_000)
        let record = try await client.closed()
        #expect(!record.output.suffix(5).elementsEqual("0\r\n\r\n".utf8))
        #expect(record.output.count < 110_000)
    }

    @Test("A writer waits while 2 MiB of files are queued for a slow client")
    func writerWaits() async throws {
        let directory = try ServerDirectory()
        try directory.write("file", Self.content)
        let file = OpenFile(owning: try Syscalls.openFile(directory.path + "/file"))
        let written = ServerLog<Int>()
        let client = MemoryConnection(
            SyncHandler { _ in
                Response(
                    .ok,
                    body: .stream { writer in
                        for number in 1...6 {
                            try await writer.write(file, offset: 0, count: 1 << 20)
                            written.add(number)
                        }
                    })
            }, peer: MemoryTransport.Peer(credit: 0))
        client.send(Sample.get("/"))
        await client.settle()
        let first = written.entries.count
        #expect(first >= 1 && first <= 3)
        client.read(10 << 20)
        try await client.wait(for: "all") { $0.output.count > 6 << 20 }
        await client.settle()
        #expect(written.entries.count == 6)
    }
}
