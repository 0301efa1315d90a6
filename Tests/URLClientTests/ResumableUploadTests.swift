import HTTPParser
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("Uploads that go on", .timeLimit(.minutes(1)))
struct ResumableUploadTests {
    @Test("The credential of a request does not go to another origin that the server names")
    func otherOrigin() async throws {
        let heads = Locked([String]())
        let other = try ScriptedPeer { connection in
            while let head = connection.head() {
                heads.withLock { $0.append(head) }
                connection.send(
                    "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\n"
                        + "Content-Length: 0\r\n\r\n")
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
}
