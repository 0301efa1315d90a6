import Foundation
import HTTPParser
import TestSupport
import Testing
import URLClient

@Suite("httpkit serve --uploader: resumed uploads", .fewAtOnce, .overTLSToo)
struct UploaderResumeServeTests {
    private struct Token: Decodable { var token: String }

    /// The fields that a browser sends: the cookie, the token, and Sec-Fetch-Site.
    private func session(_ server: ServeProcess) async throws -> HTTPFields {
        let answer = try await server.get("/up/token")
        let token = try JSONDecoder().decode(Token.self, from: Data(answer.content)).token
        let cookie = try #require(answer.fields[.setCookie]).prefix { $0 != ";" }
        return [
            .cookie: String(cookie), "X-Upload-Token": token, "Sec-Fetch-Site": "same-origin",
        ]
    }

    private func append(
        _ content: String, at offset: Int, _ location: String, _ fields: HTTPFields,
        _ server: ServeProcess
    ) async throws -> TestClient.Answer {
        var fields = fields
        fields["Upload-Offset"] = "\(offset)"
        fields["Upload-Complete"] = offset > 0 ? "?1" : "?0"
        fields[.contentType] = "application/partial-upload"
        return try await server.send(.patch, location, fields, body: .text(content))
    }

    /// The files of uploads: their records, and the content of unfinished uploads.
    private func files(_ folder: Folder) throws -> [String] {
        let parts = folder.file(".httpkit-dav/uploads-page").path
        return try FileManager.default.contentsOfDirectory(atPath: parts).map { name in
            String(decoding: Folder.bytes(at: "\(parts)/\(name)"), as: UTF8.self)
        }
    }

    @Test("An upload needs a token, and continues after a restart with a new token")
    func tokens() async throws {
        let folder = try Folder()
        var server = try await ServeProcess(folder, ["--uploader", "/up"])
        var fields = try await session(server)
        fields["Upload-Complete"] = "?0"
        let address = "/up/upload?path=/&name=a.txt"
        var bare = fields
        bare["X-Upload-Token"] = nil
        let refused = try await server.send(.post, address, bare)
        #expect(refused.status == .forbidden && refused.fields["Location"] == nil)
        let begun = try await server.send(.post, address, fields)
        let location = try #require(begun.fields["Location"])
        #expect(try await append("one ", at: 0, location, [:], server).status == .noContent)
        // The process ends, and with it the key of its tokens.
        server.signal(SIGKILL)
        _ = await server.waitForEnd()
        // The record has fields of the first request, but no secrets.
        let kept = try files(folder).map { $0.lowercased() }
        #expect(kept.contains { $0.contains("sec-fetch-site") }, "\(kept)")
        let secrets = [try #require(fields["X-Upload-Token"]), try #require(fields[.cookie])]
        for secret in secrets + ["X-Upload-Token"] {
            #expect(!kept.contains { $0.contains(secret.lowercased()) }, "\(secret) is kept")
        }
        server = try await ServeProcess(folder, ["--uploader", "/up"])
        let last = try await append("two", at: 4, location, try await session(server), server)
        #expect(last.status == .created)
        #expect(folder.text("a.txt") == "one two")
    }

    @Test("The end of an upload needs a valid token, too", arguments: [nil, "0.00"])
    func end(_ token: String?) async throws {
        let folder = try Folder()
        let server = try await ServeProcess(folder, ["--uploader", "/up"])
        var fields = try await session(server)
        fields["Upload-Complete"] = "?0"
        let begun = try await server.send(.post, "/up/upload?name=a.txt", fields)
        let location = try #require(begun.fields["Location"])
        fields["X-Upload-Token"] = token
        let other: HTTPFields = fields
        #expect(try await append("one ", at: 0, location, other, server).status == .noContent)
        let last = try await append("two", at: 4, location, other, server)
        #expect(last.status == .forbidden && last.fields["Upload-Complete"] == "?0")
        #expect(!FileManager.default.fileExists(atPath: folder.file("a.txt").path))
        // The page fetches another token, and completes the upload with it.
        let good = try await session(server)
        #expect(try await append("", at: 7, location, good, server).status == .created)
        #expect(folder.text("a.txt") == "one two")
    }

    @Test("The digest of an upload in pieces is compared with its whole content")
    func hash() async throws {
        let folder = try Folder()
        let server = try await ServeProcess(folder, ["--uploader", "/up"])
        // The digest of "one two".
        let right = "irY+KaS6FOThaI+cFeWvkIlUITWMlFsEMfhdZpd709I="
        for (name, digest, status) in [
            ("a", "sha-256=:\(right):", 201),
            ("b", "sha-256=:\(right.replacing("i", with: "j")):", 400),
        ] {
            let begun = try await server.send(
                .post, "/up/upload?name=\(name)",
                ["Upload-Complete": "?0", "Repr-Digest": digest])
            let location = try #require(begun.fields["Location"])
            _ = try await append("one ", at: 0, location, [:], server)
            let last = try await append("two", at: 4, location, [:], server)
            #expect(Int(last.status.code) == status)
        }
        #expect(folder.text("a") == "one two")
        #expect(!FileManager.default.fileExists(atPath: folder.file("b").path))
    }
}
