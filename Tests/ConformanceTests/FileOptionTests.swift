import Foundation
import TestSupport
import Testing

@Suite("httpkit serve: what the flags for files change", .fewAtOnce)
struct FileOptionTests {
    private func server(_ flags: [String]) async throws -> ServeProcess {
        let folder = try Folder()
        try folder.write("content\n", to: "f.txt")
        try folder.write("hidden\n", to: ".hidden")
        try folder.write("index\n", to: "site/index.html")
        try folder.write("start\n", to: "site/start.html")
        return try await ServeProcess(folder, flags)
    }

    private func status(_ server: ServeProcess, _ path: String) async throws -> Int {
        PlainResponse(head: try await server.curl("-I", path: path).text).status
    }

    @Test func directoriesAreListedUnlessThatIsOff() async throws {
        #expect(try await status(try await server([]), "/") == 200)
        let quiet = try await server(["--no-listing"])
        #expect(try await status(quiet, "/") == 404)
        #expect(try await status(quiet, "/f.txt") == 200)
        #expect(try await quiet.curl(path: "/site/").text == "index\n")
    }

    @Test func hiddenFilesAreServedOnlyOnDemand() async throws {
        let closed = try await server([])
        #expect(try await status(closed, "/.hidden") == 404)
        #expect(try await !closed.curl().text.contains(".hidden"))
        let open = try await server(["--show-hidden"])
        #expect(try await open.curl(path: "/.hidden").text == "hidden\n")
        #expect(try await open.curl().text.contains(".hidden"))
    }

    @Test func anotherFileMayStandForItsDirectory() async throws {
        #expect(try await server([]).curl(path: "/site/").text == "index\n")
        #expect(try await server(["--index", "start.html"]).curl(path: "/site/").text == "start\n")
        let none = try await server(["--index", "none.html"]).curl(path: "/site/").text
        #expect(none.contains("start.html") && none.contains("<html"))
    }

    @Test func cachesKeepFilesAsLongAsIsSaid() async throws {
        func cacheControl(_ flags: [String]) async throws -> String? {
            PlainResponse(head: try await server(flags).curl("-I", path: "/f.txt").text)[
                "cache-control"]
        }
        #expect(try await cacheControl([]) == "no-cache")
        #expect(try await cacheControl(["--cache-age", "60"]) == "public, max-age=60")
    }
}
