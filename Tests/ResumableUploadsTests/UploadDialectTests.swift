import HTTPCodecs
import HTTPParser
import HTTPServerCore
import ResumableUploads
import TestSupport
import Testing
import ToolkitSystem

@Suite("Resumable uploads: Versions of the protocol")
struct UploadDialectTests {
    /// A version of the draft; `nil` is the final protocol.
    struct Version: Sendable, CustomTestStringConvertible {
        var number: Int?
        var testDescription: String { number.map { "version \($0)" } ?? "final" }

        var fields: [String] { number.map { ["Upload-Draft-Interop-Version: \($0)"] } ?? [] }
        var isEarly: Bool { number ?? 9 < 5 }
        func complete(_ isComplete: Bool) -> String {
            isEarly
                ? "Upload-Incomplete: ?\(isComplete ? 0 : 1)"
                : "Upload-Complete: ?\(isComplete ? 1 : 0)"
        }
        /// Whether a response reports a complete upload.
        func isComplete(_ answer: UploadAnswer) -> Bool? {
            isEarly
                ? answer["Upload-Incomplete"].map { $0 == "?0" }
                : answer["Upload-Complete"].map { $0 == "?1" }
        }
        var mediaType: [String] {
            number ?? 9 >= 6 ? ["Content-Type: application/partial-upload"] : []
        }
    }

    static let versions = [nil, 3, 4, 5, 6, 7, 8].map { Version(number: $0) }

    @Test("A whole upload in one request is passed to the handler", arguments: versions)
    func whole(version: Version) async throws {
        let client = try UploadClient()
        let answer = try await client.send(
            "PUT", "/up/a%20b?x=1",
            version.fields + [version.complete(true), "X-Mine: 1", "Authorization: Basic eA=="],
            "hello")
        #expect(answer.status == 201 && answer["X-Inner"] == "yes" && answer.text == "done")
        #expect(version.isComplete(answer) == true)
        let interim = try #require(answer.interim.first)
        #expect(interim[0].hasPrefix("HTTP/1.1 104"))
        #expect(interim.contains { $0.hasPrefix("Location: /up/.uploads/") })
        #expect(version.fields.allSatisfy(interim.contains))
        let limit = interim.first { $0.hasPrefix("Upload-Limit: ") }
        switch version.number {
        case 3, 4, 5: #expect(limit == nil)
        // A second may have passed.
        case 6: #expect(limit?.hasPrefix("Upload-Limit: min-size=0, expires=86") == true)
        default: #expect(limit?.hasPrefix("Upload-Limit: min-size=0, max-age=86") == true)
        }
        let got = try #require(client.received.withLock { $0 }.first)
        #expect(got.method == "PUT" && got.target == "/up/a%20b?x=1")
        #expect(got.content == Array("hello".utf8))
        #expect(got["X-Mine"] == "1" && got["Authorization"] == "Basic eA==")
        #expect(got["Upload-Complete"] == nil && got["Content-Length"] == "5")
    }

    @Test("An upload in several requests is passed to the handler as a whole", arguments: versions)
    func pieces(version: Version) async throws {
        let client = try UploadClient()
        let begun = try await client.send(
            "POST", "/up/f", version.fields + [version.complete(false), "Content-Type: text/x"],
            "one")
        #expect(begun.status == 201 && version.isComplete(begun) == false)
        let location = try #require(begun["Location"])
        func append(_ offset: Int, _ text: String, _ isLast: Bool) async throws -> UploadAnswer {
            try await client.send(
                "PATCH", location,
                version.fields + version.mediaType
                    + ["Upload-Offset: \(offset)", version.complete(isLast)], text)
        }
        let second = try await append(3, "two", false)
        #expect(second.status == 204 && second["Upload-Offset"] == "6")
        #expect(version.isComplete(second) == false)
        // An interim response keeps browsers from repeating the request by themselves.
        #expect(second.interim.count == (version.isEarly ? 0 : 1))
        #expect(second.interim.allSatisfy { $0.contains("Upload-Offset: 3") })
        let told = try await client.send("HEAD", location, version.fields)
        #expect(told.status == 204 && told["Upload-Offset"] == "6")
        #expect(told["Cache-Control"] == "no-store" && version.isComplete(told) == false)
        #expect(client.received.withLock { $0 }.isEmpty)
        let last = try await append(6, "three", true)
        #expect(last.status == 201 && last.text == "done" && version.isComplete(last) == true)
        let got = client.received.withLock { $0 }
        #expect(got.map(\.content) == [Array("onetwothree".utf8)])
        #expect(got[0].method == "POST" && got[0]["Content-Type"] == "text/x")
        // A client that missed the response can ask again.
        let after = try await client.send("HEAD", location, version.fields)
        #expect(after["Upload-Offset"] == "11" && version.isComplete(after) == true)
        let again = try await append(11, "", true)
        #expect(again.status == 201 && again.text == "done")
        #expect(client.received.withLock { $0 }.count == 1)
        #expect(try await append(11, "more", true).status == 400)
    }

