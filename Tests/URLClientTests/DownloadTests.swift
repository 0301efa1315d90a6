import Foundation
import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import URLClient

@Suite("Downloads", .timeLimit(.minutes(10)))
struct DownloadTests {
    /// Serves content with ranges. `cut` gives the bytes after which a connection breaks off.
    private func peer(
        _ content: [UInt8], tag: @escaping @Sendable (Int) -> String = { _ in "\"1\"" },
        cut: @escaping @Sendable (Int) -> Int?
    ) throws -> ScriptedPeer {
        try ScriptedPeer { connection in
            while let head = connection.head() {
                let lines = head.split(separator: "\r\n")
                func value(_ name: String) -> String? {
                    lines.first { $0.lowercased().hasPrefix("\(name): ") }
                        .map { String($0.dropFirst(name.count + 2)) }
                }
                let tag = tag(connection.index)
                var start = 0
                if let range = value("range"), value("if-range") == tag {
                    start = Int(range.dropFirst("bytes=".count).dropLast()) ?? 0
                }
                let rest = content.count - start
                let range = "bytes \(start)-\(content.count - 1)/\(content.count)"
                let status = start > 0 ? "206 Part\r\nContent-Range: \(range)" : "200 OK"
                connection.send(
                    "HTTP/1.1 \(status)\r\nETag: \(tag)\r\nContent-Length: \(rest)\r\n\r\n")
                if let cut = cut(connection.index), cut < rest {
                    connection.send(Array(content[start..<(start + cut)]))
                    return connection.reset()
                }
                connection.send(start == 0 ? content : Array(content[start...]))
            }
        }
    }

    /// The size of the download whose connections break; the environment can set it.
    private static var size: Int {
        ProcessInfo.processInfo.environment["URLCLIENT_DOWNLOAD_MIB"].flatMap(Int.init)
            .map { $0 << 20 } ?? 24 << 20
    }

