#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    /// Disks that are full, read-only or closed. Some need file systems of their own.
    @Suite("httpkit serve --webdav on difficult disks", .fewAtOnce)
    struct WebDAVDiskTests {
        private func status(
            _ server: ServeProcess, _ arguments: String..., path: String
        ) async throws -> String {
            let all = ["-s", "-m", "60", "-o", "/dev/null", "-w", "%{http_code}"]
            return try await Program.run("curl", all + arguments + [server.url(path)]).text
        }

        @Test(.enabled { await MountedServer.isAllowed() })
        func aFullDiskIs507AndChangesNothing() async throws {
            let place = try Folder()
            try place.write([UInt8].noise(3 << 20, seed: 1), to: "large")
            try place.write("old", to: "small")
            let server = try await MountedServer.start(
                try Folder(), preparation: "mount -t tmpfs -o size=2m none \"$D\"")
            let (large, small) = (place.path + "/large", place.path + "/small")
            #expect(try await status(server, "-T", small, path: "/dav/a") == "201")
            // With the length announced nothing is written; without it, until there is no room.
            for fields in [[], ["-H", "Transfer-Encoding: chunked"]] {
                let answer = try await Program.run(
                    "curl", ["-sS", "-i", "-T", large] + fields + [server.url("/dav/a")])
                #expect(answer.text.contains("HTTP/1.1 507 "), "\(answer.text)")
                #expect(answer.text.contains("<D:sufficient-disk-space/>"))
            }
            let hint = try await status(
                server, "-T", large, "-H", "Transfer-Encoding: chunked", "-H",
                "X-Expected-Entity-Length: 3145728", path: "/dav/a")
            #expect(hint == "507")
            #expect(try await server.curl(path: "/dav/a").text == "old")
            try place.write([UInt8].noise(1_200_000, seed: 2), to: "half")
            #expect(try await status(server, "-T", place.path + "/half", path: "/dav/b") == "201")
            let copied = try await status(
                server, "-X", "COPY", "-H", "Destination: /dav/a", path: "/dav/b")
            #expect(copied == "507")
            #expect(try await server.curl(path: "/dav/a").text == "old")
            // All that was tried is gone again: there is room for as much as before.
            #expect(try await status(server, "-X", "DELETE", path: "/dav/b") == "204")
            #expect(try await status(server, "-T", place.path + "/half", path: "/dav/c") == "201")
            let list = try await server.curl("-X", "PROPFIND", "-H", "Depth: 1", path: "/dav/")
            #expect(list.text.matches(of: /<D:response>/).count == 3)
        }

        @Test(.enabled { await MountedServer.isAllowed() })
        func aReadOnlyFileSystemIs403() async throws {
            let folder = try Folder()
            try folder.write("old", to: "t/a")
            let server = try await MountedServer.start(
                folder, preparation: "mount --bind \"$D\" \"$D\"; mount -o remount,bind,ro \"$D\"")
            for method in ["DELETE", "PROPPATCH", "MOVE", "COPY"] {
                let content = """
                    <propertyupdate xmlns="DAV:"><set><prop><p xmlns="u:">1</p></prop></set>\
                    </propertyupdate>
                    """
                let answer = try await status(
                    server, "-X", method, "-H", "Destination: /dav/b", "-d", content,
                    path: "/dav/t/a")
                #expect(answer == "403", "\(method)")
            }
            #expect(try await status(server, "-X", "MKCOL", path: "/dav/n") == "403")
            let put = try await status(
                server, "-T", folder.path + "/t/a", path: "/dav/t/a")
            #expect(put == "403")
            #expect(try await server.curl(path: "/dav/t/a").text == "old")
        }

        /// A directory that is mounted twice: names cannot be moved between the two, and the way up
        /// from one does not lead to the other.
        @Test(.enabled { await MountedServer.isAllowed() })
        func aSecondMountOfATreeIsSeenThrough() async throws {
            let folder = try Folder()
            try folder.write("deep", to: "tree/sub/f")
            try folder.write("other", to: "g")
            try folder.write("", to: "again/x")
            let server = try await MountedServer.start(
                folder, preparation: "mount --bind \"$D/tree/sub\" \"$D/again\"")
            for method in ["COPY", "MOVE"] {
                for (from, to) in [
                    ("tree", "again/n"), ("tree", "again/f"), ("tree", "again"),
                    ("again/f", "tree"), ("tree/sub", "again/n"), ("again/f", "tree/sub/f"),
                ] {
                    let answer = try await status(
                        server, "-X", method, "-H", "Destination: /dav/\(to)", path: "/dav/\(from)")
                    #expect(answer == "403", "\(method) \(from) \(to): \(answer)")
                    #expect(folder.text("tree/sub/f") == "deep", "\(method) \(from) \(to)")
                }
            }
            // Elsewhere it is a place like any other.
            let put = try await status(server, "-T", folder.path + "/g", path: "/dav/again/p")
            #expect(put == "201")
            let moved = try await status(
                server, "-X", "MOVE", "-H", "Destination: /dav/again/moved", path: "/dav/g")
            #expect(moved == "201")
            #expect(folder.text("tree/sub/moved") == "other")
            let names = try FileManager.default.contentsOfDirectory(
                atPath: folder.path + "/tree/sub")
            #expect(Set(names) == ["f", "p", "moved"])
        }

        /// The user of the server may not change a directory.
        @Test func whatIsClosedIs403AndWhatCannotGoIsNamed() async throws {
            let folder = try Folder()
            try folder.write("old", to: "open/closed/kept")
            try folder.write("x", to: "open/gone")
            let closed = folder.path + "/open/closed"
            #expect(try await Program.run("chmod", ["555", closed]).status == 0)
            // Nothing is closed to root, unless it gives up that right.
            let right = "-dac_override,-dac_read_search"
            let launcher =
                geteuid() == 0
                ? ["setpriv", "--bounding-set", right, "--inh-caps", right] : []
            let server = try await ServeProcess(folder, ["--webdav", "/dav"], by: launcher)
            let put = try await status(
                server, "-T", folder.path + "/open/gone", path: "/dav/open/closed/new")
            #expect(put == "403")
            let over = try await status(
                server, "-T", folder.path + "/open/gone", path: "/dav/open/closed/kept")
            #expect(over == "403")
            #expect(try await status(server, "-X", "MKCOL", path: "/dav/open/closed/n") == "403")
            let moved = try await status(
                server, "-X", "MOVE", "-H", "Destination: /dav/n", path: "/dav/open/closed/kept")
            #expect(moved == "403")
            let deleted = try await server.curl("-X", "DELETE", "-i", path: "/dav/open")
            #expect(deleted.text.hasPrefix("HTTP/1.1 207 "))
            #expect(deleted.text.contains("<D:href>/dav/open/closed/kept</D:href>"))
            #expect(deleted.text.contains("HTTP/1.1 403 Forbidden"))
            #expect(folder.text("open/closed/kept") == "old")
            _ = try await Program.run("chmod", ["755", closed])
        }

        @Test func namesAndPathsThatAreTooLong() async throws {
            let folder = try Folder()
            let server = try await ServeProcess(folder, ["--webdav", "/dav"])
            let name = String(repeating: "n", count: 256)
            #expect(try await status(server, "-X", "MKCOL", path: "/dav/" + name) == "403")
            let fits = String(repeating: "n", count: 255)
            #expect(try await status(server, "-X", "MKCOL", path: "/dav/" + fits) == "201")
            let deep = String(repeating: "d/", count: 2_500)
            let refused = try await status(server, "-X", "MKCOL", path: "/dav/" + deep)
            #expect(refused == "403" || refused == "409", "\(refused)")
            let far = String(repeating: "e/", count: 5_000)
            #expect(try await status(server, "-X", "MKCOL", path: "/dav/" + far) == "414")
            let moved = try await status(
                server, "-X", "MOVE", "-H", "Destination: /dav/" + name, path: "/dav/" + fits)
            #expect(moved == "403")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [fits])
        }
    }
#endif