    @Test("tus: An upload is created, then filled in several requests")
    func tus() async throws {
        var options = ResumableUploadHandler.Options()
        options.tusMethod = .put
        let client = try UploadClient(options: options)
        let version = "Tus-Resumable: 1.0.0"
        let begun = try await client.send(
            "POST", "/up/f",
            [version, "Upload-Length: 11", "Upload-Metadata: filename YQ==,filetype dGV4dC94"], "")
        #expect(begun.status == 201 && begun["Tus-Resumable"] == "1.0.0")
        #expect(begun["Upload-Expires"] != nil && begun.interim.isEmpty)
        let location = try #require(begun["Location"])
        let fields = [version, "Content-Type: application/offset+octet-stream"]
        let first = try await client.send(
            "PATCH", location, fields + ["Upload-Offset: 0"], "hello ")
        #expect(first.status == 204 && first["Upload-Offset"] == "6")
        let told = try await client.send("HEAD", location, [version])
        #expect(told.status == 200 && told["Upload-Offset"] == "6")
        #expect(told["Upload-Length"] == "11" && told["Cache-Control"] == "no-store")
        #expect(told["Upload-Metadata"] == "filename YQ==,filetype dGV4dC94")
        let wrong = try await client.send("PATCH", location, fields + ["Upload-Offset: 5"], "x")
        #expect(wrong.status == 409 && wrong["Tus-Resumable"] == "1.0.0")
        let other = try await client.send(
            "PATCH", location, [version, "Content-Type: text/plain", "Upload-Offset: 6"], "x")
        #expect(other.status == 415)
        let last = try await client.send("PATCH", location, fields + ["Upload-Offset: 6"], "world")
        #expect(last.status == 204 && last["Upload-Offset"] == "11" && last.text == "")
        let got = try #require(client.received.withLock { $0 }.first)
        #expect(got.method == "PUT" && got.content == Array("hello world".utf8))
        #expect(got["Content-Type"] == "text/x")
    }

    @Test("tus: The extensions for content at creation, deferred length, override and termination")
    func tusExtensions() async throws {
        let client = try UploadClient()
        let version = "Tus-Resumable: 1.0.0"
        let type = "Content-Type: application/offset+octet-stream"
        let whole = try await client.send(
            "POST", "/up/f", [version, type, "Upload-Length: 3"], "one")
        #expect(whole.status == 201 && whole["Upload-Offset"] == "3" && whole["Location"] != nil)
        let deferred = try await client.send(
            "POST", "/up/f", [version, "Upload-Defer-Length: 1"], "")
        let location = try #require(deferred["Location"])
        let told = try await client.send("HEAD", location, [version])
        #expect(told["Upload-Defer-Length"] == "1" && told["Upload-Length"] == nil)
        let last = try await client.send(
            "POST", location,
            [
                version, type, "X-HTTP-Method-Override: PATCH", "Upload-Offset: 0",
                "Upload-Length: 3",
            ], "two")
        #expect(last.status == 204)
        #expect(
            client.received.withLock { $0.map(\.content) } == ["one", "two"].map { Array($0.utf8) })
        let third = try await client.send("POST", "/up/f", [version, "Upload-Length: 3"], "")
        let gone = try #require(third["Location"])
        #expect(try await client.send("DELETE", gone, [version]).status == 204)
        #expect(try await client.send("HEAD", gone, [version]).status == 404)
        let old = try await client.send("POST", "/up/f", ["Tus-Resumable: 0.2.2"], "")
        #expect(old.status == 412 && old["Tus-Version"] == "1.0.0")
        #expect(try await client.send("POST", "/up/f", [version], "").status == 400)
    }

    @Test("OPTIONS reports limits, media types and versions")
    func options() async throws {
        var options = ResumableUploadHandler.Options()
        options.byteLimit = 1_000
        let client = try UploadClient(options: options)
        let answer = try await client.send("OPTIONS", "/up/f")
        #expect(answer["Upload-Limit"] == "max-size=1000, max-age=86400")
        #expect(answer["Accept-Patch"] == "application/partial-upload")
        #expect(answer["Tus-Version"] == "1.0.0" && answer["Tus-Max-Size"] == "1000")
    }

    @Test("With an unknown version whole content is an ordinary request, and a part is 400")
    func unknownVersions() async throws {
        let client = try UploadClient()
        for version in ["2", "9", "x", "8, 8"] {
            let field = "Upload-Draft-Interop-Version: \(version)"
            let whole = try await client.send(
                "PUT", "/up/f", [field, "Upload-Complete: ?1"], "all")
            #expect(whole.status == 201 && whole.interim.isEmpty)
            let part = try await client.send("PUT", "/up/f", [field, "Upload-Complete: ?0"], "all")
            #expect(part.status == 400)
        }
        #expect(client.received.withLock { $0 }.count == 4)
    }

    @Test(
        "An Upload-Complete that is not a boolean structured field is ignored",
        arguments: ["1", "?2", "true", "?1, ?1", ""])
    func fieldsThatAreNone(value: String) async throws {
        let client = try UploadClient()
        let answer = try await client.send("PUT", "/up/f", ["Upload-Complete: \(value)"], "all")
        #expect(answer.status == 201 && answer.interim.isEmpty)
        #expect(!client.disk.exists("parts"))
    }

    @Test("Other requests go to the handler unchanged")
    func others() async throws {
        let client = try UploadClient()
        let answer = try await client.send("PUT", "/up/f", ["X-Mine: 1"], "all")
        #expect(answer.status == 201 && answer["Upload-Complete"] == nil)
        let path = "/up/.uploads/" + String(repeating: "0", count: 31)
        #expect(try await client.send("PUT", path, [], "all").status == 201)
        #expect(client.received.withLock { $0 }.count == 2 && !client.disk.exists("parts"))
    }
}