    @Test("A download over twenty broken connections gives one correct file")
    func killed() async throws {
        let content = BlockContent(count: Self.size)
        let part = Self.size / 21
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                let range = head.split(separator: "\r\n").first { $0.hasPrefix("Range: bytes=") }
                let start = range.flatMap { Int($0.dropFirst(13).dropLast()) } ?? 0
                let part = part + connection.index * 7
                let status = "bytes \(start)-\(content.count - 1)/\(content.count)"
                connection.send(
                    (start > 0 ? "HTTP/1.1 206 Part\r\nContent-Range: \(status)\r\n" : Self.ok)
                        + "ETag: \"1\"\r\nContent-Length: \(content.count - start)\r\n\r\n")
                guard connection.index == 20 else {
                    content.send(from: start, upTo: start + part, to: connection)
                    return connection.reset()
                }
                content.send(from: start, to: connection)
            }
        }
        let folder = try ServerDirectory()
        let task = ClientSession().downloadTask(
            for: ClientRequest(.get, peer.url()), to: folder.path("file"))
        try await task.finished()
        #expect(content.isWhole(in: folder.path("file")))
        #expect(Files.names(folder.path) == ["file"])
        #expect(peer.connectionCount == 21)
        #expect(task.countOfBytesReceived == Int64(content.count))
    }

    private static let ok = "HTTP/1.1 200 OK\r\n"

    @Test("S: A cancelled download gives resume data, which another task resumes")
    func resumeData() async throws {
        let content = TestServer.pattern(8 << 20)
        let gate = Gate()
        let peer = try peer(content) { index in
            if index == 0 { return 1 << 20 }
            gate.wait()
            return nil
        }
        let folder = try ServerDirectory()
        let session = ClientSession()
        let task = session.downloadTask(
            for: ClientRequest(.get, peer.url()), to: Files.relative(folder.path("file")))
        task.resume()
        // The second connection waits for the gate, so that the task cannot end.
        try await waitUntil { peer.connectionCount >= 2 }
        let data = try #require(await task.cancelProducingResumeData())
        #expect(data.validator == "\"1\"")
        #expect(data.offset > 0 && data.offset <= 1 << 20)
        // Another run of the program may begin in another folder.
        #expect(data.partialPath.hasPrefix("/"))
        gate.open()
        let rest = session.downloadTask(resuming: data, to: folder.path("other"))
        let response = try await rest.finished()
        #expect(response.status == .partialContent)
        #expect(Files.read(folder.path("other"))?.elementsEqual(content) == true)
        #expect(Files.names(folder.path) == ["other"])
    }

    @Test("A download cancelled before the next response gives resume data, too")
    func resumeDataBetweenConnections() async throws {
        let content = TestServer.pattern(2 << 20)
        let gate = Gate()
        let tag: @Sendable (Int) -> String = { index in
            if index == 1 { gate.wait() }
            return "\"1\""
        }
        let peer = try peer(content, tag: tag) { $0 == 0 ? 1 << 20 : nil }
        let folder = try ServerDirectory()
        let task = ClientSession().downloadTask(
            for: ClientRequest(.get, peer.url()), to: folder.path("file"))
        task.resume()
        try await waitUntil { peer.connectionCount >= 2 }
        let data = await task.cancelProducingResumeData()
        gate.open()
        #expect(data?.validator == "\"1\"")
        // A connection that breaks may lose bytes that were not received yet.
        #expect((1...1 << 20).contains(data?.offset ?? 0))
    }

    @Test("A download whose content has changed starts again")
    func changed() async throws {
        let content = TestServer.pattern(3 << 20)
        let peer = try peer(content, tag: { "\"\($0)\"" }) { $0 == 0 ? 1 << 20 : nil }
        let folder = try ServerDirectory()
        try await ClientSession().download(
            for: ClientRequest(.get, peer.url()), to: folder.path("file"))
        #expect(Files.read(folder.path("file"))?.elementsEqual(content) == true)
        #expect(peer.connectionCount == 2)
    }

    @Test(
        "A response that is not a success does not replace a file",
        arguments: [304, 400, 404, 500, 503])
    func refused(_ code: Int) async throws {
        let page = code == 304 ? "" : "no such\nthing"
        let peer = try ScriptedPeer { connection in
            while connection.head() != nil {
                connection.send(
                    "HTTP/1.1 \(code) Told\r\nETag: \"1\"\r\n"
                        + "Content-Length: \(page.utf8.count)\r\n\r\n\(page)")
            }
        }
        let folder = try ServerDirectory()
        try folder.write("file", Array("as it was".utf8))
        let session = ClientSession()
        let request = ClientRequest(.get, peer.url())
        let error = await failure {
            try await session.download(for: request, to: folder.path("file"))
        }
        #expect(error?.kind == .unexpectedStatus)
        #expect(error?.message == "\(code) Told" + (page.isEmpty ? "" : ": \(page)"))
        #expect(error?.resumeData == nil)
        let task = session.downloadTask(for: request, to: folder.path("new"))
        task.keepsPartialFile = true
        #expect(await failure { try await task.finished() }?.kind == .unexpectedStatus)
        #expect((task.response?.status.code).map(Int.init) == code)
        #expect(Files.names(folder.path) == ["file"])
        #expect(Files.read(folder.path("file")) == Array("as it was".utf8))
        // A download to a temporary file accepts any response.
        let temporary = session.downloadTask(for: request)
        let held = try await temporary.finished()
        #expect(Int(held.status.code) == code)
        #expect(Files.read(temporary.path) == Array(page.utf8))
        // The caller has to remove it.
        #expect(Files.remove(temporary.path))
    }

    @Test("A long error page is neither read to its end nor written")
    func longRefusal() async throws {
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send("HTTP/1.1 503 Busy\r\nContent-Length: 50000000\r\n\r\n")
            BlockContent(count: 50_000_000).send(from: 0, to: connection)
        }
        let folder = try ServerDirectory()
        let task = ClientSession().downloadTask(
            for: ClientRequest(.get, peer.url()), to: folder.path("file"))
        task.keepsPartialFile = true
        let error = await failure { try await task.finished() }
        #expect(error?.kind == .unexpectedStatus && error?.resumeData == nil)
        #expect(error?.message.hasPrefix("503 Busy: ") == true)
        #expect(task.countOfBytesReceived < 4 << 20)
        #expect(Files.names(folder.path).isEmpty)
    }

    @Test("A failed download leaves no partial file, and keeps the old file")
    func failed() async throws {
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")
        }
        let folder = try ServerDirectory()
        try folder.write("file", Array("before".utf8))
        let error = await failure {
            try await ClientSession().download(
                for: ClientRequest(.get, peer.url()), to: folder.path("file"))
        }
        #expect(error?.kind == .truncated)
        #expect(Files.names(folder.path) == ["file"])
        #expect(Files.read(folder.path("file")) == Array("before".utf8))
        let nowhere = await failure {
            try await ClientSession().download(
                for: ClientRequest(.get, peer.url()), to: folder.path("none/file"))
        }
        #expect(nowhere?.kind == .cannotWriteFile)
    }

    @Test("S9: With a slow reader at most 2 MiB are received ahead")
    func slowReader() async throws {
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n")
            BlockContent(count: 50_000_000).send(from: 0, to: connection)
        }
        let (content, _) = try await ClientSession().bytes(for: ClientRequest(.get, peer.url()))
        var iterator = content.makeAsyncIterator()
        var count = try #require(try await iterator.next()).count
        let received = try await settled { Int(content.task.countOfBytesReceived) }
        #expect(received <= 2 << 20)
        while let piece = try await iterator.next() {
            #expect(piece.count <= 512 << 10)
            count += piece.count
        }
        #expect(count == 50_000_000)
    }

    @Test("D16: A download has one file open, however many pieces arrive")
    func oneDescriptor() async throws {
        let content = TestServer.pattern(400_000)
        let gates = [Gate(), Gate()]
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(content.count)\r\n\r\n")
            connection.send(Array(content[..<100_000]))
            gates[0].wait()
            for start in stride(from: 100_000, to: 300_000, by: 2_000) {
                connection.send(Array(content[start..<(start + 2_000)]))
                Pause.milliseconds(1)
            }
            gates[1].wait()
            connection.send(Array(content[300_000...]))
            connection.waitForEnd()
        }
        let folder = try ServerDirectory()
        let task = ClientSession(.ephemeral).downloadTask(
            for: ClientRequest(.get, peer.url()), to: folder.path("file"))
        task.resume()
        #expect(await soon { task.countOfBytesReceived == 100_000 })
        #expect(Files.descriptorCount(below: folder.path) == 1)
        gates[0].open()
        #expect(await soon { task.countOfBytesReceived == 300_000 })
        #expect(Files.descriptorCount(below: folder.path) == 1)
        gates[1].open()
        try await task.finished()
        #expect(Files.descriptorCount(below: folder.path) == 0)
        #expect(Files.read(folder.path("file"))?.elementsEqual(content) == true)
    }

    /// Until it runs its program, a child process has a copy of each descriptor.
    @Test("A copy of its descriptor does not keep a partial file in use")
    func copiedDescriptor() async throws {
        let gate = Gate()
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 9\r\n\r\npart")
            gate.wait()
        }
        var configuration = ClientConfiguration.ephemeral
        configuration.downloadContinuations = 0
        let folder = try ServerDirectory()
        let task = ClientSession(configuration).downloadTask(
            for: ClientRequest(.get, peer.url()), to: folder.path("file"))
        task.resume()
        #expect(await soon { task.countOfBytesReceived == 4 })
        let copies = Files.descriptors(below: folder.path).map { dup($0) }
        defer { for copy in copies { close(copy) } }
        gate.open()
        let error = await failure { try await task.finished() }
        #expect(copies.count == 1 && Files.names(folder.path).count == 1)
        error?.resumeData?.discard()
        #expect(Files.names(folder.path) == [])
    }

    /// Runs in a separate process, because all threads share the current folder.
    private static func elsewhere() async throws {
        let (folder, other) = (try ServerDirectory(), try ServerDirectory())
        let server = try await TestServer()
        let files = FileManager.default
        try #require(files.changeCurrentDirectoryPath(folder.path))
        let task = ClientSession().downloadTask(
            for: ClientRequest(.get, server.url("/hello")), to: "file")
        try #require(files.changeCurrentDirectoryPath(other.path))
        try await task.finished()
        try #require(Files.names(folder.path) == ["file"] && Files.names(other.path).isEmpty)
        try #require(task.path.hasPrefix("/") && task.path.hasSuffix("/file"))
    }

    @Test("A relative path belongs to the folder that is current when the task is created")
    func otherFolder() async {
        await #expect(processExitsWith: .success) { try await DownloadTests.elsewhere() }
    }
}
