#if os(Linux)
    import Foundation
    import HTTPParser
    import TestSupport
    import Testing
    import URLClient

    /// Disks that are full, read-only or without permission. Some tests need separate file systems.
    @Suite("httpkit serve --webdav on difficult disks", .fewAtOnce)
    struct WebDAVDiskTests {
        @Test(.enabled(MountedServer.reason) { await MountedServer.isAllowed() })
        func aFullDiskIs507AndChangesNothing() async throws {
            let place = try Folder()
            try place.write([UInt8].noise(3 << 20, seed: 1), to: "large")
            try place.write("old", to: "small")
            let server = try await MountedServer.start(
                try Folder(), preparation: "mount -t tmpfs -o size=2m none \"$D\"")
            let (large, small) = (place.path + "/large", place.path + "/small")
            #expect(try await server.status(.put, "/dav/a", body: .file(small)) == 201)
            // With a Content-Length nothing is written; without it, content is written until the
            // disk is full.
            for body in [ClientBody.file(large), .chunked(file: large)] {
                let answer = try await server.send(.put, "/dav/a", body: body)
                #expect(answer.status.code == 507, "\(answer.text)")
                #expect(answer.text.contains("<D:sufficient-disk-space/>"))
            }
            let hint = try await server.status(
                .put, "/dav/a", ["X-Expected-Entity-Length": "3145728"],
                body: .chunked(file: large))
            #expect(hint == 507)
            #expect(try await server.get("/dav/a").text == "old")
            let half = place.path + "/half"
            try place.write([UInt8].noise(1_200_000, seed: 2), to: "half")
            #expect(try await server.status(.put, "/dav/b", body: .file(half)) == 201)
            let copied = try await server.status(.copy, "/dav/b", ["Destination": "/dav/a"])
            #expect(copied == 507)
            #expect(try await server.get("/dav/a").text == "old")
            // The failed attempts left no files, so there is as much space as before.
            #expect(try await server.status(.delete, "/dav/b") == 204)
            #expect(try await server.status(.put, "/dav/c", body: .file(half)) == 201)
            let list = try await server.send(.propfind, "/dav/", ["Depth": "1"])
            #expect(list.text.matches(of: /<D:response>/).count == 3)
        }

        @Test(.enabled(MountedServer.reason) { await MountedServer.isAllowed() })
        func aReadOnlyFileSystemIs403() async throws {
            let folder = try Folder()
            try folder.write("old", to: "t/a")
            let server = try await MountedServer.start(
                folder, preparation: "mount --bind \"$D\" \"$D\"; mount -o remount,bind,ro \"$D\"")
            for method in [HTTPMethod.delete, .move, .copy] {
                let answer = try await server.status(
                    method, "/dav/t/a", ["Destination": "/dav/b"])
                #expect(answer == 403, "\(method)")
            }
            let content = """
                <propertyupdate xmlns="DAV:"><set><prop><p xmlns="u:">1</p></prop></set>\
                </propertyupdate>
                """
            let patched = try await server.send(.proppatch, "/dav/t/a", body: .text(content))
            #expect(patched.status.code == 207)
            #expect(patched.text.contains("HTTP/1.1 403 Forbidden"), "\(patched.text)")
            #expect(try await server.status(.mkcol, "/dav/n") == 403)
            let put = try await server.status(
                .put, "/dav/t/a", body: .file(folder.path + "/t/a"))
            #expect(put == 403)
            #expect(try await server.get("/dav/t/a").text == "old")
        }

        /// A directory that is mounted twice: names cannot be moved between the mounts, and the
        /// parents of one mount are not those of the other.
        @Test(.enabled(MountedServer.reason) { await MountedServer.isAllowed() })
        func aSecondMountOfATreeIsSeenThrough() async throws {
            let folder = try Folder()
            try folder.write("deep", to: "tree/sub/f")
            try folder.write("other", to: "g")
            try folder.write("", to: "again/x")
            let server = try await MountedServer.start(
                folder, preparation: "mount --bind \"$D/tree/sub\" \"$D/again\"")
            for method in [HTTPMethod.copy, .move] {
                for (from, to) in [
                    ("tree", "again/n"), ("tree", "again/f"), ("tree", "again"),
                    ("again/f", "tree"), ("tree/sub", "again/n"), ("again/f", "tree/sub/f"),
                ] {
                    let answer = try await server.status(
                        method, "/dav/\(from)", ["Destination": "/dav/\(to)"])
                    #expect(answer == 403, "\(method) \(from) \(to): \(answer)")
                    #expect(folder.text("tree/sub/f") == "deep", "\(method) \(from) \(to)")
                }
            }
            // Otherwise it is a usual folder.
            let put = try await server.status(
                .put, "/dav/again/p", body: .file(folder.path + "/g"))
            #expect(put == 201)
            let moved = try await server.status(
                .move, "/dav/g", ["Destination": "/dav/again/moved"])
            #expect(moved == 201)
            #expect(folder.text("tree/sub/moved") == "other")
            let names = try FileManager.default.contentsOfDirectory(
                atPath: folder.path + "/tree/sub")
            #expect(Set(names) == ["f", "p", "moved"])
        }

        /// Root may access every file, unless it drops this capability.
        private static var closedLauncher: [String] {
            let right = "-dac_override,-dac_read_search"
            return geteuid() == 0
                ? ["setpriv", "--bounding-set", right, "--inh-caps", right] : []
        }

        /// After a refused move, directories keep their names and contents, although the names are
        /// exchanged before the refusal is known.
        @Test func aRefusedMoveChangesNothing() async throws {
            let folder = try Folder()
            try folder.write("new", to: "source/f")
            try folder.write("old", to: "target/f")
            let closed = folder.path + "/target"
            #expect(try await Program.run("chmod", ["555", closed]).status == 0)
            let server = try await ServeProcess(
                folder, ["--webdav", "/dav"], by: Self.closedLauncher)
            let moved = try await server.status(
                .move, "/dav/source", ["Destination": "/dav/target"])
            #expect(moved == 403)
            #expect(folder.text("source/f") == "new" && folder.text("target/f") == "old")
            _ = try await Program.run("chmod", ["755", closed])
            let again = try await server.status(
                .move, "/dav/source", ["Destination": "/dav/target"])
            #expect(again == 204)
            #expect(folder.text("target/f") == "new")
        }

        /// A volume that is mounted inside the share: a rename cannot move files there.
        @Test(.enabled(MountedServer.reason) { await MountedServer.isAllowed() })
        func aVolumeInsideOfTheShare() async throws {
            let folder = try Folder()
            try folder.write("old", to: "tree/sub/f")
            try folder.write("", to: "nested/x")
            try folder.write([UInt8].noise(200_000, seed: 1), to: "long")
            let server = try await MountedServer.start(
                folder,
                preparation: """
                    mount -t tmpfs none "$D/nested"; touch -d @1000000000 "$D/tree/sub/f" \
                    "$D/tree/sub"; mkdir "$D/special"; mkfifo "$D/special/pipe"
                    """)
            let long = ClientBody.file(folder.path + "/long")
            #expect(try await server.status(.put, "/dav/nested/p", body: long) == 201)
            // The directory of its temporary files is recorded, so that they can be found later.
            #expect(notes(folder) == ["nested"])
            #expect(try await server.status(.put, "/dav/nested/q", body: long) == 201)
            #expect(notes(folder) == ["nested"])
            // Moved files and folders keep their times.
            for (from, to) in [("tree", "nested/tree"), ("nested/tree", "back")] {
                let moved = try await server.status(
                    .move, "/dav/" + from, ["Destination": "/dav/" + to])
                #expect(moved == 201, "\(from)")
                #expect(try await server.get("/dav/\(to)/sub/f").text == "old")
                #expect(try await server.status(.get, "/dav/\(from)/sub/f") == 404)
                for inner in ["/sub", "/sub/f"] {
                    let list = try await server.send(
                        .propfind, "/dav/" + to + inner, ["Depth": "0"])
                    #expect(list.text.contains("Sun, 09 Sep 2001 01:46:40 GMT"), "\(inner)")
                }
            }
            // A pipe cannot be copied, so the move is refused.
            let moved = try await server.status(
                .move, "/dav/special", ["Destination": "/dav/nested/s"])
            #expect(moved == 403)
            #expect(try await server.status(.get, "/dav/nested/s/") == 404)
            #expect(FileManager.default.fileExists(atPath: folder.path + "/special/pipe"))
            // A collection can replace another there, too, and nothing is left.
            for name in ["a", "b"] {
                let path = "/dav/nested/" + name
                #expect(try await server.status(.mkcol, path) == 201)
                #expect(try await server.status(.put, "\(path)/\(name)", body: .text("x")) == 201)
            }
            let replaced = try await server.status(
                .move, "/dav/nested/a", ["Destination": "/dav/nested/b"])
            #expect(replaced == 204)
            #expect(try await server.get("/dav/nested/b/a").text == "x")
            #expect(try await server.status(.get, "/dav/nested/b/b") == 404)
            // The view of the server's mount namespace.
            let names = try FileManager.default.contentsOfDirectory(
                atPath: "/proc/\(server.pid)/root\(folder.path)/nested")
            #expect(names.sorted() == ["b", "p", "q"])
        }

        /// The recorded paths of other directories that may contain temporary files.
        private func notes(_ folder: Folder) -> [String] {
            let own = folder.path + "/.httpkit-dav"
            let names = FileManager.default.enumerator(atPath: own)?.compactMap { $0 as? String }
            return (names ?? []).filter { $0.contains("/beside-") }.map {
                folder.text(".httpkit-dav/" + $0)
            }
        }

        /// The user of the server may not change the directory.
        @Test func whatIsClosedIs403AndWhatCannotGoIsNamed() async throws {
            let folder = try Folder()
            try folder.write("old", to: "open/closed/kept")
            try folder.write("x", to: "open/gone")
            let closed = folder.path + "/open/closed"
            #expect(try await Program.run("chmod", ["555", closed]).status == 0)
            let server = try await ServeProcess(
                folder, ["--webdav", "/dav"], by: Self.closedLauncher)
            for name in ["new", "kept"] {
                let put = try await server.status(
                    .put, "/dav/open/closed/\(name)", body: .file(folder.path + "/open/gone"))
                #expect(put == 403, "\(name)")
            }
            #expect(try await server.status(.mkcol, "/dav/open/closed/n") == 403)
            let moved = try await server.status(
                .move, "/dav/open/closed/kept", ["Destination": "/dav/n"])
            #expect(moved == 403)
            let deleted = try await server.send(.delete, "/dav/open")
            #expect(deleted.status.code == 207)
            #expect(deleted.text.contains("<D:href>/dav/open/closed/kept</D:href>"))
            #expect(deleted.text.contains("HTTP/1.1 403 Forbidden"))
            #expect(folder.text("open/closed/kept") == "old")
            _ = try await Program.run("chmod", ["755", closed])
        }

        /// The server may not read the files, but responds with the same properties at each depth.
        @Test func whatCannotBeReadIsToldAlikeAtEachDepth() async throws {
            let folder = try Folder()
            try folder.write("secret", to: "d/file")
            try folder.write("secret", to: "d/folder/f")
            for name in ["file", "folder"] {
                let path = folder.path + "/d/" + name
                #expect(try await Program.run("chmod", ["0", path]).status == 0)
            }
            let server = try await ServeProcess(
                folder, ["--webdav", "/dav"], by: Self.closedLauncher)
            let wishes = [
                "<allprop/>", "<propname/>", "<prop><getetag/><p xmlns=\"u:\"/></prop>",
                "<prop><getcontentlength/></prop>",
            ]
            for wish in wishes {
                let body = ClientBody.text("<propfind xmlns=\"DAV:\">\(wish)</propfind>")
                let list = try await server.send(.propfind, "/dav/d", ["Depth": "1"], body: body)
                #expect(list.status.code == 207)
                for name in ["file", "folder/"] {
                    let one = try await server.send(
                        .propfind, "/dav/d/" + name, ["Depth": "0"], body: body)
                    #expect(one.status.code == 207, "\(name) \(wish)")
                    let start = "<D:response><D:href>/dav/d/\(name)</D:href>"
                    let told = try #require(one.text.firstRange(of: start))
                    let response = one.text[told.lowerBound...].split(separator: "\n")[0]
                    #expect(list.text.contains(response), "\(name) \(wish)")
                }
            }
            #expect(try await server.status(.get, "/dav/d/file") == 403)
            _ = try await Program.run("chmod", ["755", folder.path + "/d/folder"])
        }

        @Test func namesAndPathsThatAreTooLong() async throws {
            let folder = try Folder()
            let server = try await ServeProcess(folder, ["--webdav", "/dav"])
            let name = String(repeating: "n", count: 256)
            #expect(try await server.status(.mkcol, "/dav/" + name) == 403)
            let fits = String(repeating: "n", count: 255)
            #expect(try await server.status(.mkcol, "/dav/" + fits) == 201)
            let deep = String(repeating: "d/", count: 2_500)
            let refused = try await server.status(.mkcol, "/dav/" + deep)
            #expect(refused == 403 || refused == 409, "\(refused)")
            let far = String(repeating: "e/", count: 5_000)
            #expect(try await server.status(.mkcol, "/dav/" + far) == 414)
            let moved = try await server.status(
                .move, "/dav/" + fits, ["Destination": "/dav/" + name])
            #expect(moved == 403)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [fits])
        }
    }
#endif
