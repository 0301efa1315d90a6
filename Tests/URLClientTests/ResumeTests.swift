import Foundation
import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("RFC 9110, 13.1.5: Resumed downloads", .timeLimit(.minutes(3)))
struct ResumeTests {
    @Test("If a server sends less than the rest, requests follow until the file is complete")
    func shortRanges() async throws {
        let content = TestServer.pattern(1_000)
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                guard let start = ResumeRequest.start(head) else {
                    connection.send(
                        "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 1000\r\n\r\n")
                    connection.send(Array(content[..<100]))
                    return
                }
                let end = min(start + 100, 1_000)
                connection.send(
                    "HTTP/1.1 206 Part\r\nETag: \"1\"\r\nContent-Length: \(end - start)\r\n"
                        + "Content-Range: bytes \(start)-\(end - 1)/1000\r\n\r\n")
                connection.send(Array(content[start..<end]))
            }
        }
        #expect(try await ResumeRequest.download(peer) == content)
    }

    @Test(
        "A part with another entity tag or length is refused, and the download restarts",
        arguments: [("\"2\"", 1_000), ("\"1\"", 2_000), ("W/\"1\"", 1_000)])
    func otherContent(_ tag: String, _ length: Int) async throws {
        let content = TestServer.pattern(length)
        let seen = Locked([Int?]())
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                let start = ResumeRequest.start(head)
                seen.withLock { $0.append(start) }
                if connection.index == 0 {
                    connection.send(
                        "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 1000\r\n\r\n")
                    connection.send([UInt8](repeating: 0, count: 400))
                    return
                }
                // The server ignores If-Range.
                let range =
                    start.map { "206 Part\r\nContent-Range: bytes \($0)-\(length - 1)/\(length)" }
                connection.send(
                    "HTTP/1.1 \(range ?? "200 OK")\r\nETag: \(tag)\r\n"
                        + "Content-Length: \(length - (start ?? 0))\r\n\r\n")
                connection.send(Array(content[(start ?? 0)...]))
            }
        }
        #expect(try await ResumeRequest.download(peer) == content)
        #expect(seen.withLock { $0 } == [nil, 400, nil])
    }

    @Test("An unrequested partial response is an error")
    func endlessParts() async throws {
        let peer = try ScriptedPeer { connection in
            while connection.head() != nil {
                if connection.index == 0 {
                    connection.send(
                        "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 1000\r\n\r\n")
                    connection.send([UInt8](repeating: 0, count: 400))
                    return
                }
                connection.send(
                    "HTTP/1.1 206 Part\r\nETag: \"2\"\r\nContent-Length: 1\r\n"
                        + "Content-Range: bytes 400-400/1000\r\n\r\n!")
            }
        }
        let error = await failure { try await ResumeRequest.download(peer) }
        #expect(error?.kind == .badResponse)
    }

    @Test(
        "8.8.2.2: a date is a validator if it is older than the response by a second",
        arguments: [(36, true), (37, false), (nil, false)] as [(Int?, Bool)])
    func dates(_ second: Int?, _ isStrong: Bool) async throws {
        let content = TestServer.pattern(1_000)
        let changed = "Sun, 06 Nov 1994 08:49:\(second ?? 36) GMT"
        let date = second == nil ? "" : "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
        let validators = Locked([String?]())
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                validators.withLock { $0.append(ResumeRequest.value("if-range", head)) }
                let start = ResumeRequest.start(head)
                let range =
                    start.map { "206 Part\r\nContent-Range: bytes \($0)-999/1000" } ?? "200 OK"
                connection.send(
                    "HTTP/1.1 \(range)\r\nLast-Modified: \(changed)\r\n\(date)"
                        + "Content-Length: \(1_000 - (start ?? 0))\r\n\r\n")
                connection.send(Array(content[(start ?? 0)..<(start == nil ? 400 : 1_000)]))
                if start == nil { return }
            }
        }
        guard isStrong else {
            let error = await failure { try await ResumeRequest.download(peer) }
            #expect(error?.kind == .truncated && peer.connectionCount == 1)
            return
        }
        #expect(try await ResumeRequest.download(peer) == content)
        #expect(validators.withLock { $0 } == [nil, changed])
    }

    @Test("A server that is unreachable for a while is tried again")
    func gap() async throws {
        let content = TestServer.pattern(300_000)
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                let start = ResumeRequest.start(head)
                let range =
                    start.map { "206 Part\r\nContent-Range: bytes \($0)-299999/300000" } ?? "200 OK"
                connection.send(
                    "HTTP/1.1 \(range)\r\nETag: \"1\"\r\n"
                        + "Content-Length: \(300_000 - (start ?? 0))\r\n\r\n")
                connection.send(Array(content[(start ?? 0)..<(start == nil ? 100_000 : 300_000)]))
                if start == nil { return }
            }
        }
        let asked = Locked(0)
        var configuration = ClientConfiguration()
        // No server listens at port 9, between the first connection and the last.
        configuration.endpoints = EndpointPolicy { _, _ in
            let count = asked.withLock { count in
                count += 1
                return count
            }
            return [ConnectTarget(host: "127.0.0.1", port: 2...3 ~= count ? 9 : peer.port)]
        }
        let folder = try ServerDirectory()
        let session = ClientSession(configuration)
        try await session.download(
            for: ClientRequest(.get, "http://files.test/"), to: folder.path("file"))
        #expect(Files.read(folder.path("file")) == content)
        #expect(asked.withLock { $0 } == 4 && peer.connectionCount == 2)
    }

    @Test("A server that stays unreachable ends the download after all attempts")
    func goneForGood() async throws {
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 1000\r\n\r\nstart")
        }
        let asked = Locked(0)
        var configuration = ClientConfiguration()
        configuration.endpoints = EndpointPolicy { _, _ in
            let isFirst = asked.withLock { count in
                count += 1
                return count == 1
            }
            return [ConnectTarget(host: "127.0.0.1", port: isFirst ? peer.port : 9)]
        }
        let folder = try ServerDirectory()
        let session = ClientSession(configuration)
        let error = await failure {
            try await session.download(
                for: ClientRequest(.get, "http://files.test/"), to: folder.path("file"))
        }
        #expect(error?.kind == .cannotConnect)
        error?.resumeData?.discard()
        #expect(Files.names(folder.path) == [])
        #expect(asked.withLock { $0 } == 1 + configuration.downloadContinuations)
    }

    @Test("A resumed download ends if the server closes each time before any content")
    func nothingNew() async throws {
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send(
                "HTTP/1.1 206 Part\r\nETag: \"1\"\r\nContent-Length: 600\r\n"
                    + "Content-Range: bytes 400-999/1000\r\n\r\n")
        }
        let folder = try ServerDirectory()
        try folder.write("part", [UInt8](repeating: 0, count: 400))
        let data = ResumeData(
            url: try #require(URL(string: peer.url())), partialPath: folder.path("part"),
            offset: 400, validator: "\"1\"", expectedLength: 1_000)
        let task = ClientSession().downloadTask(resuming: data, to: folder.path("file"))
        let error = await failure { try await task.finished() }
        #expect(error?.kind == .truncated && peer.connectionCount == 1 + 7)
    }

    private final class Told: ClientSessionDelegate {
        let entries = Locked([String]())

        func task(_ task: DownloadTask, didResumeAt offset: Int64, expectedLength: Int64?) {
            entries.withLock { $0.append("at \(offset) of \(expectedLength ?? -1)") }
        }

        func task(_ task: DownloadTask, didFinishDownloadingTo path: String) {
            entries.withLock { $0.append("file") }
        }

        func task(_ task: TransferTask, didCompleteWith error: ClientError?) {
            entries.withLock { $0.append("complete") }
        }

        func waitForEnd() async {
            _ = await soon { entries.withLock { $0.last == "complete" } }
        }
    }

    @Test("The delegate gets the offset of a resumed download, not of a restarted one")
    func told() async throws {
        let content = TestServer.pattern(1_000)
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                let start =
                    ResumeRequest.value("if-range", head) == "\"1\""
                    ? ResumeRequest.start(head) ?? 0 : 0
                let range = "206 Part\r\nContent-Range: bytes \(start)-999/1000"
                connection.send(
                    "HTTP/1.1 \(start > 0 ? range : "200 OK")\r\nETag: \"1\"\r\n"
                        + "Content-Length: \(1_000 - start)\r\n\r\n")
                connection.send(Array(content[start...]))
            }
        }
        for validator in ["\"1\"", "\"0\""] {
            let folder = try ServerDirectory()
            try folder.write("part", Array(content[..<400]))
            let data = ResumeData(
                url: try #require(URL(string: peer.url())), partialPath: folder.path("part"),
                offset: 400, validator: validator, expectedLength: 1_000)
            let told = Told()
            let session = ClientSession(delegate: told)
            session.downloadTask(resuming: data, to: folder.path("file")).resume()
            await told.waitForEnd()
            let first = validator == "\"1\"" ? ["at 400 of 1000"] : []
            #expect(told.entries.withLock { $0 } == first + ["file", "complete"])
            #expect(Files.read(folder.path("file")) == content)
        }
    }

    @Test("A download can have the longest possible file name")
    func longName() async throws {
        let server = try await TestServer()
        let folder = try ServerDirectory()
        let name = String(repeating: "文", count: 83)
        try await ClientSession().download(
            for: ClientRequest(.get, server.url("/hello")), to: folder.path(name))
        #expect(Files.read(folder.path(name)) == Array("hello".utf8))
    }

    @Test("The content limit counts a restarted download from its first byte")
    func limit() async throws {
        let content = TestServer.pattern(1_000)
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send(
                "HTTP/1.1 200 OK\r\nETag: \"\(connection.index)\"\r\n"
                    + "Content-Length: 1000\r\n\r\n")
            connection.send(Array(content[..<(connection.index == 0 ? 900 : 1_000)]))
        }
        var configuration = ClientConfiguration()
        configuration.contentLimit = 1_000
        #expect(try await ResumeRequest.download(peer, ClientSession(configuration)) == content)
    }

    @Test("A data task that becomes a download without a path leaves no file behind")
    func temporary() async throws {
        final class Becoming: ClientSessionDelegate {
            let seen = Locked((path: "", size: -1, isOver: false))

            func task(
                _ task: TransferTask, didReceiveResponse response: ClientResponse
            ) async -> ResponseDisposition { .becomeDownload(path: nil) }

            func task(_ task: DownloadTask, didFinishDownloadingTo path: String) {
                let size = Files.read(path)?.count ?? -1
                seen.withLock { ($0.path, $0.size) = (path, size) }
            }

            func task(_ task: TransferTask, didCompleteWith error: ClientError?) {
                seen.withLock { $0.isOver = true }
            }
        }
        let server = try await TestServer()
        let delegate = Becoming()
        let session = ClientSession(delegate: delegate)
        session.dataTask(for: ClientRequest(.get, server.url("/bytes/70000"))).resume()
        try await waitUntil { delegate.seen.withLock({ $0.isOver }) }
        let seen = delegate.seen.withLock { $0 }
        #expect(seen.size == 70_000 && !FileManager.default.fileExists(atPath: seen.path))
    }

    @Test("An awaited download calls its own delegate about content, and not the session's")
    func quiet() async throws {
        let server = try await TestServer()
        let folder = try ServerDirectory()
        let delegate = Recorder(.cancel)
        let session = ClientSession(delegate: delegate)
        try await session.download(
            for: ClientRequest(.get, server.url("/bytes/70000")), to: folder.path("file"))
        await withCheckedContinuation { continuation in
            session.downloadTask(for: ClientRequest(.get, server.url("/bytes/70000"))) { _, _, _ in
                continuation.resume()
            }.resume()
        }
        session.finishTasksAndInvalidate()
        await delegate.wait { $0.last == "invalid" }
        #expect(!delegate.log.contains { ["wrote", "file", "response 200"].contains($0) })
        let own = Recorder()
        try await ClientSession().download(
            for: ClientRequest(.get, server.url("/bytes/70000")), to: folder.path("own"),
            delegate: own)
        await own.wait { $0.last == "complete" }
        #expect(own.log.contains("response 200") && own.log.contains("file"))
    }
}
