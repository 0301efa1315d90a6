import Foundation
import HTTPParser
import TestSupport
import Testing
import URLClient

@Suite("httpkit serve --webdav, used by litmus and WebDAV clients", .fewAtOnce, .overTLSToo)
struct LitmusTests {

    /// The suites of litmus, and the number of tests in each: 104 in all. Over TLS litmus skips one
    /// test, of `Expect: 100-continue`, which uses a plain socket.
    @Test(arguments: [("basic", 16), ("copymove", 13), ("props", 30), ("locks", 41), ("http", 4)])
    func everySuitePassesWithoutWarning(_ suite: String, _ count: Int) async throws {
        _ = try Program.find("litmus")
        let (share, place) = (try Folder(), try Folder())
        let server = try await ServeProcess(share, ["--webdav", "/dav"])
        let result = try await Program.run(
            "sh",
            [
                "-c", "cd \"$0\" && TESTS=\"$1\" exec litmus -k \"$2\"", place.path, suite,
                server.url("/dav/"),
            ], limit: .seconds(300))
        #expect(result.status == 0, "\(result.text)")
        let leftOut = suite == "http" && TestTLS.current != nil ? 1 : 0
        let run = count - leftOut
        #expect(
            result.text.contains("of \(run) tests run: \(run) passed, 0 failed. 100.0%"),
            "\(result.text)")
        for word in ["WARNING", "FAIL"] + (leftOut > 0 ? [] : ["skipped", "SKIPPED"]) {
            #expect(!result.text.contains(word), "\(result.text)")
        }
    }

    @Test func theMountIsTold() async throws {
        let server = try await ServeProcess(try Folder(), ["--webdav", "/dav"])
        let told = "WebDAV at \(server.url("/dav/"))\n"
        #expect(await server.waitForOutput(told))
        let root = try await server.send(.options, "/")
        #expect(root.fields["DAV"] == "1, 2, 3, extended-mkcol, sabredav-partialupdate")
        #expect(try await server.status(.propfind, "/") == 404)
    }

    @Test func readOnlyChangesNothing() async throws {
        let folder = try Folder()
        try folder.write("old", to: "a.txt")
        let server = try await ServeProcess(folder, ["--webdav", "/dav", "--read-only"])
        for method in [HTTPMethod.put, .delete, .mkcol, .copy, .move, .proppatch, .lock] {
            let status = try await server.status(
                method, "/dav/a.txt", ["Destination": "/dav/b.txt"], body: .text("new"))
            #expect(status == 403, "\(method)")
        }
        #expect(folder.text("a.txt") == "old")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.txt"])
        let options = try await server.send(.options, "/dav/a.txt")
        #expect(options.fields["DAV"] == "1, 3")
        #expect(options.fields[.allow]?.contains("PUT") == false)
    }

    @Test func hiddenNamesAreRefusedUnlessShown() async throws {
        let folder = try Folder()
        try folder.write("secret", to: ".hidden")
        let server = try await ServeProcess(folder, ["--webdav", "/dav"])
        #expect(try await server.status(.get, "/dav/.hidden") == 404)
        let list = try await server.send(.propfind, "/dav/", ["Depth": "1"])
        #expect(!list.text.contains("hidden"))
        #expect(try await server.status(.put, "/dav/.x", body: .text("secret")) == 403)
        let other = try await ServeProcess(folder, ["--webdav", "/dav", "--show-hidden"])
        #expect(try await other.get("/dav/.hidden").text == "secret")
    }

    @Test func loginIsAskedFor() async throws {
        let server = try await ServeProcess(
            try Folder(), ["--webdav", "/dav", "--auth", "digest", "--user", "ann:secret"])
        let without = try await server.send(.options, "/dav/")
        #expect(without.status == .unauthorized)
        #expect(without.fields[.wwwAuthenticate]?.hasPrefix("Digest ") == true)
        #expect(without.fields["DAV"] == "1, 2, 3, extended-mkcol, sabredav-partialupdate")
        // Responses to preflight requests would reveal to strangers which files exist.
        for path in ["/dav/a", "/dav/", "/", "/a"] {
            let asked = try await server.send(
                .options, path,
                ["Origin": "https://evil.example", "Access-Control-Request-Method": "PUT"])
            #expect(asked.status == .unauthorized && asked.fields[.allow] == nil, "\(path)")
        }
        // The refusal arrives before the content, which some clients send only after the login.
        let put = try await server.curl(
            "-i", "-X", "PUT", "-H", "Expect: 100-continue", "-d", "x", path: "/dav/a")
        #expect(put.text.hasPrefix("HTTP/1.1 401 "))
        let with = try await server.curl(
            "--digest", "-u", "ann:secret", "-X", "MKCOL", "-w", "%{http_code}", path: "/dav/new")
        #expect(with.text == "201")
    }

    /// Writes an empty file, locks it, sends chunked content with the lock's token, and unlocks it.
    @Test func finderSaves() async throws {
        let folder = try Folder()
        let content = [UInt8].noise(300_000, seed: 4)
        try folder.write(content, to: "content")
        try folder.write("", to: "empty")
        let share = try Folder()
        let server = try await ServeProcess(share, ["--webdav", "/dav"])
        let empty = try await server.curl(
            "-T", folder.file("empty").path, "-w", "%{http_code}", path: "/dav/a.mov")
        #expect(empty.text == "201")
        let info = """
            <D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype>\
            <D:write/></D:locktype><D:owner>ann</D:owner></D:lockinfo>
            """
        let lock = try await server.curl(
            "-i", "-X", "LOCK", "-H", "Timeout: Second-600", "-H", "Depth: 0", "-d", info,
            path: "/dav/a.mov")
        let token = try #require(lock.text.firstMatch(of: /Lock-Token: <([^>]*)>/)).output.1
        let put = try await server.curl(
            "-T", folder.file("content").path, "-H", "Transfer-Encoding: chunked", "-H",
            "X-Expected-Entity-Length: 300000", "-H", "If: (<\(token)>)", "-w", "%{http_code}",
            path: "/dav/a.mov")
        #expect(put.text == "204")
        let unlock = try await server.curl(
            "-X", "UNLOCK", "-H", "Lock-Token: <\(token)>", "-w", "%{http_code}",
            path: "/dav/a.mov")
        #expect(unlock.text == "204")
        #expect(share.bytes("a.mov") == content)
    }

    @Test func cadaverWorks() async throws {
        let (share, place) = (try Folder(), try Folder())
        try place.write("content", to: "local file.txt")
        let server = try await ServeProcess(share, ["--webdav", "/dav"])
        // cadaver asks on a terminal whether to trust an authority, and has no option for it.
        let (answer, terminal) =
            TestTLS.current == nil
            ? ("", "") : ("y\n", "python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])'")
        let script = """
            \(answer)mkcol folder
            put "local file.txt"
            copy "local file.txt" "folder/a copy.txt"
            move "local file.txt" "moved 100%.txt"
            propset "moved 100%.txt" colour blue
            lock "moved 100%.txt"
            unlock "moved 100%.txt"
            get "folder/a copy.txt" back.txt
            put "local file.txt" "number 1.txt"
            move "number 1.txt" "number #1.txt"
            ls
            quit

            """
        try place.write(script, to: "script")
        let result = try await Program.run(
            "sh",
            [
                "-c", "cd \"$0\" && export HOME=\"$0\"; exec \(terminal) cadaver \"$1\" < script",
                place.path,
                server.url("/dav/"),
            ])
        #expect(result.status == 0, "\(result.text)\(result.complaints)")
        #expect(!result.text.contains("failed"), "\(result.text)")
        #expect(place.text("back.txt") == "content")
        #expect(share.text("folder/a copy.txt") == "content")
        #expect(share.text("moved 100%.txt") == "content")
        #expect(share.text("number #1.txt") == "content")
    }
}
