import HTTPParser
import HTTPServerCore
import HTTPServerKit
import ResumableUploads
import TestSupport
import Testing
import ToolkitSystem

#if os(Linux)
    private let isLinux = true
#else
    private let isLinux = false
#endif

@Suite("Resumable uploads: Protection against loss and confusion")
struct UploadLossTests {
    private static let partial = "Content-Type: application/partial-upload"

    /// Sends a request without content to a handler, and returns the response.
    private func ask(
        _ handler: any Handler, _ method: String, _ path: String, _ fields: String = ""
    ) async throws -> ServerAnswer {
        let connection = MemoryConnection(handler)
        connection.send(
            "\(method) \(path) HTTP/1.1\r\nHost: example.org\r\n\(fields)Connection: close\r\n\r\n")
        try await connection.wait(for: "a final answer") { UploadAnswer.isWhole($0.text) }
        connection.end()
        let output = try await connection.closed().output
        return try #require(ServerAnswer.all(output).first)
    }

    @Test("The folder may be a name relative to the working directory")
    func bareFolder() async throws {
        let folder = "upload-parts-\(UInt64.random(in: .min ... .max))"
        let uploads = ResumableUploadHandler(
            AsyncHandler { _ in Response(.created) }, folder: folder)
        defer { uploads.close() }
        var router = Router()
        router.mount("/up", uploads)
        let fields = "Upload-Complete: ?0\r\nContent-Length: 0\r\n"
        let begun = try await ask(router, "POST", "/up/f", fields)
        #expect(begun.status == 201)
        let location = try #require(begun["Location"])
        #expect(try await ask(router, "DELETE", location).status == 204)
    }

    @Test("A length below the offset is refused, and not stored")
    func lengthBelowOffset() async throws {
        let client = try UploadClient()
        let location = try await client.begin()
        _ = try await client.append(location, at: 0, "12345")
        let connection = client.open(
            "PATCH", location,
            [
                "Upload-Offset: 5", "Upload-Complete: ?0", "Upload-Length: 3",
                "Transfer-Encoding: chunked", Self.partial,
            ])
        connection.send("0\r\n\r\n")
        let answer = try await client.answer(on: connection)
        #expect(answer.status == 400 && answer.text.contains("inconsistent-upload-length"))
        #expect(try await client.append(location, at: 5, "6", isLast: true).status == 201)
        #expect(client.received.withLock { $0.map(\.content) } == [Array("123456".utf8)])
    }

    @Test("A path of an upload in the query does not make a request part of that upload")
    func uploadInQuery() async throws {
        let client = try UploadClient()
        let target = "/up/f?from=/up/.uploads/" + String(repeating: "0", count: 32)
        let answer = try await client.send("POST", target, [], "x")
        #expect(answer.status == 201 && answer["X-Inner"] == "yes")
        #expect(client.received.withLock { $0.map(\.target) } == [target])
    }

    @Test(
        "An Upload-Offset with text after its item is refused",
        arguments: ["Upload-Offset: 0 5", "Upload-Offset: 0 , 0"])
    func textBehindOffset(_ offset: String) async throws {
        let client = try UploadClient()
        let location = try await client.begin()
        let fields = [offset, "Upload-Complete: ?0", Self.partial]
        #expect(try await client.send("PATCH", location, fields, "abc").status == 400)
        #expect(try await client.offset(location) == 0)
    }

    @Test("Two values of Upload-Complete do not complete the upload")
    func twoEnds() async throws {
        let client = try UploadClient()
        let location = try await client.begin()
        let fields = ["Upload-Offset: 0", "Upload-Complete: ?1 , ?0", Self.partial]
        _ = try await client.send("PATCH", location, fields, "abc")
        #expect(client.received.withLock { $0.isEmpty })
    }

    @Test(
        "An upload whose content may not be on disk has to start again",
        // On other systems the synchronization of /dev/null succeeds.
        .enabled(if: isLinux))
    func contentNotOnDisk() async throws {
        var options = ResumableUploadHandler.Options()
        options.synchronizes = true
        options.uploadsPerUser = 1
        let isBroken = Locked(false)
        let client = try UploadClient(
            options: options,
            part: { file in
                guard isBroken.withLock({ $0 }) else { return file }
                // /dev/null accepts all content, and fails to synchronize.
                let found = try? OpenDirectory(OpenFile(owning: Syscalls.openFile("/dev")))
                    .openForAppending(Array("null".utf8))
                return found ?? file
            })
        let location = try await client.begin()
        isBroken.withLock { $0 = true }
        #expect(try await client.append(location, at: 0, "abc").status >= 500)
        #expect(try await client.send("HEAD", location).status == 404)
        isBroken.withLock { $0 = false }
        let second = try await client.begin()
        #expect(try await client.append(second, at: 0, "abc", isLast: true).status == 201)
    }

