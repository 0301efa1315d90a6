import Foundation
import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("RFC 9110, 15.4: A download that is resumed at another origin", .timeLimit(.minutes(2)))
struct ResumeOriginTests {
    private static let content = TestServer.pattern(1_000)

    /// Sends the rest, and records the heads of the requests for it.
    private func holder(_ heads: Locked<[String]>) throws -> ScriptedPeer {
        try ScriptedPeer { connection in
            while let head = connection.head() {
                heads.withLock { $0.append(head) }
                let start = ResumeRequest.start(head) ?? 0
                connection.send(
                    "HTTP/1.1 206 Part\r\nETag: \"1\"\r\nContent-Length: \(1_000 - start)\r\n"
                        + "Content-Range: bytes \(start)-999/1000\r\n\r\n")
                connection.send(Array(Self.content[start...]))
            }
        }
    }

    private func refuser(_ status: Int, _ heads: Locked<[String]>) throws -> ScriptedPeer {
        try ScriptedPeer { connection in
            while let head = connection.head() {
                heads.withLock { $0.append(head) }
                connection.send("HTTP/1.1 \(status) No\r\nContent-Length: 2\r\n\r\nno")
            }
        }
    }

    @Test(
        "Credentials, cookies and fields of the request are not sent to the other origin",
        arguments: [503, 401])
    func secrets(_ status: Int) async throws {
        let (first, others) = (Locked([String]()), Locked([String]()))
        let refuser = try refuser(status, first)
        let holder = try holder(others)
        let folder = try ServerDirectory()
        try folder.write("part", Array(Self.content[..<400]))
        // An earlier task was redirected to the origin of the partial file.
        let data = ResumeData(
            url: try #require(URL(string: holder.url("/file"))), partialPath: folder.path("part"),
            offset: 400, validator: "\"1\"", expectedLength: 1_000)
        var request = ClientRequest(
            .get, "http://first.test/",
            fields: [.authorization: "Bearer secret", .cookie: "a=b", "X-Key": "secret"])
        request.connectTo = ConnectTarget(host: "127.0.0.1", port: refuser.port)
        request.credential = .password(user: "ada", password: "secret")
        let task = ClientSession(.ephemeral).downloadTask(
            resuming: data, request: request, to: folder.path("file"))
        try await task.finished()
        #expect(Files.read(folder.path("file")) == Self.content)
        let asked = first.withLock { $0 }
        #expect(asked.count == 1)
        let seen = others.withLock { $0 }
        #expect(seen.count == 1 && seen.first?.hasPrefix("GET /file ") == true)
        for name in ["authorization", "cookie", "x-key"] {
            #expect(asked.first.flatMap { ResumeRequest.value(name, $0) } != nil)
            #expect(seen.first.flatMap { ResumeRequest.value(name, $0) } == nil, "\(seen)")
        }
        #expect(seen.first.flatMap { ResumeRequest.start($0) } == 400)
        #expect(seen.first.flatMap { ResumeRequest.value("if-range", $0) } == "\"1\"")
    }
}
