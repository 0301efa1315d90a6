#if os(Linux)
    import Foundation
    import HTTPParser
    import TestSupport
    import Testing
    import URLClient

    /// Power cuts: the server writes to a separate file system in a file, and a copy of the file at
    /// the time of the response is the disk after the cut. It lacks the data that the system still
    /// has in memory. The copy is mounted, which replays its journal, and served again.
    @Suite("httpkit serve --webdav-sync, after a power cut", .fewAtOnce)
    struct WebDAVPowerCutTests {
        /// Whether this user may mount a file system that is in a file.
        static func isAllowed() async -> Bool {
            guard geteuid() == 0, let place = try? Folder() else { return false }
            guard (try? await makeImage(place)) != nil else { return true }
            let script = "mount -o loop '\(place.path)/disk' /mnt"
            let words = MountedServer.options + ["sh", "-c", script]
            return (try? await Program.run("unshare", words))?.status == 0
        }

        static let reason: Comment = """
            this machine gives no loop devices to this user: what --webdav-sync promises is not \
            tested against power cuts here
            """

        /// - Parameter place: the folder for the file `disk`.
        private static func makeImage(_ place: Folder) async throws {
            let script = "truncate -s 64M disk && PATH=$PATH:/usr/sbin:/sbin mkfs.ext4 -q -F disk"
            let made = try await Program.run("sh", ["-c", script], folder: place.path)
            guard made.status == 0 else { throw Program.Failure(made.complaints) }
        }

        private let place: Folder

        init() async throws {
            place = try Folder()
            try await Self.makeImage(place)
        }

        /// Serves a disk.
        /// - Parameter commit: the seconds after which the file system writes its journal itself.
        private func serve(
            _ disk: String, _ flags: [String], commit: Int = 300
        ) async throws -> ServeProcess {
            let preparation = """
                mount -o loop,commit=\(commit) '\(place.path)/\(disk)' "$D"; \
                mkdir -p "$D/.kept"
                """
            let folder = try Folder()
            let locks = ["--webdav-locks", folder.path + "/.kept/locks"]
            return try await MountedServer.start(folder, flags + locks, preparation: preparation)
        }

        /// Simulates a power cut.
        /// - Returns: a server of the disk after the cut.
        private func cut() async throws -> ServeProcess {
            let name = UUID().uuidString
            let copied = try await Program.run(
                "cp", ["--sparse=always", "disk", name], folder: place.path)
            guard copied.status == 0 else { throw Program.Failure(copied.complaints) }
            return try await serve(name, [])
        }

        /// Without the option, a confirmed change may be lost, because it is not on the disk yet.
        @Test(.enabled(reason) { await isAllowed() })
        func withoutItAnAnsweredFileIsNotOnTheDisk() async throws {
            let server = try await serve("disk", [])
            let put = try await server.status(.put, "/dav/new", body: .text("content"))
            #expect(put == 201)
            let after = try await cut()
            #expect(try await after.get("/dav/new").text != "content")
            #expect(try await server.get("/dav/new").text == "content")
        }

        /// A change, and the expected state after it.
        private struct Step {
            var method: HTTPMethod
            var path: String
            var fields: HTTPFields = [:]
            var content: ClientBody = .none
            /// Paths, with the content that GET returns; `nil` for 404.
            var expected: [String: String?]
            var found: String?
        }

        private static let large = String(repeating: "0123456789abcdef", count: 20_000)

        private static let steps = [
            Step(method: .put, path: "new", content: .text("short"), expected: ["new": "short"]),
            Step(method: .put, path: "old", content: .text("newer"), expected: ["old": "newer"]),
            Step(method: .put, path: "large", content: .text(large), expected: ["large": large]),
            Step(method: .mkcol, path: "folder", expected: ["folder/": ""]),
            Step(
                method: .put, path: "folder/in", content: .text("in"),
                expected: ["folder/in": "in"]),
            Step(
                method: .move, path: "new", fields: ["Destination": "/dav/folder/moved"],
                expected: ["folder/moved": "short", "new": nil]),
            Step(
                method: .copy, path: "tree", fields: ["Destination": "/dav/copy"],
                expected: ["copy/deep/f": "f", "copy/g": "g", "tree/g": "g"]),
            Step(
                method: .move, path: "folder", fields: ["Destination": "/dav/tree"],
                expected: ["tree/in": "in", "tree/g": nil, "folder/": nil]),
            Step(method: .delete, path: "large", expected: ["large": nil]),
            Step(method: .delete, path: "copy", expected: ["copy/": nil]),
            Step(
                method: .proppatch, path: "old",
                content: .text(
                    """
                    <propertyupdate xmlns="DAV:"><set><prop><p xmlns="u:">blue</p></prop></set>\
                    </propertyupdate>
                    """),
                expected: ["old": "newer"], found: ">blue</p>"),
            Step(
                method: .lock, path: "locked",
                content: .text(
                    """
                    <lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/>\
                    </locktype></lockinfo>
                    """),
                expected: ["locked": ""], found: "<D:locktoken>"),
            Step(
                method: .lock, path: "old",
                content: .text(
                    """
                    <lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/>\
                    </locktype></lockinfo>
                    """),
                expected: ["old": "newer"], found: "<D:locktoken>"),
        ]

        @Test(.enabled(reason) { await isAllowed() })
        func withItEachAnsweredChangeIsOnTheDisk() async throws {
            let server = try await serve("disk", ["--webdav-sync"])
            for name in ["tree", "tree/deep"] {
                #expect(try await server.status(.mkcol, "/dav/" + name) == 201)
            }
            for (name, text) in [("old", "old"), ("tree/deep/f", "f"), ("tree/g", "g")] {
                #expect(try await server.status(.put, "/dav/" + name, body: .text(text)) == 201)
            }
            for step in Self.steps {
                let told = "\(step.method) \(step.path)"
                let answer = try await server.send(
                    step.method, "/dav/" + step.path, step.fields, body: step.content)
                #expect(answer.status.code < 300, "\(told): \(answer.text)")
                let after = try await cut()
                for (path, text) in step.expected {
                    let got = try await after.get("/dav/" + path)
                    guard let text else {
                        #expect(got.status.code == 404, "\(told): \(path)")
                        continue
                    }
                    #expect(got.status.code == 200, "\(told): \(path)")
                    if !path.hasSuffix("/") {
                        #expect(got.text == text, "\(told): \(path) has \(got.text.count) bytes")
                    }
                }
                guard let found = step.found else { continue }
                let list = try await after.send(.propfind, "/dav/" + step.path, ["Depth": "0"])
                #expect(list.text.contains(found), "\(told)")
            }
        }

        /// Begins an upload whose connection breaks in the middle of the content.
        /// - Returns: the address of the upload.
        private func breakUpload(to server: ServeProcess) async throws -> String {
            let socket = try server.connect()
            try await socket.send(
                "PUT /dav/folder/f HTTP/1.1\r\nHost: localhost\r\nUpload-Complete: ?1\r\n"
                    + "Content-Length: 200000\r\n\r\n")
            // If it were unread when the socket closes, a reset would lose content.
            let interim = try await socket.response()
            #expect(interim.status == 104)
            try await socket.send([UInt8](repeating: 0x78, count: 100_000))
            socket.endWriting()
            _ = try await socket.receiveAll()
            return try #require(interim["location"])
        }

        @Test(
            "With --webdav-sync the offset of an interrupted upload is on the disk",
            .enabled(reason) { await isAllowed() })
        func brokenUpload() async throws {
            let server = try await serve("disk", ["--webdav-sync"])
            #expect(try await server.status(.mkcol, "/dav/folder") == 201)
            let location = try await breakUpload(to: server)
            let told = try await server.send(.head, location).fields["Upload-Offset"]
            #expect(told.flatMap { Int($0) } ?? 0 > 0)
            let after = try await cut()
            #expect(try await after.send(.head, location).fields["Upload-Offset"] == told)
        }
    }
#endif
