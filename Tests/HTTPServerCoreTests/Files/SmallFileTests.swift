import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("Small files kept in memory")
struct SmallFileTests {
    private let directory: ServerDirectory

    init() throws {
        directory = try ServerDirectory()
    }

    private func handler(
        settlingSeconds: Int64 = 0, _ change: (inout FileHandler.Options) -> Void = { _ in }
    ) throws -> FileHandler {
        var options = FileHandler.Options()
        change(&options)
        return try FileHandler(
            directory: directory.path, options: options, settlingSeconds: settlingSeconds)
    }

    private func get(_ target: String, _ handler: FileHandler) async throws -> ServerAnswer {
        try await RouterTests.answer(handler, "GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
    }

    @Test("A file that changes in whatever way is sent as it is now")
    func changes() async throws {
        let handler = try handler()
        try directory.write("a.txt", "first")
        #expect(try await get("/a.txt", handler).text == "first")
        #expect(handler.keptFiles == 1)
        // Times may stand still for a few milliseconds.
        try await Task.sleep(for: .milliseconds(20))
        try directory.write("a.txt", "other")
        #expect(try await get("/a.txt", handler).text == "other")
        try await Task.sleep(for: .milliseconds(20))
        try directory.write("new", "moved")
        try directory.rename("new", to: "a.txt")
        #expect(try await get("/a.txt", handler).text == "moved")
        try directory.remove("a.txt")
        #expect(try await get("/a.txt", handler).status == 404)
        #expect(handler.keptFiles == 0)
        try directory.makeDirectory("a.txt")
        #expect(try await get("/a.txt", handler).status == 301)
        #expect(handler.keptFiles == 0)
    }

    @Test("A file that has just been written is not kept: its times may not move once more")
    func unsettled() async throws {
        let handler = try handler(settlingSeconds: 3_600)
        try directory.write("a.txt", "first")
        // A past date of modification does not help: the change time tells.
        try directory.setModified("a.txt", 784_111_777)
        #expect(try await get("/a.txt", handler).text == "first")
        #expect(handler.keptFiles == 0)
    }

    @Test(
        "A file with any time is judged",
        arguments: [(.min, true), (0, true), (.max, false)] as [(Int64, Bool)])
    func oddTimes(_ seconds: Int64, _ isUntouched: Bool) throws {
        try directory.write("a.txt", "text")
        let file = OpenFile(owning: try Syscalls.openFile(directory.path("a.txt")))
        var status = try #require(RootDirectory.status(of: file.descriptor))
        (status.modifiedSeconds, status.changedSeconds) = (seconds, seconds)
        #expect(status.isUntouched(for: 2) == isUntouched)
    }

    @Test("Larger files are not kept in memory, and none when it is turned off")
    func notKept() async throws {
        let keeping = try handler()
        let refusing = try handler { $0.cachedBytes = 0 }
        try directory.write("large", String(repeating: "x", count: (16 << 10) + 1))
        try directory.write("limit", String(repeating: "x", count: 16 << 10))
        #expect(try await get("/large", keeping).content.count == (16 << 10) + 1)
        #expect(keeping.keptFiles == 0)
        #expect(try await get("/limit", keeping).content.count == 16 << 10)
        #expect(keeping.keptFiles == 1)
        #expect(try await get("/limit", refusing).content.count == 16 << 10)
        #expect(refusing.keptFiles == 0)
    }

    @Test("What is kept is bounded, and what is asked for stays")
    func bounded() async throws {
        // Each file counts as 2 KiB: 16 of them are one generation.
        let handler = try handler { $0.cachedBytes = 64 << 10 }
        for number in 0..<100 {
            try directory.write("\(number)", String(repeating: "x", count: 1 << 10))
        }
        for number in 0..<100 {
            #expect(try await get("/\(number)", handler).status == 200)
            #expect(handler.keptFiles <= 32)
        }
        #expect(handler.keptFiles > 16)
    }

    @Test("A link is no file, and is not kept as one")
    func link() async throws {
        let handler = try handler()
        try directory.write("a.txt", "text")
        try directory.link("b.txt", to: "a.txt")
        #expect(try await get("/b.txt", handler).text == "text")
        #expect(try await get("/b.txt", handler).text == "text")
        #expect(handler.keptFiles == 0)
        try directory.remove("a.txt")
        #expect(try await get("/b.txt", handler).status == 404)
    }

    @Test("A folder on the way that has become a link leads nowhere", arguments: [1, 2, 3])
    func folderBecomesLink(_ depth: Int) async throws {
        try directory.makeDirectory("root")
        var folder = "root"
        for level in 0..<depth {
            folder += "/\(level)"
            try directory.makeDirectory(folder)
        }
        try directory.write(folder + "/a.txt", "text")
        let handler = try FileHandler(directory: directory.path("root"), settlingSeconds: 0)
        let target = String(folder.dropFirst(4)) + "/a.txt"
        #expect(try await get(target, handler).text == "text")
        #expect(try await get(target, handler).text == "text")
        #expect(handler.keptFiles == 1)
        // The file keeps all of its times.
        try directory.rename("root/0", to: "outside")
        try directory.link("root/0", to: "../outside")
        #expect(try await get(target, handler).status == 404)
    }

    @Test("An index file is kept as any other, and the first of them answers")
    func index() async throws {
        let handler = try handler { $0.indexFiles = ["first.html", "second.html"] }
        try directory.makeDirectory("site")
        try directory.write("site/second.html", "second")
        for _ in 0..<2 { #expect(try await get("/site/", handler).text == "second") }
        try directory.write("site/first.html", "first")
        for _ in 0..<2 { #expect(try await get("/site/", handler).text == "first") }
        #expect(handler.keptFiles == 2)
        try directory.remove("site/first.html")
        #expect(try await get("/site/", handler).text == "second")
    }

    @Test("Beside compressed files those are kept that are sent as they are")
    func precompressed() async throws {
        let handler = try handler { $0.servesPrecompressed = true }
        try directory.write("a.txt", "plain")
        for _ in 0..<2 {
            let answer = try await get("/a.txt", handler)
            #expect(answer.text == "plain" && answer["Vary"] == "Accept-Encoding")
        }
        #expect(handler.keptFiles == 1)
        try directory.write("a.txt.gz", "coded")
        let request = "GET /a.txt HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n"
        let coded = try await RouterTests.answer(handler, request)
        #expect(coded.text == "coded" && coded["Content-Encoding"] == "gzip")
        #expect(try await get("/a.txt", handler).text == "plain")
    }
}
