import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import ResumableUploads
import TestSupport
import Testing

@Suite("Resumable uploads: Responses of finished uploads, and misleading requests")
struct UploadAnswerTests {
    private let tus = "Tus-Resumable: 1.0.0"
    private let type = "Content-Type: application/offset+octet-stream"

    @Test("tus: HEAD after a refusal has the status of the refusal")
    func refusedByTus() async throws {
        let client = try UploadClient(answer: { _ in throw HTTPError(.conflict, "it is taken") })
        let begun = try await client.send("POST", "/up/f", [tus, "Upload-Length: 1"], "")
        let location = try #require(begun["Location"])
        let fields = [tus, type, "Upload-Offset: 0"]
        #expect(try await client.send("PATCH", location, fields, "x").status == 409)
        for _ in 0..<2 {
            let told = try await client.send("HEAD", location, [tus])
            #expect(told.status == 409 && told["Upload-Offset"] == nil)
            #expect(told["Cache-Control"] == "no-store" && told["Tus-Resumable"] == "1.0.0")
        }
        #expect(client.received.withLock { $0 }.count == 1)
    }

    @Test("A user's oldest stored responses are dropped for newer ones, also after a restart")
    func keptAnswers() async throws {
        var options = ResumableUploadHandler.Options()
        options.uploadsPerUser = 2
        let client = try UploadClient(options: options)
        var locations: [String] = []
        for _ in 0..<5 {
            let location = try await client.begin()
            #expect(try await client.append(location, at: 0, "x", isLast: true).status == 201)
            locations.append(location)
        }
        #expect(try FolderNames.of(client.disk).count == 2)
        var statuses: [Int] = []
        for location in locations {
            statuses.append(try await client.send("HEAD", location).status)
        }
        #expect(statuses == [404, 404, 404, 204, 204])
        options.uploadsPerUser = 1
        _ = try UploadClient(on: client.disk, options: options)
        #expect(try FolderNames.of(client.disk).count == 1)
    }

    @Test("A wrong offset of a complete upload is 409 with Upload-Complete: ?1")
    func wrongOffsetAfterTheEnd() async throws {
        let client = try UploadClient()
        let location = try await client.begin()
        #expect(try await client.append(location, at: 0, "x", isLast: true).status == 201)
        for offset in [0, 2] {
            let answer = try await client.append(location, at: offset, "x", isLast: true)
            #expect(answer.status == 409 && answer["Upload-Offset"] == "1")
            #expect(answer["Upload-Complete"] == "?1")
            #expect(answer.text.contains("mismatching-upload-offset"))
        }
    }

    @Test("Parameters of fields are ignored, even if they begin with a combining character")
    func parameters() async throws {
        let client = try UploadClient()
        let answer = try await client.send(
            "PUT", "/up/f", ["Upload-Complete: ?1;\u{301}a=1"], "x")
        #expect(answer.status == 201 && answer["Upload-Complete"] == "?1")
    }

    @Test("Cookies of a response are not stored")
    func cookies() async throws {
        let client = try UploadClient(answer: { _ in
            Response(.created, fields: ["Set-Cookie": "session=1", "X-Inner": "yes"])
        })
        let location = try await client.begin()
        let answer = try await client.append(location, at: 0, "x", isLast: true)
        #expect(answer["Set-Cookie"] == "session=1")
        let again = try await client.append(location, at: 1, "", isLast: true)
        #expect(again.status == 201 && again["X-Inner"] == "yes" && again["Set-Cookie"] == nil)
    }

    @Test(
        "An incomplete upload announced with the field of another version is refused",
        arguments: [
            ["Upload-Incomplete: ?1"],
            ["Upload-Incomplete: ?1", "Upload-Draft-Interop-Version: 5"],
            ["Upload-Incomplete: ?1", "Upload-Draft-Interop-Version: 8"],
            ["Upload-Complete: ?0", "Upload-Draft-Interop-Version: 3"],
            ["Upload-Complete: ?0", "Upload-Draft-Interop-Version: 4"],
        ])
    func otherVersion(fields: [String]) async throws {
        let client = try UploadClient()
        #expect(try await client.send("PUT", "/up/f", fields, "x").status == 400)
        #expect(client.received.withLock { $0 }.isEmpty)
    }

    @Test("The media type of the protocol is not passed on as that of the file")
    func mediaType() async throws {
        let client = try UploadClient()
        let begun = try await client.send("POST", "/up/f", [tus, type, "Upload-Length: 3"], "abc")
        #expect(begun.status == 201)
        let received = try #require(client.received.withLock { $0.first })
        #expect(received["Content-Type"] == nil && received.content == Array("abc".utf8))
    }

    @Test("A condition on a compressed variant does not remove the coding of the content")
    func codedWithCondition() async throws {
        let client = try UploadClient(compressesUploads: true)
        let fields = ["Upload-Complete: ?1", "Content-Encoding: gzip", "If-Match: \"abc-gzip\""]
        let content = try Array("whole".utf8).gzipped()
        #expect(try await client.send("PUT", "/up/f", fields, content).status == 201)
        #expect(client.received.withLock { $0.first }?.content == Array("whole".utf8))
    }
}
