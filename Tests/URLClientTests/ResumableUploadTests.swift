import HTTPParser
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("Resumed uploads", .timeLimit(.minutes(2)))
struct ResumableUploadTests {
    @Test("The credential of a request is not sent to an upload URL at another origin")
    func otherOrigin() async throws {
        let heads = Locked([String]())
        let other = try ScriptedPeer { connection in
            while let head = connection.head() {
                let isFirst = heads.withLock { heads -> Bool in
                    heads.append(head)
                    return heads.count == 1
                }
                connection.send(
                    "HTTP/1.1 \(isFirst ? 401 : 404) No\r\n"
                        + "WWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let place = other.url("/x")
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            _ = connection.content(4)
            guard connection.index == 0 else {
                connection.send("HTTP/1.1 201 Made\r\nContent-Length: 0\r\n\r\n")
                return
            }
            connection.send(
                "HTTP/1.1 104 Go\r\nUpload-Draft-Interop-Version: 8\r\nLocation: \(place)\r\n\r\n")
        }
        let folder = try ServerDirectory()
        try folder.write("data", Array("data".utf8))
        var request = ClientRequest(.put, peer.url())
        request.credential = .password(user: "me", password: "secret")
        let upload = ResumableUpload(
            request, fromFile: folder.path("data"), in: ClientSession(.ephemeral))
        let (_, response) = try await upload.finished()
        #expect(response.status == .created)
        let seen = heads.withLock { $0 }
        #expect(seen.first?.hasPrefix("HEAD /x ") == true)
        #expect(seen.allSatisfy { !$0.lowercased().contains("authorization") }, "\(seen)")
    }

    @Test(
        "Only 404 and 410 restart the upload; after other errors the offset is requested again",
        arguments: [401, 403, 429, 404, 410])
    func refusedOffset(_ status: Int) async throws {
        let lines = Locked([String]())
        let isForgotten = status == 404 || status == 410
        let response = try await upload(
            ["\(status) No"] + (isForgotten ? [] : ["204 Here\r\nUpload-Offset: 2"]) + ["201 Made"],
            lines)
        #expect(response.status == .created)
        let rest = isForgotten ? ["PUT /"] : ["HEAD /x", "PATCH /x"]
        #expect(lines.withLock { $0 } == ["PUT /", "HEAD /x"] + rest)
    }

    /// Uploads four bytes to a server that sends the URL of the upload, closes the connection, and
    /// responds to later requests in turn.
    private func upload(
        _ answers: [String], _ lines: Locked<[String]>
    ) async throws -> ClientResponse {
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                let line = head.split(separator: " ").prefix(2).joined(separator: " ")
                let number = lines.withLock { lines -> Int in
                    lines.append(line)
                    return lines.count
                }
                if line != "HEAD /x" {
                    let length = ResumeRequest.value("content-length", head).flatMap { Int($0) }
                    _ = connection.content(length ?? 0)
                }
                guard number > 1 else {
                    connection.send(
                        "HTTP/1.1 104 Go\r\nUpload-Draft-Interop-Version: 8\r\n"
                            + "Location: /x\r\n\r\n")
                    return
                }
                connection.send("HTTP/1.1 \(answers[number - 2])\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let folder = try ServerDirectory()
        try folder.write("data", Array("data".utf8))
        let upload = ResumableUpload(
            ClientRequest(.put, peer.url()), fromFile: folder.path("data"),
            in: ClientSession(.ephemeral))
        return try await upload.finished().1
    }

    @Test("A response that says that content is missing does not end the upload")
    func incomplete() async throws {
        let lines = Locked([String]())
        let response = try await upload(
            [
                "200 OK\r\nUpload-Offset: 1", "200 OK\r\nUpload-Complete: ?0",
                "200 OK\r\nUpload-Offset: 3", "201 Made\r\nUpload-Complete: ?1",
            ], lines)
        #expect(response.status == .created)
        #expect(lines.withLock { $0 } == ["PUT /", "HEAD /x", "PATCH /x", "HEAD /x", "PATCH /x"])
    }

    @Test("An upload that is complete although its response was lost succeeds")
    func lostAnswer() async throws {
        let lines = Locked([String]())
        let response = try await upload(
            [
                "204 Here\r\nUpload-Offset: 4\r\nUpload-Complete: ?1",
                "400 Complete\r\nUpload-Complete: ?1",
            ], lines)
        #expect(response.status == .noContent)
        #expect(lines.withLock { $0 } == ["PUT /", "HEAD /x", "PATCH /x"])
    }
}
