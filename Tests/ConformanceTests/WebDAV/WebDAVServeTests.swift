import Foundation
import HTTPParser
import TestSupport
import Testing
import URLClient

@Suite("httpkit serve --webdav: what is beside it", .fewAtOnce)
struct WebDAVServeTests {
    @Test func ourOwnFolderIsNeitherListedNorServedAndGoes() async throws {
        let share = try Folder()
        try share.write("x", to: "a")
        let server = try await ServeProcess(share, ["--webdav", "/dav", "--show-hidden"])
        #expect(try await server.status(.put, "/dav/b", body: .file(share.path + "/a")) == 201)
        let own = share.path + "/.httpkit-dav"
        #expect(FileManager.default.fileExists(atPath: own))
        let list = try await server.get("/", [.accept: "application/json"])
        #expect(list.text.contains("\"b\"") && !list.text.contains("httpkit-dav"))
        let inside = try FileManager.default.contentsOfDirectory(atPath: own)
        for path in ["", "/"] + inside.map({ "/\($0)/" }) {
            let encodings = [
                "/.httpkit-dav", "/.httpkit%2Ddav", "/x/../.httpkit-dav", "/.HTTPKIT-dav",
            ]
            for folder in encodings + ["/dav/.httpkit-dav"] {
                #expect(try await server.status(.get, folder + path) == 404, "\(folder)\(path)")
            }
        }
        server.signal(SIGTERM)
        #expect(await server.waitForEnd() == 0)
        #expect(!FileManager.default.fileExists(atPath: own))
    }

    @Test func otherHostsAreRefused() async throws {
        let share = try Folder()
        try share.write("x", to: "a")
        let server = try await ServeProcess(
            share, ["--webdav", "/dav", "--allow-host", "Files.Example.org"])
        for method in [HTTPMethod.get, .put, .propfind, .options, .delete] {
            let answer = try await server.status(method, "/dav/a", [.host: "evil.example"])
            #expect(answer == 421, "\(method)")
        }
        #expect(try await server.status(.get, "/a", [.host: "evil.example"]) == 421)
        for host in ["files.example.org", "localhost:1", "printer.local", "[::1]"] {
            #expect(try await server.status(.get, "/dav/a", [.host: host]) == 200)
        }
        #expect(share.text("a") == "x")
    }

    @Test func filesAreBesideItOnOnePort() async throws {
        let share = try Folder()
        try share.write("<p>page", to: "index.html")
        let server = try await ServeProcess(share, ["--webdav", "/dav", "--echo", "/echo"])
        #expect(try await server.get("/").text == "<p>page")
        #expect(try await server.get("/dav/index.html").text == "<p>page")
        #expect(try await server.get("/echo").text.contains("\"method\""))
        // Only one of them takes files.
        #expect(try await server.status(.put, "/index.html", body: .text("x")) == 405)
        #expect(try await server.status(.put, "/dav/new", body: .text("x")) == 201)
        #expect(try await server.get("/new").text == "x")
    }

    @Test func locksAreKeptInAFile() async throws {
        let (share, place) = (try Folder(), try Folder())
        let flags = ["--webdav", "/dav", "--webdav-locks", place.path + "/locks"]
        let info = """
            <D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype>\
            <D:write/></D:locktype></D:lockinfo>
            """
        let first = try await ServeProcess(share, flags)
        #expect(try await first.status(.lock, "/dav/a", body: .text(info)) == 201)
        first.signal(SIGTERM)
        _ = await first.waitForEnd()
        let second = try await ServeProcess(share, flags)
        #expect(try await second.status(.put, "/dav/a", body: .text("x")) == 423)
        let wrong = try await Program.run(
            Program.httpkit, ["serve", share.path, "--webdav-locks", "x"])
        #expect(wrong.status == 64)
    }

    @Test func theWholeServerIsAskedForItsClasses() async throws {
        let server = try await ServeProcess(try Folder(), ["--webdav", "/dav"])
        let answer = try await server.curl("-i", "-X", "OPTIONS", "--request-target", "*")
        #expect(answer.text.contains("DAV: 1, 2, 3\r\n"))
        #expect(answer.text.contains("MS-Author-Via: DAV\r\n"))
    }
}
