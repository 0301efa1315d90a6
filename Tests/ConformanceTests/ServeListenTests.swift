import Foundation
import TestSupport
import Testing

@Suite("httpkit serve: Unix sockets and sockets of systemd", .fewAtOnce, .timeLimit(.minutes(3)))
struct ServeListenTests {
    private func folder() throws -> Folder {
        let folder = try Folder()
        try folder.write("content\n", to: "f")
        return folder
    }

    private static func get(_ socket: String, _ path: String = "/f") async throws -> String {
        try await Program.run(
            "curl", ["-sS", "-m", "110", "--unix-socket", socket, "http://localhost\(path)"]
        ).text
    }

    private func serve(_ folder: Folder, _ flags: [String]) async throws -> RunningProgram {
        let program = try RunningProgram(
            Program.httpkit, ["serve", folder.path, "--access-log"] + flags)
        guard await program.wait(until: { $0.text.contains("Serving ") }) else {
            throw Program.Failure("httpkit does not start: \(program.complaints)")
        }
        return program
    }

    private static func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    @Test("serve listens on a Unix socket, prints its path, and removes it at the end")
    func unixSocket() async throws {
        let (folder, place) = (try folder(), try Folder())
        let socket = place.path + "/s"
        let program = try await serve(
            folder, ["--unix-socket", socket, "--webdav", "/dav", "--echo", "/echo"])
        #expect(
            program.text == """
                Serving \(folder.path) at unix:\(socket)
                WebDAV at /dav/
                Echoing requests at /echo

                """)
        #expect(try await Self.get(socket) == "content\n")
        #expect(try Self.mode(socket) == 0o660)
        program.signal(15)
        #expect(await program.end() == 0)
        #expect(!FileManager.default.fileExists(atPath: socket))
    }

    @Test(
        "--unix-socket-mode sets the permissions of the socket",
        arguments: [("600", 0o600), ("0666", 0o666)])
    func permissions(_ text: String, _ mode: Int) async throws {
        let place = try Folder()
        let socket = place.path + "/s"
        let program = try await serve(
            try folder(), ["--unix-socket", socket, "--unix-socket-mode", text])
        #expect(try Self.mode(socket) == mode)
        withExtendedLifetime(program) {}
    }

    @Test("A stale socket is replaced; a socket in use or a file is reported with status 2")
    func taken() async throws {
        let (folder, place) = (try folder(), try Folder())
        let socket = place.path + "/s"
        let first = try await serve(folder, ["--unix-socket", socket])
        let second = try await Program.run(
            Program.httpkit, ["serve", folder.path, "--unix-socket", socket])
        #expect(second.status == 2)
        #expect(second.complaints == "httpkit: \(socket): address already in use\n")
        first.signal(9)
        _ = await first.end()
        #expect(FileManager.default.fileExists(atPath: socket))
        let third = try await serve(folder, ["--unix-socket", socket])
        #expect(try await Self.get(socket) == "content\n")
        withExtendedLifetime(third) {}
        try place.write("precious", to: "file")
        let file = place.path + "/file"
        let fourth = try await Program.run(
            Program.httpkit, ["serve", folder.path, "--unix-socket", file])
        #expect(fourth.status == 2 && fourth.complaints.contains("address already in use"))
        #expect(place.text("file") == "precious")
    }

    @Test("The name unix trusts a proxy at the Unix socket")
    func proxied() async throws {
        let place = try Folder()
        let socket = place.path + "/s"
        let program = try await serve(
            try folder(), ["--unix-socket", socket, "--trusted-proxy", "unix"])
        _ = try await Program.run(
            "curl",
            [
                "-sS", "-m", "110", "--unix-socket", socket, "-H", "X-Forwarded-For: 192.0.2.9",
                "http://localhost/f",
            ])
        #expect(await program.wait { $0.complaints.contains("192.0.2.9 - - [") })
    }

    @Test("Invalid modes, and a mode without a socket, are refused")
    func wrongFlags() async throws {
        for flags in [
            ["--unix-socket", "/s", "--unix-socket-mode", "888"],
            ["--unix-socket", "/s", "--unix-socket-mode", "7777"],
            ["--unix-socket", "/s", "--unix-socket-mode", "6"], ["--unix-socket-mode", "600"],
            ["--unix-socket", ""],
        ] {
            let result = try await Program.run(Program.httpkit, ["serve"] + flags)
            #expect(result.status == 64 && result.complaints.contains("Error: "))
        }
    }

    #if os(Linux)
        /// A service manager that opens sockets and executes the service in its process.
        private static let manager = """
            import os, socket, sys
            sockets = []
            for kind in sys.argv[1].split(","):
                if kind == "tcp":
                    made = socket.socket()
                    made.bind(("127.0.0.1", 0))
                elif kind == "datagram":
                    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                    made.bind(("127.0.0.1", 0))
                else:
                    made = socket.socket(socket.AF_UNIX)
                    made.bind(kind)
                if kind != "datagram": made.listen(8)
                sockets.append(made)
            # First to high numbers, then to the numbers of the protocol.
            kept = [os.dup2(made.fileno(), 100 + index) for index, made in enumerate(sockets)]
            for index, number in enumerate(kept): os.dup2(number, 3 + index)
            owner = str(os.getpid()) if sys.argv[2] == "own" else sys.argv[2]
            os.environ.update(LISTEN_PID=owner, LISTEN_FDS=str(len(sockets)))
            os.execv(sys.argv[3], sys.argv[3:])
            """

        private func activated(
            _ folder: Folder, _ sockets: String, owner: String = "own", _ flags: [String] = [],
            environment: [String: String]? = nil
        ) throws -> RunningProgram {
            try RunningProgram(
                "python3",
                ["-c", Self.manager, sockets, owner, Program.httpkit, "serve", folder.path]
                    + flags, environment: environment)
        }

        @Test("sd_listen_fds(3): the sockets replace --host and --port")
        func activation() async throws {
            let (folder, place) = (try folder(), try Folder())
            let socket = place.path + "/s"
            let program = try activated(folder, "tcp,\(socket)", ["--port", "1"])
            #expect(await program.wait { $0.text.hasSuffix("/\n") }, "\(program.complaints)")
            #expect(program.text.contains(" at http://127.0.0.1:"))
            #expect(!program.text.contains("127.0.0.1:1/"))
            #expect(try await Self.get(socket) == "content\n")
            program.signal(15)
            #expect(await program.end() == 0)
            // The socket belongs to the manager, which continues to listen.
            #expect(FileManager.default.fileExists(atPath: socket))
        }

        @Test("Plain HTTP is redirected to the port of the TCP socket, also after a Unix socket")
        func redirected() async throws {
            let (folder, place) = (try folder(), try Folder())
            let program = try activated(
                folder, "\(place.path)/s,tcp", ["--tls-development", "--redirect-http", "0"],
                environment: ["XDG_CONFIG_HOME": place.path])
            #expect(await program.wait { $0.text.hasSuffix(" to it\n") }, "\(program.complaints)")
            let ports = program.text.matches(of: #/127\.0\.0\.1:([0-9]+)\//#).map { $0.output.1 }
            try #require(ports.count == 2, "\(program.text)")
            let answer = try await Program.run(
                "curl",
                [
                    "-sS", "-m", "110", "-o", "/dev/null", "-w", "%{redirect_url}",
                    "http://127.0.0.1:\(ports[1])/f",
                ])
            #expect(answer.text == "https://127.0.0.1:\(ports[0])/f", "\(answer.complaints)")
            withExtendedLifetime(program) {}
        }

        @Test("Sockets for another process are ignored")
        func otherOwner() async throws {
            let folder = try folder()
            let program = try activated(folder, "tcp", owner: "1", ["--port", "0"])
            #expect(await program.wait { $0.text.contains("Serving ") }, "\(program.complaints)")
            withExtendedLifetime(folder) {}
        }

        @Test(
            "A socket that cannot listen or a wrong variable is reported with status 2",
            arguments: [
                ("datagram", "own", "descriptor 3"), ("tcp", "x", "LISTEN_PID"),
            ])
        func wrong(_ sockets: String, _ owner: String, _ fault: String) async throws {
            let folder = try folder()
            let program = try activated(folder, sockets, owner: owner)
            #expect(await program.end() == 2)
            #expect(program.complaints.hasPrefix("httpkit: \(fault)"), "\(program.complaints)")
            #expect(program.complaints.split(separator: "\n").count == 1)
            withExtendedLifetime(folder) {}
        }
    #endif
}
