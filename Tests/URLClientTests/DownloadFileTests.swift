import Foundation
import HTTPParser
import TestSupport
import Testing
import URLClient

@Suite("Downloads whose file cannot be opened or moved, or is incomplete", .timeLimit(.minutes(3)))
struct DownloadFileTests {
    @Test("A resumed task that cannot open the partial file returns its resume data")
    func unopened() async throws {
        let content = TestServer.pattern(1_000)
        let peer = try ScriptedPeer { connection in
            while connection.head() != nil {
                connection.send(
                    "HTTP/1.1 206 Part\r\nETag: \"1\"\r\nContent-Length: 600\r\n"
                        + "Content-Range: bytes 400-999/1000\r\n\r\n")
                connection.send(Array(content[400...]))
            }
        }
        let folder = try ServerDirectory()
        try folder.write(".part", Array(content[..<400]))
        let data = ResumeData(
            url: try #require(URL(string: peer.url())), partialPath: folder.path(".part"),
            offset: 400, validator: "\"1\"")
        // A partial file is not opened through a symbolic link.
        try FileManager.default.moveItem(
            atPath: folder.path(".part"), toPath: folder.path("aside"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.path(".part"), withDestinationPath: "aside")
        let session = ClientSession(.ephemeral)
        let task = session.downloadTask(resuming: data, to: folder.path("file"))
        let error = await failure { try await task.finished() }
        #expect(error?.kind == .cannotOpenFile, "\(String(describing: error))")
        let rest = try #require(error?.resumeData)
        #expect(rest == data)
        try FileManager.default.removeItem(atPath: folder.path(".part"))
        try FileManager.default.moveItem(
            atPath: folder.path("aside"), toPath: folder.path(".part"))
        try await session.downloadTask(resuming: rest, to: folder.path("file")).finished()
        #expect(Files.read(folder.path("file")) == content && Files.names(folder.path) == ["file"])
    }

    private static let whole =
        "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 1000\r\n\r\n"
    private static let unsatisfied =
        "HTTP/1.1 416 No\r\nContent-Range: bytes */1000\r\nETag: \"1\"\r\n"
        + "Content-Length: 0\r\n\r\n"

    @Test("A complete file that cannot be moved to its place is kept for a later task")
    func blockedPlace() async throws {
        let content = TestServer.pattern(1_000)
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                let wantsAll = ResumeRequest.start(head) == nil
                connection.send(wantsAll ? Self.whole : Self.unsatisfied)
                if wantsAll { connection.send(content) }
            }
        }
        let folder = try ServerDirectory()
        try folder.makeDirectory("file")
        try folder.write("file/inside", "x")
        let session = ClientSession(.ephemeral)
        let task = session.downloadTask(
            for: ClientRequest(.get, peer.url()), to: folder.path("file"))
        let error = await failure { try await task.finished() }
        #expect(error?.kind == .cannotWriteFile, "\(String(describing: error))")
        let rest = try #require(error?.resumeData)
        #expect(rest.offset == 1_000 && Files.read(rest.partialPath) == content)
        try FileManager.default.removeItem(atPath: folder.path("file"))
        try await session.downloadTask(resuming: rest, to: folder.path("file")).finished()
        #expect(Files.read(folder.path("file")) == content && Files.names(folder.path) == ["file"])
    }

    @Test("15.3.7: A partial response is accepted only for a request with Range")
    func unaskedPart() async throws {
        let peer = try ScriptedPeer { connection in
            while connection.head() != nil {
                connection.send(
                    "HTTP/1.1 206 Part\r\nETag: \"1\"\r\nContent-Length: 4\r\n"
                        + "Content-Range: bytes 0-3/1000\r\n\r\npart")
            }
        }
        let folder = try ServerDirectory()
        try folder.write("file", "before")
        let session = ClientSession(.ephemeral)
        let request = ClientRequest(.get, peer.url())
        let error = await failure {
            try await session.download(for: request, to: folder.path("file"))
        }
        #expect(error?.kind == .badResponse, "\(String(describing: error))")
        #expect(Files.read(folder.path("file")) == Array("before".utf8))
        var ranged = request
        ranged.fields[.range] = "bytes=0-3"
        try await session.download(for: ranged, to: folder.path("file"))
        #expect(Files.read(folder.path("file")) == Array("part".utf8))
        #expect(Files.names(folder.path) == ["file"])
    }
}
