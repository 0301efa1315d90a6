import Foundation
import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite(
    "RFC 9110, 15.5.17 and 13.1.5: Downloads that are complete, or have changed",
    .timeLimit(.minutes(3)))
struct ResumeEndTests {
    @Test(
        "15.5.17: A 416 with the length completes the file; without it the file is fetched again",
        arguments: ["Content-Range: bytes */1000\r\n", ""])
    func lostEnd(_ range: String) async throws {
        let content = TestServer.pattern(1_000)
        let seen = Locked([Int?]())
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                let start = ResumeRequest.start(head)
                seen.withLock { $0.append(start) }
                guard start == nil else {
                    connection.send(
                        "HTTP/1.1 416 No\r\n\(range)ETag: \"1\"\r\nContent-Length: 4\r\n\r\nnone")
                    continue
                }
                connection.send(
                    "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nTransfer-Encoding: chunked\r\n\r\n")
                connection.send("3e8\r\n")
                connection.send(content)
                if connection.index == 0 { return }
                connection.send("\r\n0\r\n\r\n")
            }
        }
        let folder = try ServerDirectory()
        let response = try await ClientSession(.ephemeral).download(
            for: ClientRequest(.get, peer.url()), to: folder.path("file"))
        #expect(response.status == .ok)
        #expect(Files.read(folder.path("file")) == content && Files.names(folder.path) == ["file"])
        // If the length stays unknown, the file is fetched again.
        #expect(seen.withLock { $0 } == (range.isEmpty ? [nil, 1_000, nil] : [nil, 1_000]))
    }

    @Test(
        "15.5.17: A 416 with another length or validator does not complete the file",
        arguments: [("2000", "\"1\""), ("1000", "\"2\"")])
    func unsatisfied(_ length: String, _ tag: String) async throws {
        let content = TestServer.pattern(2_000)
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                guard ResumeRequest.start(head) == nil else {
                    connection.send(
                        "HTTP/1.1 416 No\r\nContent-Range: bytes */\(length)\r\nETag: \(tag)\r\n"
                            + "Content-Length: 0\r\n\r\n")
                    continue
                }
                if connection.index == 0 {
                    connection.send(
                        "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nTransfer-Encoding: chunked\r\n\r\n"
                            + "3e8\r\n")
                    connection.send([UInt8](repeating: 0, count: 1_000))
                    return
                }
                connection.send("HTTP/1.1 200 OK\r\nETag: \"2\"\r\nContent-Length: 2000\r\n\r\n")
                connection.send(content)
            }
        }
        #expect(try await ResumeRequest.download(peer, ClientSession(.ephemeral)) == content)
    }

    @Test("15.5.17: New content as long as the received part does not complete the old file")
    func shorterNow() async throws {
        let content = TestServer.pattern(500)
        let seen = Locked([Int?]())
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                let start = ResumeRequest.start(head)
                seen.withLock { $0.append(start) }
                guard start == nil else {
                    connection.send(
                        "HTTP/1.1 416 No\r\nContent-Range: bytes */500\r\nContent-Length: 0\r\n\r\n"
                    )
                    continue
                }
                if connection.index == 0 {
                    connection.send(
                        "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 1000\r\n\r\n")
                    connection.send([UInt8](repeating: 0, count: 500))
                    return
                }
                connection.send("HTTP/1.1 200 OK\r\nETag: \"2\"\r\nContent-Length: 500\r\n\r\n")
                connection.send(content)
            }
        }
        #expect(try await ResumeRequest.download(peer, ClientSession(.ephemeral)) == content)
        #expect(seen.withLock { $0 } == [nil, 500, nil])
    }

    private func part(_ folder: ServerDirectory, _ peer: ScriptedPeer, _ bytes: [UInt8]) throws
        -> ResumeData
    {
        try folder.write(".part", bytes)
        return ResumeData(
            url: try #require(URL(string: peer.url())), partialPath: folder.path(".part"),
            offset: Int64(bytes.count), validator: "\"1\"")
    }

    @Test("14.4: After a part with an unknown total length, the next part is requested")
    func unknownTotal() async throws {
        let content = TestServer.pattern(1_000)
        let seen = Locked([Int?]())
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                let start = ResumeRequest.start(head)
                seen.withLock { $0.append(start) }
                switch start {
                case nil:
                    connection.send(
                        "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nTransfer-Encoding: chunked\r\n\r\n")
                    connection.send("190\r\n")
                    connection.send(Array(content[..<400]))
                    return
                case 1_000?:
                    connection.send(
                        "HTTP/1.1 416 No\r\nContent-Range: bytes */1000\r\nETag: \"1\"\r\n"
                            + "Content-Length: 0\r\n\r\n")
                case let start?:
                    // The first of them also ends early.
                    let end = start + 300
                    let sent = start == 400 ? end - 100 : end
                    connection.send(
                        "HTTP/1.1 206 Part\r\nETag: \"1\"\r\nTransfer-Encoding: chunked\r\n"
                            + "Content-Range: bytes \(start)-\(min(end, 1_000) - 1)/*\r\n\r\n")
                    let piece = Array(content[start..<min(sent, 1_000)])
                    connection.send(String(piece.count, radix: 16) + "\r\n")
                    connection.send(piece)
                    connection.send("\r\n0\r\n\r\n")
                }
            }
        }
        #expect(try await ResumeRequest.download(peer, ClientSession(.ephemeral)) == content)
        #expect(seen.withLock { $0 } == [nil, 400, 600, 900, 1_000])
    }

    @Test("15.5.17: A later task finds that the file is complete")
    func wholeLater() async throws {
        let content = TestServer.pattern(1_000)
        let peer = try ScriptedPeer { connection in
            while connection.head() != nil {
                connection.send(
                    "HTTP/1.1 416 No\r\nContent-Range: bytes */1000\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let folder = try ServerDirectory()
        let task = ClientSession(.ephemeral).downloadTask(
            resuming: try part(folder, peer, content), to: folder.path("file"))
        try await task.finished()
        #expect(Files.read(folder.path("file")) == content && Files.names(folder.path) == ["file"])
        #expect(task.response?.status == .ok && task.response?.fields[.eTag] == "\"1\"")
    }

    @Test(
        "A later task that gets an error status returns its resume data",
        arguments: [503, 404, 401])
    func refusedLater(_ status: Int) async throws {
        let content = TestServer.pattern(1_000)
        let isBack = Locked(false)
        let count = Locked(0)
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                count.withLock { $0 += 1 }
                guard isBack.withLock({ $0 }) else {
                    connection.send("HTTP/1.1 \(status) No\r\nContent-Length: 2\r\n\r\nno")
                    continue
                }
                let start = ResumeRequest.start(head) ?? 0
                connection.send(
                    "HTTP/1.1 206 Part\r\nETag: \"1\"\r\nContent-Length: \(1_000 - start)\r\n"
                        + "Content-Range: bytes \(start)-999/1000\r\n\r\n")
                connection.send(Array(content[start...]))
            }
        }
        let folder = try ServerDirectory()
        let data = try part(folder, peer, Array(content[..<400]))
        let session = ClientSession(.ephemeral)
        let task = session.downloadTask(resuming: data, to: folder.path("file"))
        task.keepsPartialFile = true
        let error = await failure { try await task.finished() }
        #expect(error?.kind == .badResponse && error?.message.contains("\(status)") == true)
        let rest = try #require(error?.resumeData)
        #expect(rest == data)
        // A client error is final, a server error may be temporary.
        #expect(count.withLock { $0 } == (status < 500 ? 1 : 8))
        isBack.withLock { $0 = true }
        try await session.downloadTask(resuming: rest, to: folder.path("file")).finished()
        #expect(Files.read(folder.path("file")) == content && Files.names(folder.path) == ["file"])
    }

    @Test("With unrequested Content-Encoding the file keeps the coded bytes, and is resumed")
    func unaskedCoding() async throws {
        let archive = TestServer.pattern(1_000)
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                let start = ResumeRequest.start(head) ?? 0
                let range =
                    start > 0 ? "206 Part\r\nContent-Range: bytes \(start)-999/1000" : "200 OK"
                connection.send(
                    "HTTP/1.1 \(range)\r\nETag: \"1\"\r\nContent-Encoding: gzip\r\n"
                        + "Content-Length: \(1_000 - start)\r\n\r\n")
                connection.send(Array(archive[start..<(start == 0 ? 400 : 1_000)]))
                if start == 0 { return }
            }
        }
        #expect(try await ResumeRequest.download(peer, ClientSession(.ephemeral)) == archive)
        #expect(peer.connectionCount == 2)
    }

    @Test(
        "RFC 9110, 15.3.7: A part whose Content-Length differs from its range is refused",
        arguments: ["9223372036854775807", "601", "599", "0"])
    func lengthOfRange(_ length: String) async throws {
        let content = TestServer.pattern(1_000)
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                guard ResumeRequest.start(head) != nil else {
                    connection.send(
                        "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 1000\r\n\r\n")
                    connection.send(Array(content[..<400]))
                    return
                }
                connection.send(
                    "HTTP/1.1 206 Part\r\nETag: \"1\"\r\nContent-Range: bytes 400-999/1000\r\n"
                        + "Content-Length: \(length)\r\n\r\n")
                connection.send(Array(content[400...]))
            }
        }
        let error = await failure {
            try await ResumeRequest.download(peer, ClientSession(.ephemeral))
        }
        #expect(error?.kind == .badResponse, "\(String(describing: error))")
    }

    @Test(
        "A partial file in use is neither written by a second task nor discarded",
        arguments: [true, false])
    func inUse(_ secondGetsRest: Bool) async throws {
        let content = TestServer.pattern(1_000)
        let gate = DispatchSemaphore(value: 0)
        let peer = try ScriptedPeer { connection in
            while connection.head() != nil {
                guard secondGetsRest || connection.index == 0 else {
                    connection.send(
                        "HTTP/1.1 200 OK\r\nETag: \"2\"\r\nContent-Length: 1000\r\n\r\n")
                    connection.send(content)
                    continue
                }
                connection.send(
                    "HTTP/1.1 206 Part\r\nETag: \"1\"\r\nContent-Length: 600\r\n"
                        + "Content-Range: bytes 400-999/1000\r\n\r\n")
                connection.send(Array(content[400..<500]))
                if connection.index == 0 { gate.wait() }
                connection.send(Array(content[500...]))
            }
        }
        let folder = try ServerDirectory()
        let data = try part(folder, peer, Array(content[..<400]))
        let first = ClientSession(.ephemeral).downloadTask(
            resuming: data, to: folder.path("file"))
        let begun = Locked(false)
        first.onResumable = { _ in begun.withLock { $0 = true } }
        async let end: Void = { _ = try await first.finished() }()
        try await waitUntil { begun.withLock { $0 } && first.countOfBytesReceived == 500 }
        let second = ClientSession(.ephemeral).downloadTask(
            resuming: data, to: folder.path("other"))
        second.keepsPartialFile = true
        let error = await failure { try await second.finished() }
        #expect(error?.kind == .cannotWriteFile && error?.message.contains("another") == true)
        data.discard()
        gate.signal()
        try await end
        #expect(Files.read(folder.path("file")) == content && Files.names(folder.path) == ["file"])
    }

    @Test(
        "The names of partial files are recognized",
        arguments: [
            (".f.0", true), (".f.zz9", true), (".f.3w5e11264sgsf", true), ("f.1", false),
            (".f", false), (".f.", false), (".f.A", false), (".f.01", false), (".f.+1", false),
            (".f.3w5e11264sgsg", false), (".env", false), (".g.1", false), (".f.1/x", false),
        ])
    func names(_ name: String, _ isPart: Bool) {
        #expect(PartialFile.isName(name, for: "f") == isPart)
    }

    @Test("Resume data is reported before content is written, and again when it changes")
    func resumable() async throws {
        let peer = try ScriptedPeer { connection in
            while connection.head() != nil {
                let tag = connection.index == 2 ? "" : "ETag: \"\(connection.index)\"\r\n"
                connection.send("HTTP/1.1 200 OK\r\n\(tag)Content-Length: 1000\r\n\r\n")
                connection.send(TestServer.pattern(connection.index == 2 ? 1_000 : 400))
                if connection.index < 2 { return }
            }
        }
        let folder = try ServerDirectory()
        let task = ClientSession(.ephemeral).downloadTask(
            for: ClientRequest(.get, peer.url()), to: folder.path("file"))
        let seen = Locked([String?]())
        task.onResumable = { data in
            // None of the new content is written yet.
            let size = data.flatMap { Files.read($0.partialPath)?.count } ?? 0
            let isRight = size == 0 && data?.offset ?? 0 == 0 && data?.measured() == nil
            seen.withLock { $0.append(isRight ? data?.validator : "wrong") }
        }
        try await task.finished()
        #expect(seen.withLock { $0 } == ["\"0\"", "\"1\"", nil])
    }

    @Test("An error response does not report resume data")
    func resumableError() async throws {
        let peer = try ScriptedPeer { connection in
            while connection.head() != nil {
                connection.send(
                    "HTTP/1.1 404 No\r\nETag: \"1\"\r\nContent-Length: 2\r\n\r\nno")
            }
        }
        let folder = try ServerDirectory()
        let task = ClientSession(.ephemeral).downloadTask(
            for: ClientRequest(.get, peer.url()), to: folder.path("file"))
        let count = Locked(0)
        task.onResumable = { _ in count.withLock { $0 += 1 } }
        let error = await failure { try await task.finished() }
        #expect(error?.kind == .unexpectedStatus && count.withLock { $0 } == 0)
    }

    @Test(
        "The offset of resume data is measured from the partial file",
        arguments: [
            (nil, 9, nil), (0, 9, nil), (1, 9, 1), (8, 9, 8), (9, 9, 9), (10, 9, nil),
            (10, nil, 10),
        ] as [(Int?, Int64?, Int64?)])
    func measured(_ size: Int?, _ length: Int64?, _ offset: Int64?) throws {
        let folder = try ServerDirectory()
        if let size { try folder.write(".part", [UInt8](repeating: 0, count: size)) }
        let data = ResumeData(
            url: try #require(URL(string: "http://a.example/")), partialPath: folder.path(".part"),
            offset: 3, validator: "\"1\"", expectedLength: length)
        #expect(data.measured()?.offset == offset)
    }
}
