import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("Uploaded files on disk")
struct UploadTests {
    struct Unknown: Error {}

    private static let file = Content.noise(700_000)

    private static func form(_ count: Int = 1) -> [UInt8] {
        (0..<count).flatMap { Content.part("f\($0)", file, filename: "n\($0)", type: "a/b") }
            + Content.end
    }

    @Test("Uploaded files are complete, private to their owner, and removed afterwards")
    func lifetime() async throws {
        let disk = try ServerDirectory()
        let input = Content.post(Content.multipart, Self.form(2))
        let (answer, goesOn) = try await Content.answer(input) { request in
            let form = try await request.form(filesBelow: disk.path)
            let file = try #require(form.file("f1"))
            let folder = Content.folder(of: file.path)
            #expect(file.mediaType == MediaType("a", "b"))
            #expect(file.size == 700_000)
            #expect(Content.bytes(file.path) == Self.file)
            #expect(try await file.content() == Self.file)
            await #expect(throws: SystemError.self) { try await file.content(upTo: 699_999) }
            #expect(Content.permissions(file.path) == 0o600)
            #expect(Content.permissions(folder) == 0o700)
            #expect(Content.names(in: folder).count == 2)
            return .text("\(Content.names(in: disk.path).count)")
        }
        #expect(answer.text == "1")
        #expect(goesOn)
        #expect(try await Content.holds(disk.path, 0))
    }

    @Test("A file stays as long as a reference to it exists")
    func held() async throws {
        let disk = try ServerDirectory()
        let kept = Locked<UploadedFile?>(nil)
        let input = Content.post(Content.multipart, Self.form())
        _ = try await Content.answer(input) { request in
            let form = try await request.form(filesBelow: disk.path)
            kept.withLock { $0 = form.files.first }
            return Response(.ok)
        }
        #expect(kept.withLock { $0.map { Content.bytes($0.path) } } == Self.file)
        kept.withLock { $0 = nil }
        #expect(try await Content.holds(disk.path, 0))
    }

    @Test("Files are stored in the system's folder for temporary files by default")
    func systemFolder() async throws {
        let path = Locked("")
        let input = Content.post(Content.multipart, Self.form())
        _ = try await Content.answer(input) { request in
            let form = try await request.form()
            path.withLock { $0 = form.files.first?.path ?? "" }
            return Response(.ok)
        }
        let folder = path.withLock { Content.folder(of: $0) }
        #expect(folder.contains("/http-upload-"))
        #expect(try await Content.holds(folder, 0))
    }

    @Test("A handler that fails leaves no files", arguments: [true, false])
    func failure(isAfterForm: Bool) async throws {
        let disk = try ServerDirectory()
        // Without its end the form itself fails, once the file is on the disk.
        let content = isAfterForm ? Self.form() : Array(Self.form().dropLast(10))
        let input = Content.post(Content.multipart, content)
        let (answer, goesOn) = try await Content.answer(input) { request in
            _ = try await request.form(filesBelow: disk.path)
            throw Unknown()
        }
        #expect(answer.status == (isAfterForm ? 500 : 400))
        #expect(goesOn)
        #expect(try await Content.holds(disk.path, 0))
    }

    @Test("A client that disconnects during its upload leaves no files", arguments: [true, false])
    func clientGone(isReset: Bool) async throws {
        let disk = try ServerDirectory()
        let outcome = ServerLog<String>()
        let client = MemoryConnection(
            AsyncHandler { request in
                do {
                    _ = try await request.form(filesBelow: disk.path)
                } catch {
                    outcome.add("\(error)")
                    throw error
                }
                return Response(.ok)
            })
        let content = Self.form(3)
        let head =
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: \(Content.multipart)\r\n"
            + "Content-Length: \(content.count)\r\n\r\n"
        client.send(head)
        client.feed([.bytes(Array(content[..<1_500_000]))])
        try await client.wait(for: "the content") { $0.received == head.utf8.count + 1_500_000 }
        #expect(try await Content.holds(disk.path, 1))
        if isReset { client.hangUp() } else { client.end() }
        try await client.closed()
        #expect(try await Content.holds(disk.path, 0))
        // The file is removed before the handler gets the error.
        try await waitUntil { outcome.entries.count == 1 }
    }

    // MARK: Moving

    @Test("A file can be moved to a permanent path")
    func moved() async throws {
        let disk = try ServerDirectory()
        let input = Content.post(Content.multipart, Self.form())
        let (answer, _) = try await Content.answer(input) { request in
            let form = try await request.form(filesBelow: disk.path)
            try await form.files[0].move(to: disk.path("kept"))
            return .text("moved")
        }
        #expect(answer.text == "moved")
        #expect(try await Content.holds(disk.path, 1))
        #expect(Content.bytes(disk.path("kept")) == Self.file)
        #expect(Content.permissions(disk.path("kept")) == 0o644)
    }

    @Test("Moving replaces an existing file only if `replaces` is true", arguments: [true, false])
    func replacing(replaces: Bool) async throws {
        let disk = try ServerDirectory()
        try disk.write("kept", "old")
        let input = Content.post(Content.multipart, Self.form())
        let (answer, _) = try await Content.answer(input) { request in
            let form = try await request.form(filesBelow: disk.path)
            do {
                try await form.files[0].move(
                    to: disk.path("kept"), replaces: replaces, permissions: 0o600)
                return .text("moved")
            } catch let error as SystemError {
                return .text(error.reason)
            }
        }
        #expect(answer.text == (replaces ? "moved" : "File exists"))
        #expect(try await Content.holds(disk.path, 1))
        let content = replaces ? Self.file : Array("old".utf8)
        #expect(Content.bytes(disk.path("kept")) == content)
    }

    #if os(Linux)
        @Test(
            "A file can be moved to another file system", .enabled(if: Content.hasMemoryDisk),
            arguments: [true, false])
        func copied(isFree: Bool) async throws {
            let disk = try ServerDirectory()
            if !isFree { try disk.write("kept", "old") }
            let path = Locked("")
            let input = Content.post(Content.multipart, Self.form())
            let (answer, _) = try await Content.answer(input) { request in
                let form = try await request.form(filesBelow: Content.memoryDisk)
                let file = form.files[0]
                path.withLock { $0 = file.path }
                do {
                    try await file.move(to: disk.path("kept"))
                    return .text("moved")
                } catch let error as SystemError {
                    return .text(error.reason)
                }
            }
            #expect(answer.text == (isFree ? "moved" : "File exists"))
            #expect(try await Content.holds(disk.path, 1))
            let content = isFree ? Self.file : Array("old".utf8)
            #expect(Content.bytes(disk.path("kept")) == content)
            let folder = path.withLock { Content.folder(of: $0) }
            #expect(folder.hasPrefix(Content.memoryDisk + "/http-upload-"))
            #expect(try await Content.holds(folder, 0))
        }
    #endif

    @Test(
        "A safe file name has no path, and is nil where none remains",
        arguments: [
            ("a.txt", "a.txt"), ("../../etc/passwd", "passwd"), ("C:\\x\\ü.txt", "ü.txt"),
            ("..", nil), ("a/", nil),
        ] as [(String, String?)])
    func safeNames(filename: String, safe: String?) async throws {
        let content = Content.part("f", Self.file, filename: filename) + Content.end
        let input = Content.post(Content.multipart, content)
        let (answer, _) = try await Content.answer(input) { request in
            .text("\(try await request.form().files.map(\.safeFileName))")
        }
        #expect(answer.text == "\([safe])")
    }
}