    @Test("An upload is only found below the mount where it began")
    func otherMount() async throws {
        let disk = try ServerDirectory()
        let targets = ServerLog<String>()
        let handler = AsyncHandler { request in
            targets.add(request.path)
            return Response(.created)
        }
        let uploads = ResumableUploadHandler(handler, folder: disk.path("parts"))
        defer { uploads.close() }
        var router = Router()
        router.mount("/a", uploads)
        router.mount("/b/c", uploads)
        let begun = try await ask(
            router, "POST", "/a/d/f", "Upload-Complete: ?0\r\nContent-Length: 0\r\n")
        let location = try #require(begun["Location"])
        let rest = "Upload-Offset: 0\r\nUpload-Complete: ?1\r\nContent-Length: 0\r\n"
        let other = location.replacing("/a/.uploads", with: "/b/c/.uploads")
        #expect(try await ask(router, "PATCH", other, rest + Self.partial + "\r\n").status == 404)
        #expect(targets.entries.isEmpty)
        let end = try await ask(router, "PATCH", location, rest + Self.partial + "\r\n")
        #expect(end.status == 201 && targets.entries == ["/a/d/f"])
    }

    @Test("An upload that begins at a route is found at its URL below a mount")
    func routeAndMount() async throws {
        let disk = try ServerDirectory()
        let targets = ServerLog<String>()
        let handler = AsyncHandler { request in
            let segments = request.pathSegments ?? []
            targets.add(segments.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "|"))
            return Response(.created)
        }
        let uploads = ResumableUploadHandler(handler, folder: disk.path("parts"))
        defer { uploads.close() }
        var router = Router()
        router.route(.post, "/inbox", to: uploads)
        router.mount("/.uploads", uploads)
        let begun = try await ask(
            router, "POST", "/inbox", "Upload-Complete: ?0\r\nContent-Length: 0\r\n")
        let location = try #require(begun["Location"])
        let rest = "Upload-Offset: 0\r\nUpload-Complete: ?1\r\nContent-Length: 0\r\n"
        let end = try await ask(router, "PATCH", location, rest + Self.partial + "\r\n")
        #expect(end.status == 201 && targets.entries == ["inbox"])
    }

    @Test("The handler's response is sent even if it cannot be stored")
    func answerNotKept() async throws {
        let disk = try ServerDirectory()
        let client = try UploadClient(
            on: disk,
            answer: { _ in
                let record = try #require(
                    try FolderNames.of(disk).first { $0.hasSuffix(".json") })
                // This folder prevents a new record.
                try disk.makeDirectory("parts/\(record.dropLast(5)).new")
                return Response(.created)
            })
        let location = try await client.begin()
        let answer = try await client.append(location, at: 0, "abc", isLast: true)
        #expect(answer.status == 201 && answer["Upload-Complete"] == "?1")
        #expect(client.received.withLock { $0.map(\.content) } == [Array("abc".utf8)])
        #expect(try await client.offset(location) == 3)
    }

    @Test("A stored response without its content has no fields about the content")
    func answerWithoutContent() async throws {
        let client = try UploadClient(answer: { _ in
            let body = ResponseBody.stream(mediaType: "text/plain") { writer in
                try await writer.write("done")
            }
            return Response(
                .created,
                fields: [
                    "Content-Encoding": "gzip", "Content-Digest": "sha-256=:AAAA:", "X-Inner": "1",
                ], body: body)
        })
        let location = try await client.begin()
        let first = try await client.append(location, at: 0, "abc", isLast: true)
        #expect(first.status == 201 && first["Content-Digest"] != nil)
        let version = "Tus-Resumable: 1.0.0"
        let begun = try await client.send("POST", "/up/f", [version, "Upload-Length: 3"], "")
        let tus = try await client.send(
            "PATCH", try #require(begun["Location"]),
            [version, "Content-Type: application/offset+octet-stream", "Upload-Offset: 0"], "abc")
        #expect(tus.status == 204)
        let again = try await client.append(location, at: 3, "", isLast: true)
        #expect(again.status == 201 && again.text.isEmpty)
        for answer in [tus, again] {
            #expect(answer["X-Inner"] == "1")
            #expect(answer["Content-Encoding"] == nil && answer["Content-Digest"] == nil)
        }
    }

    @Test("The lifetime of uploads may be the longest duration")
    func longestLifetime() async throws {
        var options = ResumableUploadHandler.Options()
        options.lifetime = .seconds(Int64.max)
        let client = try UploadClient(options: options)
        let location = try await client.begin()
        #expect(try await client.append(location, at: 0, "abc", isLast: true).status == 201)
        #expect(try await client.send("HEAD", location)["Upload-Complete"] == "?1")
    }
}
