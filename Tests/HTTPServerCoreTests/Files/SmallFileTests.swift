import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("Small files cached in memory")
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

    @Test("Any change of a cached file is seen by the next request")
    func changes() async throws {
        let handler = try handler()
        try directory.write("a.txt", "first")
        #expect(try await get("/a.txt", handler).text == "first")
        #expect(handler.keptFiles == 1)
        // File times may not change for a few milliseconds.
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

    @Test("A file that has just been written is not cached, because its times may not change again")
    func unsettled() async throws {
        let handler = try handler(settlingSeconds: 3_600)
        try directory.write("a.txt", "first")
        // A past modification date does not help, because the change time counts.
        try directory.setModified("a.txt", 784_111_777)
        #expect(try await get("/a.txt", handler).text == "first")
        #expect(handler.keptFiles == 0)
    }

    @Test(
        "The age of a file is computed for extreme times, too",
        arguments: [(.min, true), (0, true), (.max, false)] as [(Int64, Bool)])
    func oddTimes(_ seconds: Int64, _ isUntouched: Bool) throws {
        try directory.write("a.txt", "text")
        let file = OpenFile(owning: try Syscalls.openFile(directory.path("a.txt")))
        var status = try #require(RootDirectory.status(of: file.descriptor))
        (status.modifiedSeconds, status.changedSeconds) = (seconds, seconds)
        #expect(status.isUntouched(for: 2) == isUntouched)
    }

    @Test("Larger files are not cached, and a cache size of 0 keeps none")
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

    @Test("The cache is bounded")
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

    @Test("A file that is reached through a link is not cached")
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

    @Test(
        "After a parent folder becomes a link out of the root, a cached file is 404",
        arguments: [1, 2, 3])
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
        // The file's times do not change.
        try directory.rename("root/0", to: "outside")
        try directory.link("root/0", to: "../outside")
        #expect(try await get(target, handler).status == 404)
    }

    @Test("Index files are cached like others, and the first existing one is served")
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

    @Test("Plain files are cached until a precompressed one appears")
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
