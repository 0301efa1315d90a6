import Foundation
import TestSupport
import Testing

@Suite("httpkit fetch: streams, terminals, exit statuses", .fewAtOnce, .timeLimit(.minutes(5)))
struct FetchInputTests {
    @Test(
        "-d @- and -T - read standard input", arguments: [["-d", "@-"], ["-T", "-", "-X", "PUT"]])
    func standardInput(_ arguments: [String]) async throws {
        let server = try await BinProcess()
        let input = [UInt8](repeating: UInt8(ascii: "x"), count: 300_000)
        let url = server.base + "/anything"
        let ours = try await Program.run(
            Program.httpkit, ["fetch", url] + arguments, input: input)
        let curl = try await Program.run(
            "curl", ["-sS", "-m", "110", url] + arguments, input: input)
        #expect(ours.status == 0 && curl.status == 0, "\(ours.complaints)\(curl.complaints)")
        for key in ["data", "form", "method"] {
            #expect(try value(key, ours) == value(key, curl))
        }
        let fields = try #require(value("headers", ours) as? NSDictionary)
        #expect((fields["Content-Length"] != nil) == (arguments[0] == "-d"))
    }

    private func value(_ key: String, _ result: Program.Result) throws -> NSObject? {
        let json = try JSONSerialization.jsonObject(with: Data(result.output)) as? [String: Any]
        return json?[key] as? NSObject
    }

    /// Runs a program whose output is a terminal.
    private func onTerminal(_ arguments: [String]) async throws -> Program.Result {
        let script = """
            import os, pty, sys
            sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))
            """
        return try await Program.run("python3", ["-c", script, Program.httpkit] + arguments)
    }

    @Test("Progress is shown only on terminals, and not with --no-progress")
    func progress() async throws {
        let server = try await BinProcess()
        let folder = try Folder()
        let call = ["fetch", "-o", folder.file("f").path, server.base + "/range/3000000"]
        let shown = try await onTerminal(call)
        #expect(shown.status == 0 && shown.text.contains("100 %"), "\(shown.text)")
        #expect(shown.text.contains("2.8 MiB of 2.8 MiB"))
        let silent = try await onTerminal(call + ["--no-progress"])
        #expect(silent.status == 0 && silent.text.isEmpty, "\(silent.text)")
        let piped = try await Program.run(Program.httpkit, call)
        #expect(piped.status == 0 && piped.complaints.isEmpty)
    }

    @Test("Errors of files, certificates, TLS, URLs and redirects have the exit statuses of curl")
    func statuses() async throws {
        let server = try await BinProcess()
        let plain = server.base.replacingOccurrences(of: "http:", with: "https:")
        let cases: [(status: CInt, arguments: [String])] = [
            (26, ["-T", "/nonexistent/f", server.base + "/put"]),
            (23, ["-o", "/nonexistent/f", server.base + "/get"]),
            (77, ["--cacert", "/nonexistent/f", plain + "/get"]),
            (35, [plain + "/get"]),
            (3, ["http://127.0.0.1:99999/"]),
            (47, ["--max-redirs", "1", "-L", server.base + "/redirect/3"]),
            (0, ["-d", "a", server.base + "/post"]),
        ]
        for (status, arguments) in cases {
            let curl = try await Program.run("curl", ["-sS", "-m", "110"] + arguments)
            #expect(curl.status == status, "\(arguments)")
            let renamed = arguments.filter { $0 != "-L" }
                .map { $0 == "--max-redirs" ? "--max-redirects" : $0 }
            let ours = try await Program.run(Program.httpkit, ["fetch"] + renamed)
            #expect(ours.status == status, "\(arguments): \(ours.complaints)")
            #expect(ours.complaints.split(separator: "\n").count == (status == 0 ? 0 : 1))
        }
    }
}
