import Foundation
import TestSupport
import Testing

@Suite("httpkit serve --webdav: what is beside it", .fewAtOnce)
struct WebDAVServeTests {
    private func status(
        _ server: ServeProcess, _ arguments: String..., path: String
    ) async throws -> String {
        let all = ["-s", "-m", "60", "-o", "/dev/null", "-w", "%{http_code}"]
        return try await Program.run("curl", all + arguments + [server.url(path)]).text
    }

    @Test func ourOwnFolderIsNeitherListedNorServedAndGoes() async throws {
        let share = try Folder()
        try share.write("x", to: "a")
        let server = try await ServeProcess(share, ["--webdav", "/dav", "--show-hidden"])
        #expect(try await status(server, "-T", share.path + "/a", path: "/dav/b") == "201")
        let own = share.path + "/.httpkit-dav"
        #expect(FileManager.default.fileExists(atPath: own))
        let list = try await server.curl("-H", "Accept: application/json", path: "/")
        #expect(list.text.contains("\"b\"") && !list.text.contains("httpkit-dav"))
        let inside = try FileManager.default.contentsOfDirectory(atPath: own)
        for path in ["", "/"] + inside.map({ "/\($0)/" }) {
            let encodings = [
                "/.httpkit-dav", "/.httpkit%2Ddav", "/x/../.httpkit-dav", "/.HTTPKIT-dav",
            ]
            for folder in encodings + ["/dav/.httpkit-dav"] {
                #expect(try await status(server, path: folder + path) == "404", "\(folder)\(path)")
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
        for method in ["GET", "PUT", "PROPFIND", "OPTIONS", "DELETE"] {
            let answer = try await status(
                server, "-X", method, "-H", "Host: evil.example", path: "/dav/a")
            #expect(answer == "421", "\(method)")
        }
        #expect(try await status(server, "-H", "Host: evil.example", path: "/a") == "421")
        for host in ["files.example.org", "localhost:1", "printer.local", "[::1]"] {
            #expect(try await status(server, "-H", "Host: \(host)", path: "/dav/a") == "200")
        }
        #expect(share.text("a") == "x")
    }

    @Test func filesAreBesideItOnOnePort() async throws {
        let share = try Folder()
        try share.write("<p>page", to: "index.html")
        let server = try await ServeProcess(share, ["--webdav", "/dav", "--echo", "/echo"])
        #expect(try await server.curl(path: "/").text == "<p>page")
        #expect(try await server.curl(path: "/dav/index.html").text == "<p>page")
        #expect(try await server.curl(path: "/echo").text.contains("\"method\""))
        // Only one of them takes files.
        #expect(try await status(server, "-X", "PUT", "-d", "x", path: "/index.html") == "405")
        #expect(try await status(server, "-X", "PUT", "-d", "x", path: "/dav/new") == "201")
        #expect(try await server.curl(path: "/new").text == "x")
    }

    @Test func locksAreKeptInAFile() async throws {
        let (share, place) = (try Folder(), try Folder())
        let flags = ["--webdav", "/dav", "--webdav-locks", place.path + "/locks"]
        let info = """
            <D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype>\
            <D:write/></D:locktype></D:lockinfo>
            """
        let first = try await ServeProcess(share, flags)
        #expect(try await status(first, "-X", "LOCK", "-d", info, path: "/dav/a") == "201")
        first.signal(SIGTERM)
        _ = await first.waitForEnd()
        let second = try await ServeProcess(share, flags)
        #expect(try await status(second, "-X", "PUT", "-d", "x", path: "/dav/a") == "423")
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
