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

@Suite("Request content written to a file")
struct BodyFileTests {
    private static let content = Content.noise(900_000)

    private func answer(
        _ content: [UInt8], to path: String, byteLimit: Int64 = 4 << 30, replaces: Bool = true,
        synchronizes: Bool = false
    ) async throws -> ServerAnswer {
        let (answer, isOpen) = try await Content.answer(Content.post(nil, content)) { request in
            let count = try await request.body.stream(
                toFile: path, byteLimit: byteLimit, replaces: replaces,
                synchronizes: synchronizes)
            return .text("\(count)")
        }
        #expect(isOpen || content.count > 64 << 10)
        return answer
    }

    @Test("The file has the complete content", arguments: [0, 1, 300_000, 900_000], [true, false])
    func whole(count: Int, synchronizes: Bool) async throws {
        let disk = try ServerDirectory()
        let content = Array(Self.content[..<count])
        let answer = try await answer(content, to: disk.path("f"), synchronizes: synchronizes)
        #expect(answer.text == "\(count)")
        #expect(Content.bytes(disk.path("f")) == content)
        #expect(Content.permissions(disk.path("f")) == 0o644)
        #expect(Content.names(in: disk.path) == ["f"])
    }

    @Test("An existing file is replaced only if `replaces` is true", arguments: [true, false])
    func replacing(replaces: Bool) async throws {
        let disk = try ServerDirectory()
        try disk.write("f", "old")
        let answer = try await answer([1, 2], to: disk.path("f"), replaces: replaces)
        #expect(answer.status == (replaces ? 200 : 500))
        #expect(Content.bytes(disk.path("f")) == (replaces ? [1, 2] : Array("old".utf8)))
        #expect(try await Content.holds(disk.path, 1))
    }

    @Test(
        "Content up to the limit is accepted; longer content is 413",
        arguments: [(9, 200), (10, 200), (11, 413)])
    func limit(count: Int, status: Int) async throws {
        let disk = try ServerDirectory()
        let content = [UInt8](repeating: 0x61, count: count)
        let answer = try await answer(content, to: disk.path("f"), byteLimit: 10)
        #expect(answer.status == status)
        #expect(try await Content.holds(disk.path, status == 200 ? 1 : 0))
    }

    @Test("Chunked content above the limit is 413, and leaves no file")
    func chunkedLimit() async throws {
        let disk = try ServerDirectory()
        let client = MemoryConnection(
            AsyncHandler { request in
                .text("\(try await request.body.stream(toFile: disk.path("f"), byteLimit: 4))")
            })
        client.send(Content.chunkedHead("a/b"), "3\r\nabc\r\n", "3\r\ndef\r\n0\r\n\r\n")
        try await client.output("HTTP/1.1 413 ")
        #expect(try await Content.holds(disk.path, 0))
    }

    @Test("Truncated content leaves the existing file unchanged")
    func cutShort() async throws {
        let disk = try ServerDirectory()
        try disk.write("f", "old")
        let client = MemoryConnection(
            AsyncHandler { request in
                .text("\(try await request.body.stream(toFile: disk.path("f")))")
            })
        client.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n")
        client.feed([.bytes(Array(Self.content[..<500_000]))])
        #expect(try await Content.holds(disk.path, 2))
        #expect(
            Content.names(in: disk.path).contains { ReservedNames.contains(Array($0.utf8).span) })
        client.hangUp()
        try await client.closed()
        #expect(try await Content.holds(disk.path, 1))
        #expect(Content.bytes(disk.path("f")) == Array("old".utf8))
    }

    @Test(
        "A path that cannot be written is 500", arguments: ["no/folder/f", "f\u{0}g"])
    func unwritable(name: String) async throws {
        let disk = try ServerDirectory()
        #expect(try await answer([1], to: disk.path(name)).status == 500)
        #expect(try await Content.holds(disk.path, 0))
    }

    #if os(Linux)
        @Test("A full disk is 507, and the connection stays open", arguments: [10, 400_000])
        func diskFull(count: Int) async throws {
            let content = Array(Self.content[..<count])
            let (answer, isOpen) = try await Content.answer(Content.post(nil, content)) { request in
                let device = unsafe open("/dev/full", O_WRONLY | O_CLOEXEC)
                var writer = FileWriter(OpenFile(owning: device))
                for try await piece in request.body { try await writer.write(piece) }
                try await writer.flush()
                return .text("\(writer.count)")
            }
            #expect(answer.status == 507)
            #expect(answer.text.contains("No space left on device"))
            #expect(isOpen || count > 64 << 10)
        }
    #endif

    @Test("Pieces of one byte are joined to the complete file")
    func tinyPieces() async throws {
        let disk = try ServerDirectory()
        let pending = try await PendingFile.create(for: disk.path("f"))
        var writer = FileWriter(pending.file)
        for byte in Self.content[..<600_000] { try await writer.write([byte]) }
        try await writer.write([])
        try await writer.flush()
        try await pending.place(replaces: false, permissions: 0o600, synchronizes: false)
        #expect(writer.count == 600_000)
        #expect(Content.bytes(disk.path("f")) == Array(Self.content[..<600_000]))
    }
}
