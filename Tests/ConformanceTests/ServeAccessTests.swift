import Foundation
import TestSupport
import Testing

@Suite(
    "httpkit serve: users from files, and first lines of output",
    .fewAtOnce, .timeLimit(.minutes(3)))
struct ServeAccessTests {
    private func folder() throws -> Folder {
        let folder = try Folder()
        try folder.write("content\n", to: "file")
        return folder
    }

    private func status(_ server: ServeProcess, _ user: String?) async throws -> String {
        let flags = user.map { ["-u", $0] } ?? []
        return try await Program.run(
            "curl",
            ["-sS", "-m", "60", "-o", "/dev/null", "-w", "%{http_code}"] + flags
                + [server.url("/file")]
        ).text
    }

    @Test("Users are read from arguments, a file and the environment")
    func users() async throws {
        let place = try Folder()
        try place.write("ann:one two\r\n\nbücher:a:b\n", to: "users")
        let server = try await ServeProcess(
            try folder(),
            ["--auth", "basic", "--user", "tom:x", "--user-file", place.path + "/users"],
            by: ["/usr/bin/env", "HTTPKIT_USERS=eve:y"])
        for user in ["ann:one two", "bücher:a:b", "tom:x", "eve:y"] {
            #expect(try await status(server, user) == "200", "\(user)")
        }
        for user in [nil, "ann:one", "eve:x", "bob:y"] {
            #expect(try await status(server, user) == "401", "\(user ?? "none")")
        }
    }

    @Test(
        "A file without valid users is refused at the start",
        arguments: [
            ("", "the file contains no user"), ("ann", "takes NAME:PASSWORD"),
            ("ann:", "the password is empty"), ("ann:1\nann:2", "names ann twice"),
            ("tom:1", "names tom twice"), ("a\u{1}:b", "control characters"),
            ("ann:1\n\nbob\n", "/users, line 3 takes NAME:PASSWORD"),
        ])
    func wrongFiles(_ content: String, _ fault: String) async throws {
        let place = try Folder()
        try place.write(content, to: "users")
        let result = try await Program.run(
            Program.httpkit,
            [
                "serve", "--port", "0", "--auth", "basic", "--user", "tom:x", "--user-file",
                place.path + "/users",
            ])
        #expect(result.status == 2 && result.complaints.contains(fault), "\(result.complaints)")
    }

    @Test("A missing file, a folder, and a file without --auth are refused")
    func noFile() async throws {
        let place = try Folder()
        for (flags, status, fault) in [
            (["--auth", "basic", "--user-file", place.path + "/none"], 2, "No such file"),
            (["--auth", "basic", "--user-file", place.path], 2, "s a directory"),
            (["--user-file", place.path], 64, "--user-file needs --auth"),
            (["--auth", "basic"], 64, "needs a --user, a --user-file or HTTPKIT_USERS"),
        ] as [([String], CInt, String)] {
            let result = try await Program.run(
                Program.httpkit, ["serve", place.path, "--port", "0"] + flags)
            #expect(
                result.status == status
                    && result.complaints.lowercased().contains(fault.lowercased()),
                "\(result.complaints)")
        }
    }

    @Test("Users in the environment without --auth are refused")
    func usersWithoutScheme() async throws {
        let place = try folder()
        for flags in [[], ["--auth", "none"]] {
            let result = try await Program.run(
                "/usr/bin/env",
                ["HTTPKIT_USERS=eve:y", Program.httpkit, "serve", place.path, "--port", "0"]
                    + flags)
            #expect(result.status == 64 && result.output.isEmpty)
            #expect(result.complaints.contains("HTTPKIT_USERS needs --auth basic or digest"))
        }
    }

    @Test(
        "One line warns if anybody can change the files over the network",
        arguments: [
            (["--host", "*", "--webdav", "/dav"], true),
            (["--host", "*", "--uploader", "/up"], true),
            (["--host", "127.0.0.1", "--uploader", "/up"], false),
            (["--host", "*"], false),
            (["--host", "*", "--uploader", "/up", "--read-only"], false),
            (["--host", "*", "--uploader", "/up", "--auth", "digest", "--user", "a:b"], false),
        ])
    func warning(_ flags: [String], _ isWarned: Bool) async throws {
        let server = try await ServeProcess(try folder(), flags)
        server.signal(SIGTERM)
        #expect(await server.waitForEnd() == 0)
        let line = """
            httpkit: anybody who reaches this address can change the files; \
            --auth digest --user-file FILE asks for a login

            """
        #expect(server.complaints == (isWarned ? line : ""))
    }

    @Test(
        "A QR code of an address that others can reach is shown on a terminal only",
        arguments: [
            (["--host", "*"], true), (["--host", "*", "--no-qr"], false),
            (["--host", "127.0.0.1"], false),
        ])
    func code(_ flags: [String], _ isShown: Bool) async throws {
        let folder = try folder()
        let arguments = [Program.httpkit, "serve", folder.path, "--port", "0"] + flags
        let program = try RunningProgram(
            "python3", ["-c", "import pty, sys; pty.spawn(sys.argv[1:])"] + arguments)
        #expect(await program.wait { $0.text.contains("Serving ") }, "\(program.text)")
        // The code is written by a separate call after the addresses.
        let wasShown = await program.wait(limit: isShown ? .seconds(60) : .seconds(2)) {
            $0.text.contains("\u{2588}")
        }
        #expect(wasShown == isShown, "\(program.text)")
        // Without a terminal there is no code.
        let server = try await ServeProcess(folder, flags)
        server.signal(SIGTERM)
        _ = await server.waitForEnd()
        #expect(!server.output.contains("\u{2588}"))
    }
}
