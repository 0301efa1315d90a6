import Foundation
import HTTPParser
import TestSupport
import Testing

@Suite("httpkit serve: flags for files", .fewAtOnce, .overTLSToo)
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
        Int(try await server.send(.head, path).status.code)
    }

    @Test func directoriesAreListedUnlessThatIsOff() async throws {
        #expect(try await status(try await server([]), "/") == 200)
        let quiet = try await server(["--no-listing"])
        #expect(try await status(quiet, "/") == 404)
        #expect(try await status(quiet, "/f.txt") == 200)
        #expect(try await quiet.get("/site/").text == "index\n")
    }

    @Test func hiddenFilesAreServedOnlyOnDemand() async throws {
        let closed = try await server([])
        #expect(try await status(closed, "/.hidden") == 404)
        #expect(try await !closed.get().text.contains(".hidden"))
        let open = try await server(["--show-hidden"])
        #expect(try await open.get("/.hidden").text == "hidden\n")
        #expect(try await open.get().text.contains(".hidden"))
    }

    @Test func anotherFileMayStandForItsDirectory() async throws {
        #expect(try await server([]).get("/site/").text == "index\n")
        #expect(try await server(["--index", "start.html"]).get("/site/").text == "start\n")
        let none = try await server(["--index", "none.html"]).get("/site/").text
        #expect(none.contains("start.html") && none.contains("<html"))
    }

    @Test func cachesKeepFilesAsLongAsIsSaid() async throws {
        func cacheControl(_ flags: [String]) async throws -> String? {
            try await server(flags).send(.head, "/f.txt").fields[.cacheControl]
        }
        #expect(try await cacheControl([]) == "no-cache")
        #expect(try await cacheControl(["--cache-age", "60"]) == "public, max-age=60")
    }
}
