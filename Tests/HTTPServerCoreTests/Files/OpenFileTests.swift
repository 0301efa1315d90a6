import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("Files kept open for further responses")
struct OpenFileTests {
    private let directory: ServerDirectory

    init() throws {
        directory = try ServerDirectory()
    }

    /// A handler that closes no file before the test ends.
    private func handler(
        root: String? = nil, _ change: (inout FileHandler.Options) -> Void = { _ in }
    ) throws -> FileHandler {
        var options = FileHandler.Options()
        change(&options)
        return try FileHandler(
            directory: root ?? directory.path, options: options, settlingSeconds: 2,
            openSeconds: 3_600)
    }

    private func get(
        _ target: String, _ handler: FileHandler, _ fields: String = ""
    ) async throws -> ServerAnswer {
        try await RouterTests.answer(handler, "GET \(target) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
    }

    /// Longer than files that are cached in memory.
    private func text(_ letter: Character) -> String { String(repeating: letter, count: 20_000) }

    @Test("An open file is reused for whole and partial responses with the same fields")
    func reused() async throws {
        let handler = try handler()
        try directory.write("a.txt", text("a"))
        let first = try await get("/a.txt", handler)
        #expect(handler.openFiles == 1 && handler.keptFiles == 0)
        let second = try await get("/a.txt", handler)
        #expect(first.text == text("a") && second.text == text("a"))
        for name in ["ETag", "Last-Modified", "Content-Type", "Content-Length", "Accept-Ranges"] {
            #expect(second[name] != nil && second[name] == first[name])
        }
        let part = try await get("/a.txt", handler, "Range: bytes=19998-\r\n")
        #expect(part.status == 206 && part.text == "aa")
        let tag = try #require(first["ETag"])
        #expect(try await get("/a.txt", handler, "If-None-Match: \(tag)\r\n").status == 304)
        #expect(handler.openFiles == 1)
    }

    @Test("Any change of an open file is seen by the next request")
    func changes() async throws {
        let handler = try handler()
        try directory.write("a.txt", text("a"))
        #expect(try await get("/a.txt", handler).text == text("a"))
        // The same length in place: only the content and, perhaps, the times differ.
        try directory.write("a.txt", text("b"))
        #expect(try await get("/a.txt", handler).text == text("b"))
        try directory.write("a.txt", text("b") + "c")
        #expect(try await get("/a.txt", handler).text == text("b") + "c")
        try directory.write("new", text("d"))
        try directory.rename("new", to: "a.txt")
        #expect(try await get("/a.txt", handler).text == text("d"))
        try directory.remove("a.txt")
        #expect(try await get("/a.txt", handler).status == 404)
        try directory.makeDirectory("a.txt")
        #expect(try await get("/a.txt", handler).status == 301)
    }

    @Test("Files that are reached through a link are not kept open")
    func links() async throws {
        let handler = try handler()
        try directory.makeDirectory("folder")
        try directory.write("folder/a.txt", text("a"))
        try directory.link("b.txt", to: "folder/a.txt")
        try directory.link("linked", to: "folder")
        #expect(try await get("/b.txt", handler).text == text("a"))
        #expect(try await get("/linked/a.txt", handler).text == text("a"))
        #expect(handler.openFiles == 0)
    }

    @Test("After a parent folder becomes a link out of the root, an open file is 404")
    func folderBecomesLink() async throws {
        try directory.makeDirectory("root")
        try directory.makeDirectory("root/folder")
        try directory.write("root/folder/a.txt", text("a"))
        let handler = try handler(root: directory.path("root"))
        #expect(try await get("/folder/a.txt", handler).text == text("a"))
        #expect(handler.openFiles == 1)
        try directory.rename("root/folder", to: "outside")
        try directory.link("root/folder", to: "../outside")
        #expect(try await get("/folder/a.txt", handler).status == 404)
    }

    @Test("The number and the size of open files are limited, and a limit of 0 keeps none")
    func bounded() async throws {
        let handler = try handler { $0.openFileLimit = 2 }
        for number in 0..<4 {
            try directory.write("\(number)", text("x"))
            #expect(try await get("/\(number)", handler).status == 200)
            #expect(handler.openFiles == min(number + 1, 2))
        }
        try directory.write("limit", [UInt8](repeating: 0x78, count: 1 << 20))
        try directory.write("large", [UInt8](repeating: 0x78, count: (1 << 20) + 1))
        let fresh = try self.handler()
        #expect(try await get("/large", fresh).content.count == (1 << 20) + 1)
        #expect(fresh.openFiles == 0)
        #expect(try await get("/limit", fresh).content.count == 1 << 20)
        #expect(fresh.openFiles == 1)
        let refusing = try self.handler { $0.openFileLimit = 0 }
        #expect(try await get("/0", refusing).text == text("x"))
        #expect(refusing.openFiles == 0)
    }

    @Test("Open files are closed after their time, without another request")
    func closed() async throws {
        // Longer than a busy machine takes from the response to the check below.
        let handler = try FileHandler(
            directory: directory.path, settlingSeconds: 2, openSeconds: 8)
        for _ in 0..<2 {
            try directory.write("a.txt", text("a"))
            #expect(try await get("/a.txt", handler).status == 200)
            #expect(handler.openFiles == 1)
            try await waitUntil { handler.openFiles == 0 }
        }
    }
}
