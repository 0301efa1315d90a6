import HTTPParser
import HTTPServerCore
import TestSupport
import Testing
import URLClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("Sessions", .timeLimit(.minutes(2)))
struct EngineTests {
    @Test("A response has its content, status, fields and version")
    func responseParts() async throws {
        let server = try await TestServer()
        let session = ClientSession()
        let (content, response) = try await session.data(
            for: ClientRequest(.get, server.url("/hello")))
        #expect(String(decoding: content, as: UTF8.self) == "hello")
        #expect(response.status == .ok)
        #expect(response.version == .http11)
        #expect(response.reasonPhrase == "OK")
        #expect(response.fields[.contentType] == "text/plain; charset=utf-8")
        #expect(response.announcedLength == 5)
        #expect(response.url.absoluteString == server.url("/hello"))
    }

    @Test("404 is a response, not an error")
    func notFound() async throws {
        let server = try await TestServer()
        let (_, response) = try await ClientSession().data(
            for: ClientRequest(.get, server.url("/nothing")))
        #expect(response.status == .notFound)
    }

    @Test("Many requests use few connections")
    func reuse() async throws {
        let peer = try ScriptedPeer { connection in
            while connection.head() != nil {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        let session = ClientSession()
        for _ in 0..<20 {
            let (content, _) = try await session.data(for: ClientRequest(.get, peer.url()))
            #expect(content == Array("ok".utf8))
        }
        #expect(peer.connectionCount == 1)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<60 {
                group.addTask { _ = try? await session.data(for: ClientRequest(.get, peer.url())) }
            }
        }
        #expect(peer.connectionCount <= 6)
    }

    @Test(
        "D4: Content of any length is sent unchanged",
        arguments: [0, 1, 16_383, 16_385, 65_537, 3 << 20 | 1])
    func bytesUpload(_ count: Int) async throws {
        let server = try await TestServer()
        let content = TestServer.pattern(count)
        let (answer, _) = try await ClientSession().upload(
            for: ClientRequest(.post, server.url("/echo")), from: .bytes(content))
        #expect(answer.elementsEqual(content))
        let seen = try #require(server.seen("/echo").first)
        #expect(seen.content.elementsEqual(content))
        #expect(seen.fields[.contentLength] == "\(count)")
    }

    @Test(
        "D5, D6: A file is sent completely and with its length",
        arguments: [0, 1, 65_537, 3 << 20 | 1])
    func fileUpload(_ count: Int) async throws {
        let server = try await TestServer()
        let folder = try ServerDirectory()
        let content = TestServer.pattern(count)
        try folder.write("file", content)
        let task = ClientSession().uploadTask(
            for: ClientRequest(.put, server.url("/echo")), from: .file(folder.path + "/file"))
        try await task.finished()
        let seen = try #require(server.seen("/echo").first)
        #expect(seen.content.elementsEqual(content))
        #expect(seen.fields[.contentLength] == "\(count)")
        #expect(task.countOfBytesSent == Int64(count))
        #expect(task.countOfBytesExpectedToSend == Int64(count))
    }

    @Test("A stream is sent chunked, or with its length if that is known")
    func streamUpload() async throws {
        let server = try await TestServer()
        let pieces = (0..<40).map { [UInt8](repeating: UInt8($0), count: 10_000) }
        let session = ClientSession()
        for length in [nil, Int64(400_000)] {
            let stream = AsyncStream { continuation in
                for piece in pieces { continuation.yield(piece) }
                continuation.finish()
            }
            let (answer, _) = try await session.upload(
                for: ClientRequest(.post, server.url("/echo")),
                from: .stream(stream, length: length))
            #expect(answer.elementsEqual(pieces.flatMap { $0 }))
        }
        let seen = server.seen("/echo")
        #expect(seen.map { $0.fields[.transferEncoding] } == ["chunked", nil])
        #expect(seen.map { $0.fields[.contentLength] } == [nil, "400000"])
    }

    @Test("Content that is not as long as announced fails the task", arguments: [3, 5])
    func wrongLength(_ length: Int64) async throws {
        let server = try await TestServer()
        let stream = AsyncStream { continuation in
            continuation.yield(Array("four".utf8))
            continuation.finish()
        }
        let error = await #expect(throws: ClientError.self) {
            try await ClientSession().upload(
                for: ClientRequest(.post, server.url("/echo")),
                from: .stream(stream, length: length))
        }
        #expect(error?.kind == .bodyFailed)
    }

    @Test("HEAD with an empty stream succeeds")
    func emptyStream() async throws {
        let server = try await TestServer()
        let (stream, continuation) = AsyncStream<[UInt8]>.makeStream()
        continuation.finish()
        let (_, response) = try await ClientSession(.ephemeral).upload(
            for: ClientRequest(.head, server.url("/hello")), from: .stream(stream, length: 0))
        #expect(response.status == .ok)
    }

    @Test(
        "A stream that continues after its announced length fails the task",
        arguments: [false, true])
    func excess(isLate: Bool) async throws {
        let isSent = Gate()
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            if connection.content(4).count == 4 { isSent.open() }
            connection.waitForEnd()
        }
        let (pieces, continuation) = AsyncStream<[UInt8]>.makeStream()
        continuation.yield(Array("four".utf8))
        if !isLate { continuation.yield([1]) }
        let task = ClientSession(.ephemeral).uploadTask(
            for: ClientRequest(.post, peer.url()), from: .stream(pieces, length: 4))
        task.resume()
        if isLate {
            try await waitUntil { isSent.isDone }
            continuation.yield([1])
        }
        let error = await failure { try await task.finished() }
        #expect(error?.kind == .bodyFailed, "\(error?.description ?? "-")")
        continuation.finish()
    }

    @Test("Streamed content arrives completely, in pieces that are not empty")
    func streaming() async throws {
        let server = try await TestServer()
        let (content, response) = try await ClientSession().bytes(
            for: ClientRequest(.get, server.url("/stream/8000000")))
        #expect(response.status == .ok)
        var count = 0
        for try await piece in content {
            #expect(!piece.isEmpty)
            count += piece.count
        }
        #expect(count == 8_000_000)
    }

    @Test("A download gives a complete file and complete progress")
    func download() async throws {
        let server = try await TestServer()
        let folder = try ServerDirectory()
        let path = folder.path + "/file"
        let task = ClientSession().downloadTask(
            for: ClientRequest(.get, server.url("/bytes/300001")), to: path)
        var last: TransferProgress?
        for await progress in task.progress { last = progress }
        #expect(Files.read(path).map { $0 == TestServer.pattern(300_001) } == true)
        #expect(last?.received == 300_001)
        #expect(last?.expectedToReceive == 300_001)
        #expect(last?.fraction == 1)
        #expect(Files.names(folder.path) == ["file"])
    }
}
