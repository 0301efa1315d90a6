import Foundation
import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("RFC 9111: stored content that is too long for memory", .timeLimit(.minutes(5)))
struct StoredContentTests {
    /// The length of the content; the environment variable can raise it for a longer test.
    private static let size =
        (ProcessInfo.processInfo.environment["URLCLIENT_CACHED_MIB"].flatMap(Int.init) ?? 12) << 20

    private func server(_ answers: Locked<Int>) async throws -> TestServer {
        let content = BlockContent(count: Self.size)
        return try await TestServer { _, router in
            router.on(.get, "/big") { _ in
                answers.withLock { $0 += 1 }
                return Response(
                    .ok, fields: [.cacheControl: "max-age=1000", .eTag: "\"1\""],
                    body: .stream(
                        mediaType: "application/octet-stream", length: Int64(content.count)
                    ) { writer in
                        for offset in stride(from: 0, to: content.count, by: 64 << 10) {
                            try await writer.write(Array(content.piece(at: offset)))
                        }
                    })
            }
        }
    }

    @Test("Content that arrives byte by byte is stored unchanged")
    func tinyChunks() async throws {
        let peer = try DelegateTests.tinyChunks(200_000, "Cache-Control: max-age=600\r\n")
        let folder = try ServerDirectory()
        var configuration = ClientConfiguration.ephemeral
        let cache = try ClientCache(memoryLimit: 4 << 10, folder: folder.path("cache"))
        configuration.cache = cache
        let session = ClientSession(configuration)
        for isStored in [false, true] {
            let (content, response) = try await session.data(for: ClientRequest(.get, peer.url()))
            #expect(response.isFromCache == isStored && content.count == 200_000)
            #expect(content.indices.allSatisfy { content[$0] == 0x30 + UInt8($0 % 10) })
            await cache.flush()
        }
    }

    private func session(_ folder: ServerDirectory) throws -> ClientSession {
        var configuration = ClientConfiguration.ephemeral
        configuration.cache = try ClientCache(
            memoryLimit: 1 << 20, folder: folder.path("cache"), diskLimit: 2 << 30,
            entryLimit: Self.size)
        return ClientSession(configuration)
    }

    private func read(
        _ session: ClientSession, _ server: TestServer
    ) async throws -> (isWhole: Bool, response: ClientResponse) {
        let (content, response) = try await session.bytes(
            for: ClientRequest(.get, server.url("/big")))
        let expected = BlockContent(count: Self.size)
        var offset = 0
        var isSame = true
        for try await piece in content {
            var rest = piece[...]
            while !rest.isEmpty {
                let block = expected.piece(at: offset).prefix(rest.count)
                isSame = isSame && Data(block) == Data(rest.prefix(block.count))
                offset += block.count
                rest = rest.dropFirst(block.count)
            }
        }
        return (isSame && offset == Self.size, response)
    }

    @Test("Content that is too long for memory is stored on the disk and served from there")
    func streamed() async throws {
        let answers = Locked(0)
        let server = try await server(answers)
        let folder = try ServerDirectory()
        let session = try session(folder)
        let before = Files.residentBytes()
        #expect(try await read(session, server).isWhole)
        await session.flush()
        #expect(session.configuration.cache?.memoryByteCount == 0)
        #expect(session.configuration.cache?.diskByteCount ?? 0 > Int64(Self.size))
        for _ in 0..<2 {
            let again = try await read(session, server)
            #expect(again.isWhole && again.response.isFromCache)
            #expect(again.response.expectedLength == Int64(Self.size))
        }
        #expect(answers.withLock { $0 } == 1)
        if Self.size >= 64 << 20 {
            print("cached: \(Self.size >> 20) MiB, \((Files.residentBytes() - before) >> 10) KiB")
            #expect(Files.residentBytes() - before < 16 << 20)
        }
    }

    @Test("A slow reader has little content in memory, and gets all of it after a removal")
    func slowReader() async throws {
        let answers = Locked(0)
        let server = try await server(answers)
        let folder = try ServerDirectory()
        let session = try session(folder)
        _ = try await read(session, server)
        let (content, response) = try await session.bytes(
            for: ClientRequest(.get, server.url("/big")))
        #expect(response.isFromCache)
        for _ in 0..<200 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(content.task.countOfBytesReceived <= 2 << 20)
        session.configuration.cache?.removeAll()
        await session.flush()
        var count = 0
        for try await piece in content { count += piece.count }
        #expect(count == Self.size)
        // The entry is removed now.
        #expect(try await !read(session, server).response.isFromCache)
    }

    @Test("A delegate can delay, suspend, cancel or download a stored response")
    func delegates() async throws {
        let answers = Locked(0)
        let server = try await server(answers)
        let folder = try ServerDirectory()
        let session = try session(folder)
        _ = try await read(session, server)
        let request = ClientRequest(.get, server.url("/big"))
        let slow = Recorder()
        slow.queueBlock.withLock { $0 = true }
        let task = session.dataTask(for: request, delegate: slow)
        task.resume()
        await slow.wait { $0.contains("blocked") }
        task.suspend()
        #expect(task.countOfBytesReceived <= 2 << 20)
        slow.gate.open()
        task.resume()
        await slow.wait { $0.last == "complete" }
        #expect(slow.size.withLock { $0 } == Self.size && task.response?.isFromCache == true)
        let unwilling = Recorder(.cancel)
        let refused = session.dataTask(for: request, delegate: unwilling)
        #expect(await failure { try await refused.finished() }?.kind == .cancelled)
        let path = folder.path("file")
        let moved = session.dataTask(
            for: request, delegate: Recorder(.becomeDownload(path: path)))
        try await moved.finished()
        #expect(BlockContent(count: Self.size).isWhole(in: path))
        #expect(answers.withLock { $0 } == 1)
    }

    @Test("A cancelled response leaves nothing in the folder")
    func incomplete() async throws {
        let answers = Locked(0)
        let server = try await server(answers)
        let folder = try ServerDirectory()
        let session = try session(folder)
        let (content, _) = try await session.bytes(for: ClientRequest(.get, server.url("/big")))
        var count = 0
        for try await piece in content {
            count += piece.count
            if count > 4 << 20 { break }
        }
        content.task.cancel()
        _ = await failure { try await content.task.finished() }
        await session.flush()
        await session.configuration.cache?.flush()
        #expect(Files.names(folder.path("cache")) == [])
    }
}
