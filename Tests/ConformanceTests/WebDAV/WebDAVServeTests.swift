import Foundation
import HTTPParser
import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("httpkit serve --webdav: hosts, locks, origins and other handlers", .fewAtOnce, .overTLSToo)
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
        for host in ["files.example.org", "localhost:1", "\(Syscalls.hostName()).local", "[::1]"] {
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
        // Only WebDAV accepts files.
        #expect(try await server.status(.put, "/index.html", body: .text("x")) == 405)
        #expect(try await server.status(.put, "/dav/new", body: .text("x")) == 201)
        #expect(try await server.get("/new").text == "x")
    }

    /// Requests are served in order: writers inside a folder do not block a change of the folder.
    /// Each writer copies a tree most of the time, so that there is almost always a writer at work;
    /// a request that had to wait until there is none would get no response.
    @Test func writersDoNotStarveWhoChangesTheFolder() async throws {
        let share = try Folder()
        for writer in 0..<8 {
            for file in 0..<100 { try share.write("x", to: "f/tree\(writer)/\(file)") }
        }
        let server = try await ServeProcess(share, ["--webdav", "/dav"])
        let isDone = Locked(false)
        defer { isDone.withLock { $0 = true } }
        let info = """
            <D:lockinfo xmlns:D="DAV:"><D:lockscope><D:shared/></D:lockscope><D:locktype>\
            <D:write/></D:locktype></D:lockinfo>
            """
        let counts = Locked([Int](repeating: 0, count: 8))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<8 {
                group.addTask {
                    while !isDone.withLock({ $0 }) {
                        let path = "/dav/f/\(writer)"
                        _ = try await server.status(.put, path, body: .text("content"))
                        _ = try await server.status(
                            .copy, "/dav/f/tree\(writer)", ["Destination": path + "-copy"])
                        counts.withLock { $0[writer] += 1 }
                    }
                }
            }
            defer { isDone.withLock { $0 = true } }
            func everyoneWrites() async throws {
                let before = counts.withLock { $0 }
                try await waitUntil {
                    zip(before, counts.withLock { $0 }).allSatisfy { $0 < $1 }
                }
            }
            let moves: [(HTTPMethod, String, HTTPFields)] = [
                (.move, "/dav/f", ["Destination": "/dav/g"]),
                (.move, "/dav/g", ["Destination": "/dav/f"]),
            ]
            let ends: [(HTTPMethod, String, HTTPFields)] = [
                (.delete, "/dav/f", [:]), (.mkcol, "/dav/f", [:]),
            ]
            try await everyoneWrites()
            let locked = try await server.send(
                .lock, "/dav/f/", ["Timeout": "Second-60"], body: .text(info))
            // Otherwise the lock would block all others.
            let token = try #require(locked.fields["Lock-Token"], "\(locked.text)")
            #expect(try await server.status(.unlock, "/dav/f/", ["Lock-Token": token]) == 204)
            for wishes in [moves, moves, moves, ends] {
                try await everyoneWrites()
                for (method, path, fields) in wishes {
                    let answer = try await server.send(method, path, fields)
                    #expect(answer.status.code < 300, "\(method) \(path): \(answer.text)")
                }
            }
            try await everyoneWrites()
            isDone.withLock { $0 = true }
            try await group.waitForAll()
        }
    }

    @Test("RFC 9110, 9.3.4: the response to a PUT with a decoded content coding has no entity tag")
    func decodedContent() async throws {
        let (share, place) = (try Folder(), try Folder())
        try place.write("hello", to: "plain")
        let coded = try await Program.run("gzip", ["-k", "plain"], folder: place.path)
        #expect(coded.status == 0, "\(coded.complaints)")
        let server = try await ServeProcess(share, ["--webdav", "/dav"])
        let plain = try await server.send(.put, "/dav/a", body: .file(place.path + "/plain"))
        #expect(plain.status == .created && plain.fields["ETag"] != nil)
        let decoded = try await server.send(
            .put, "/dav/b", ["Content-Encoding": "gzip"], body: .file(place.path + "/plain.gz"))
        #expect(decoded.status == .created && decoded.fields["ETag"] == nil)
        #expect(share.text("a") == "hello" && share.text("b") == "hello")
    }

    @Test func destinationsAreURLsOfTheServer() async throws {
        let share = try Folder()
        try share.write("x", to: "a")
        let server = try await ServeProcess(share, ["--webdav", "/dav"])
        for (destination, status) in [
            (server.url("/dav/b"), 201), (server.url("/dav/b"), 204),
            ("https://other.example/dav/b", 502),
        ] {
            let answer = try await server.send(.copy, "/dav/a", ["Destination": destination])
            #expect(Int(answer.status.code) == status, "\(destination)")
            // A URL of the other scheme would not be a URL of the server.
            #expect(answer.fields["Location"]?.hasPrefix("http") != true)
        }
        let listed = try await server.send(.propfind, "/dav/", ["Depth": "1"])
        #expect(listed.text.contains("<D:href>/dav/b</D:href>"))
        #expect(share.text("b") == "x")
    }

    @Test func aProxyThatChangesHostIsNamedByItsOrigin() async throws {
        let share = try Folder()
        try share.write("x", to: "a")
        let flags = ["--webdav", "/dav"]
        let without = try await ServeProcess(share, flags)
        let destination: HTTPFields = ["Destination": "https://Files.Example.org/dav/b"]
        #expect(try await without.status(.copy, "/dav/a", destination) == 502)
        let server = try await ServeProcess(
            share,
            flags + ["--origin", "https://files.example.org:443/", "--origin", "http://[::1]:81"])
        #expect(try await server.status(.copy, "/dav/a", destination) == 201)
        for (origin, status) in [
            ("https://files.example.org:443", 204), ("http://[::1]:81", 204),
            ("http://files.example.org", 502), ("https://files.example.org:8443", 502),
            ("http://[::1]", 502), ("https://files.example.org.evil.example", 502),
        ] {
            let answer = try await server.status(
                .copy, "/dav/a", ["Destination": origin + "/dav/b"])
            #expect(Int(answer) == status, "\(origin)")
        }
        // A proxy that keeps Host sends the name.
        for (host, status) in [("Files.Example.org", "200"), ("evil.example", "421")] {
            let asked = try await Program.run(
                "curl",
                ["-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Host: \(host)"]
                    + [server.url("/dav/a")])
            #expect(asked.text == status, "\(host)")
        }
        for wrong in ["files.example.org", "https://", "ftp://a", "https://a/b", "https://a@b"] {
            let started = try await Program.run(
                Program.httpkit, ["serve", share.path, "--webdav", "/dav", "--origin", wrong])
            #expect(started.status == 64, "\(wrong)")
            #expect(started.complaints.contains("https://files.example.org"), "\(wrong)")
        }
        for flag in [["--origin", "https://a"], ["--webdav-sync"]] {
            let started = try await Program.run(Program.httpkit, ["serve", share.path] + flag)
            #expect(started.status == 64, "\(flag)")
        }
    }

    /// The content of a LOCK.
    private static let lock = """
        <D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype>\
        <D:write/></D:locktype></D:lockinfo>
        """

    /// A folder to share, a folder with a file of locks that contains a lock on `a`, and the flags
    /// for both.
    private func withLock() async throws -> (share: Folder, place: Folder, flags: [String]) {
        let (share, place) = (try Folder(), try Folder())
        let flags = ["--webdav", "/dav", "--webdav-locks", place.path + "/locks"]
        let server = try await ServeProcess(share, flags)
        #expect(try await server.status(.lock, "/dav/a", body: .text(Self.lock)) == 201)
        server.signal(SIGTERM)
        _ = await server.waitForEnd()
        return (share, place, flags)
    }

    @Test func aFileOfLocksThatCannotBeWrittenIsOneLineAndStatus2() async throws {
        let (share, place, flags) = try await withLock()
        // The next start removes the lock from the file, but the shell's limit forbids writing to
        // it.
        try FileManager.default.removeItem(atPath: share.path + "/a")
        let script =
            "trap '' XFSZ; { ulimit -f 0; \"$@\"; echo \"status $?\"; } 2>&1 | cat"
        let second = try await Program.run(
            "sh",
            ["-c", script, "sh", Program.httpkit, "serve", share.path, "--port", "0"] + flags)
        #expect(
            second.text.hasPrefix("httpkit: --webdav-locks: \(place.path)/locks: "),
            "\(second.text)")
        #expect(second.text.hasSuffix(": File too large\nstatus 2\n"))
    }

    @Test func locksAreKeptInAFile() async throws {
        let (share, place, flags) = try await withLock()
        let second = try await ServeProcess(share, flags)
        #expect(try await second.status(.put, "/dav/a", body: .text("x")) == 423)
        second.signal(SIGTERM)
        _ = await second.waitForEnd()
        // A start removes the locks of resources that do not exist any more.
        #expect(place.text("locks") != "httpkit-locks 2\n")
        try FileManager.default.removeItem(atPath: share.path + "/a")
        let third = try await ServeProcess(share, flags)
        #expect(place.text("locks") == "httpkit-locks 2\n")
        #expect(try await third.status(.put, "/dav/a", body: .text("x")) == 201)
        let wrong = try await Program.run(
            Program.httpkit, ["serve", share.path, "--webdav-locks", "x"])
        #expect(wrong.status == 64)
    }

    /// Two servers would overwrite each other's locks.
    @Test func aSecondServerWithTheSameFileOfLocksDoesNotStart() async throws {
        let (share, place) = (try Folder(), try Folder())
        let file = place.path + "/locks"
        let first = try await ServeProcess(share, ["--webdav", "/dav", "--webdav-locks", file])
        let second = try await Program.run(
            Program.httpkit,
            ["serve", share.path, "--port", "0", "--webdav", "/dav", "--webdav-locks", file])
        #expect(second.status == 2)
        #expect(
            second.complaints.contains(
                "--webdav-locks: \(file): another server uses it; give each server a separate file"
            ))
        // The file is free when the first server has ended, even if it was killed.
        first.signal(SIGKILL)
        _ = await first.waitForEnd()
        let third = try await ServeProcess(share, ["--webdav", "/dav", "--webdav-locks", file])
        #expect(try await third.status(.put, "/dav/a", body: .text("x")) == 201)
    }

    @Test func aFileThatHoldsNoLocksIsRefusedAtTheStart() async throws {
        let (share, place) = (try Folder(), try Folder())
        try place.write("my notes", to: "notes")
        let started = try await Program.run(
            Program.httpkit,
            [
                "serve", share.path, "--port", "0", "--webdav", "/dav", "--webdav-locks",
                place.path + "/notes",
            ])
        #expect(started.status == 2)
        #expect(started.complaints.contains("--webdav-locks: \(place.path)/notes: "))
        #expect(place.text("notes") == "my notes")
    }

    @Test func whatIsAboveADeepMountIsMild() async throws {
        let server = try await ServeProcess(try Folder(), ["--webdav", "/some/dav"])
        for path in ["/", "/some", "/some/"] {
            #expect(try await server.status(.propfind, path) == 404, "\(path)")
            #expect(
                try await server.send(.options, path).fields["DAV"]
                    == "1, 2, 3, extended-mkcol, sabredav-partialupdate", "\(path)")
        }
        #expect(try await server.status(.propfind, "/some/dav/", ["Depth": "0"]) == 207)
    }

    #if os(Linux)
        /// The memory of a listing must not grow with its length: these responses are longer than
        /// the memory that they may take.
        @Test(arguments: [("flat", "1", 10_001), ("tree", "infinity", 20_021)])
        func manyMembersAreListedAtFlatMemory(
            _ name: String, _ depth: String, _ count: Int
        ) async throws {
            let share = try Folder()
            let script =
                name == "flat"
                ? "mkdir flat; cd flat; seq 10000 | xargs touch"
                : "mkdir tree; cd tree; for d in $(seq 20); do mkdir $d; (cd $d; "
                    + "seq 1000 | xargs touch); done"
            #expect(try await Program.run("sh", ["-c", script], folder: share.path).status == 0)
            let server = try await ServeProcess(share, ["--webdav", "/dav"])
            func list(_ depth: String, _ count: Int) async throws {
                let script = """
                    curl -sSg -m 110 -X PROPFIND -H "Depth: \(depth)" "$0" > out && wc -c < out && \
                    grep -c '<D:response>' out && tail -n 1 out
                    """
                let place = try Folder()
                defer { withExtendedLifetime(place) {} }
                let result = try await Program.run(
                    "sh", ["-c", script, server.url("/dav/\(name)/")], folder: place.path)
                let lines = result.text.split(separator: "\n")
                #expect(lines.dropFirst() == ["\(count)", "</D:multistatus>"], "\(lines)")
                #expect(depth == "0" || (lines.first.flatMap { Int($0) } ?? 0) > Self.memory << 10)
            }
            // Allocates the memory that all listings share.
            for _ in 0..<20 { try await list("0", 1) }
            let before = try ProcessCost(server.pid)
            try await list(depth, count)
            let after = try ProcessCost(server.pid)
            #expect(after.kibibytes - before.kibibytes < Self.memory + Sanitizers.memory)
        }

        /// In KiB.
        private static let memory = 6 << 10
    #endif

    @Test func theWholeServerIsAskedForItsClasses() async throws {
        let server = try await ServeProcess(try Folder(), ["--webdav", "/dav"])
        let answer = try await server.curl("-i", "-X", "OPTIONS", "--request-target", "*")
        #expect(answer.text.contains("DAV: 1, 2, 3, extended-mkcol, sabredav-partialupdate\r\n"))
        #expect(answer.text.contains("MS-Author-Via: DAV\r\n"))
    }
}
