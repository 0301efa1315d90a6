import Foundation
import TestSupport
import Testing

@Suite("make install", .fewAtOnce, .timeLimit(.minutes(3)))
struct InstallTests {
    private func install(_ prefix: String) async throws -> Program.Result {
        try await Program.run(Program.script("install"), [Program.httpkit, prefix])
    }

    @Test("Only the program, its manual pages and completions are installed below the prefix")
    func files() async throws {
        let place = try Folder()
        let result = try await install(place.path + "/new")
        #expect(result.status == 0 && result.complaints.isEmpty, "\(result.complaints)")
        let names = result.text.split(separator: "\n").map {
            String($0).replacing(place.path + "/new/", with: "")
        }
        let pages = ["", "-bench", "-bin", "-fetch", "-parse", "-serve"].map {
            "share/man/man1/httpkit\($0).1"
        }
        #expect(
            Set(names)
                == Set(
                    pages + [
                        "bin/httpkit", "share/bash-completion/completions/httpkit",
                        "share/fish/vendor_completions.d/httpkit.fish",
                        "share/zsh/site-functions/_httpkit",
                    ]))
        let version = try await Program.run(place.path + "/new/bin/httpkit", ["--version"])
        #expect(version.status == 0)
        // A second installation replaces the files.
        #expect(try await install(place.path + "/new").status == 0)
        let manager = FileManager.default
        let found = try #require(manager.enumerator(atPath: place.path + "/new")).allObjects
        #expect(found.compactMap { $0 as? String }.filter { $0.hasSuffix(".new") }.isEmpty)
    }

    @Test("The program, its manual pages and the change log have the same version")
    func version() async throws {
        let place = try Folder()
        _ = try await install(place.path)
        let said = try await Program.run(place.path + "/bin/httpkit", ["--version"])
        let version = said.text.replacing("\n", with: "")
        let log = try String(
            contentsOfFile: Program.script("../CHANGELOG.md"), encoding: .utf8)
        let newest = try #require(log.firstMatch(of: /\n## \[([0-9.]+)\] - \d{4}-\d\d-\d\d\n/))
        #expect(version == newest.1)
        let pages = try FileManager.default.contentsOfDirectory(
            atPath: place.path + "/share/man/man1")
        #expect(pages.count == 6)
        for page in pages {
            let title = place.text("share/man/man1/" + page).split(separator: "\n").first
            #expect(title?.contains("\"httpkit \(version)\"") == true, "\(page)")
        }
    }

    @Test("The page of serve has flags and sections, and no text is a roff request")
    func page() async throws {
        let place = try Folder()
        _ = try await install(place.path)
        let page = place.text("share/man/man1/httpkit-serve.1")
        for text in [
            ".TH \"HTTPKIT\\-SERVE\" \"1\"", ".SH NAME\nhttpkit\\-serve \\- Serve",
            "\\fB\\-p\\fR, \\fB\\-\\-port\\fR \\fIport\\fR", "(default: 8080)", ".SH PROXIES",
            "HTTPKIT_PORT=8000", "systemd.socket(5)",
        ] {
            #expect(page.contains(text), "\(text)")
        }
        let requests = page.split(separator: "\n").filter { $0.hasPrefix(".") || $0.hasPrefix("'") }
        let known = [".TH ", ".SH ", ".TP", ".IP", ".PP", ".EX", ".EE"]
        #expect(requests.allSatisfy { line in known.contains { line.hasPrefix($0) } })
    }

    @Test(
        "The flags in the examples of a page are listed as its options",
        arguments: ["serve", "fetch"])
    func examples(_ command: String) async throws {
        let place = try Folder()
        _ = try await install(place.path)
        let page = place.text("share/man/man1/httpkit-\(command).1").replacing("\\-", with: "-")
        let parts = page.split(separator: "\n.SH EXAMPLES\n")
        let (options, examples) = (try #require(parts.first), try #require(parts.dropFirst().first))
        let words = examples.split { $0 == " " || $0 == "\n" }
        let flags = words.filter { $0.wholeMatch(of: #/--?[A-Za-z][A-Za-z-]*/#) != nil }
        #expect(flags.count >= 5)
        for flag in flags { #expect(options.contains("\\fB\(flag)\\fR"), "\(flag)") }
        #expect(examples.matches(of: #/\nhttpkit /#).count == 3)
    }

    @Test("The completions contain a flag of serve", arguments: ["bash", "zsh", "fish"])
    func completions(_ shell: String) async throws {
        let result = try await Program.run(
            Program.httpkit, ["--generate-completion-script", shell])
        #expect(result.status == 0 && result.text.contains("unix-socket"))
    }

    private static func has(_ shell: String) -> Bool { (try? Program.find(shell)) != nil }

    private func reads(_ shell: String) async throws {
        let script = try await Program.run(
            Program.httpkit, ["--generate-completion-script", shell])
        let check = try await Program.run(shell, ["-n"], input: script.output)
        #expect(script.status == 0 && check.status == 0, "\(check.complaints)")
    }

    @Test(
        "bash parses its completions without an error",
        .enabled(if: has("bash"), "bash is not installed"))
    func bash() async throws { try await reads("bash") }

    @Test(
        "zsh parses its completions without an error",
        .enabled(if: has("zsh"), "zsh is not installed"))
    func zsh() async throws { try await reads("zsh") }

    @Test(
        "fish parses its completions without an error",
        .enabled(if: has("fish"), "fish is not installed"))
    func fish() async throws { try await reads("fish") }
}
