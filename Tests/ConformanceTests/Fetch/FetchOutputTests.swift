import Foundation
import TestSupport
import Testing

@Suite("httpkit fetch: output of content and messages", .fewAtOnce)
struct FetchOutputTests {
    private func fetch(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.httpkit, ["fetch", "--timeout", "110"] + arguments)
    }

    /// Runs fetch in a shell, whose script has it as `"$@"`.
    private func shell(_ script: String, _ arguments: String...) async throws -> Program.Result {
        try await Program.run(
            "sh", ["-c", script, "sh", Program.httpkit, "fetch", "--timeout", "110"] + arguments)
    }

    private func names(_ folder: Folder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test("A reader that closes the pipe ends fetch with status 23 and one line")
    func closedPipe() async throws {
        let server = try await BinProcess()
        let result = try await shell(
            "{ \"$@\"; echo \"status $?\" >&2; } | head -c 5 > /dev/null",
            "\(server.base)/stream-bytes/20000000")
        #expect(result.complaints == "httpkit: cannot write: Broken pipe\nstatus 23\n")
    }

    @Test("Closed standard streams are not mistaken for other files")
    func closedStreams() async throws {
        let server = try await BinProcess()
        let url = "\(server.base)/bytes/1000"
        let output = try await shell("exec \"$@\" >&-", url)
        #expect(output.status == 23)
        #expect(output.complaints == "httpkit: cannot write: Bad file descriptor\n")
        let errors = try await shell("exec \"$@\" 2>&-", "--metrics", url)
        #expect(errors.status == 0 && errors.output.count == 1_000)
        let input = try await shell(
            "exec \"$@\" <&-", "-T", "-", "\(server.base)/anything")
        #expect(input.status == 2 || input.status == 26, "\(input.status) \(input.complaints)")
        #expect(input.complaints.split(separator: "\n").count == 1)
        let all = try await shell("exec \"$@\" <&- >&- 2>&-", url)
        #expect(all.status == 23)
    }

    #if os(Linux)  // Other systems have no /dev/full, and other ways to mount.
        @Test("A full disk for standard output is reported with status 23 and one line")
        func fullDisk() async throws {
            let server = try await BinProcess()
            let output = try await shell("exec \"$@\" > /dev/full", "\(server.base)/bytes/1000")
            #expect(output.status == 23)
            #expect(output.complaints == "httpkit: cannot write: No space left on device\n")
        }

        @Test(
            "A full disk for a file is reported with status 23 and one line; no file is left",
            .enabled(MountedServer.reason) { await MountedServer.isAllowed() })
        func fullDiskForFile() async throws {
            let server = try await BinProcess()
            let folder = try Folder()
            let script = """
                mount -t tmpfs -o size=1m none "$0" && cd "$0" || exit 99
                "$@"; echo "status $?"; ls -A
                """
            let words = [
                folder.path, Program.httpkit, "fetch", "\(server.base)/stream-bytes/5000000", "-o",
                "f",
            ]
            let file = try await Program.run(
                "unshare", MountedServer.options + ["sh", "-c", script] + words)
            #expect(file.text == "status 23\n", "\(file.complaints)")
            #expect(file.complaints.contains("No space left on device"))
            #expect(file.complaints.split(separator: "\n").count == 1)
        }
    #endif

    @Test("A named pipe is written to and not replaced, and no error page is written to it")
    func namedPipe() async throws {
        let server = try await BinProcess()
        let script = """
            cd "$0" && mkfifo pipe || exit 99
            cat pipe > content & reader=$!
            "$@"; echo "status $?"
            if [ -p pipe ]; then wait $reader; else kill $reader; fi
            ls
            """
        for (target, status, count) in [("/bytes/1000", 0, 1_000), ("/status/404", 22, 0)] {
            let folder = try Folder()
            let words = [
                folder.path, Program.httpkit, "fetch", "--timeout", "110",
                "\(server.base)\(target)", "-o", "pipe",
            ]
            let result = try await Program.run("sh", ["-c", script] + words)
            #expect(result.text == "status \(status)\ncontent\npipe\n", "\(result.complaints)")
            #expect(folder.bytes("content").count == count)
        }
    }

    @Test("A link is kept, and its target gets the content")
    func link() async throws {
        let server = try await BinProcess()
        let folder = try Folder()
        try folder.write("old", to: "sub/target")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/link", withDestinationPath: "sub/target")
        let result = try await fetch("\(server.base)/bytes/1000", "-o", folder.path + "/link")
        #expect(result.status == 0, "\(result.complaints)")
        #expect(folder.bytes("sub/target").count == 1_000)
        let link = try FileManager.default.destinationOfSymbolicLink(atPath: folder.path + "/link")
        #expect(link == "sub/target")
        #expect(try names(folder) == ["link", "sub"])
        // The target need not exist yet.
        try FileManager.default.removeItem(atPath: folder.path + "/sub/target")
        let again = try await fetch("\(server.base)/bytes/1000", "-o", folder.path + "/link")
        #expect(again.status == 0, "\(again.complaints)")
        #expect(folder.bytes("sub/target").count == 1_000)
        #expect(try names(folder) == ["link", "sub"])
    }

    @Test("Standard output by any name is appended to")
    func standardOutput() async throws {
        let server = try await BinProcess()
        let folder = try Folder()
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/link", withDestinationPath: "/dev/fd/1")
        for name in ["link", "-"] {
            try folder.write("first\n", to: "out")
            let words = ["\(server.base)/bytes/1000", "-o", name]
            let result = try await Program.run(
                "sh",
                ["-c", "cd \"$0\" && \"$@\" >> out", folder.path, Program.httpkit, "fetch"] + words)
            #expect(result.status == 0, "\(result.complaints)")
            #expect(folder.bytes("out").count == 1_006 && folder.text("out").hasPrefix("first\n"))
            #expect(try names(folder) == ["link", "out"], "\(name)")
        }
    }

    @Test("If the file cannot be written, no other file is left")
    func unwritable() async throws {
        let server = try await BinProcess()
        let folder = try Folder()
        try folder.write("x", to: "sub/x")
        for path in [folder.path + "/sub", folder.path + "/missing/file"] {
            let result = try await fetch("\(server.base)/bytes/10", "-o", path)
            #expect(result.status == 23, "\(path)")
            #expect(result.complaints.split(separator: "\n").count == 1)
        }
        #expect(try names(folder) == ["sub"] && folder.text("sub/x") == "x")
    }

    @Test("Cookies that cannot be saved are reported")
    func cookieJar() async throws {
        let server = try await BinProcess()
        let folder = try Folder()
        let url = "\(server.base)/response-headers?Set-Cookie=a%3Db"
        let kept = try await fetch(url, "--cookie-jar", folder.path + "/jar")
        #expect(kept.status == 0 && kept.complaints.isEmpty)
        #expect(folder.text("jar").contains("\ta\tb\n"))
        let lost = try await fetch(url, "--cookie-jar", folder.path + "/missing/jar")
        #expect(lost.status == 23 && lost.text.contains("Set-Cookie"))
        let fault = "cookies: \(folder.path)/missing/jar: open: No such file or directory"
        #expect(lost.complaints == "httpkit: cannot write file: \(fault)\n")
    }

    @Test("A status without a name is reported by its number")
    func strangeStatus() async throws {
        let server = try await BinProcess()
        let result = try await fetch("\(server.base)/status/999")
        #expect(result.status == 22)
        #expect(result.complaints == "httpkit: the server answered 999\n")
    }

    @Test(
        "Invalid arguments are refused with status 64",
        arguments: [
            [], ["-X", "A B"], ["-H", "novalue"], ["-H", "a b: c"], ["-H", "a: b\u{1}"],
            ["-d", "a", "-d", "@file"], ["-d", "@file", "-d", "a"], ["-d", "a", "-F", "a=b"],
            ["-F", "novalue"], ["-T", "a", "-d", "b"], ["--connect-to", ""],
            ["--connect-to", "a:99999"], ["--connect-to", "a:80:127.0.0.1:8080"],
            ["--max-redirects", "x"], ["--user", "name"],
            ["--http1", "--http2"], ["--timeout", "0"], ["--timeout", "soon"], ["--resume"],
            ["--no-such-flag"], ["another"],
            ["--resume", "-o", "-"],
        ])
    func usage(_ arguments: [String]) async throws {
        let url = arguments.isEmpty ? [] : ["http://127.0.0.1:9/"]
        let result = try await Program.run(Program.httpkit, ["fetch"] + url + arguments)
        #expect(result.status == 64 && result.output.isEmpty, "\(result.complaints)")
        #expect(result.complaints.contains("Error: "))
    }
}
