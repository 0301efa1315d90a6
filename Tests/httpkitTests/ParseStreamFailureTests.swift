import TestSupport
import Testing

@Suite("httpkit parse: streams that fail")
struct ParseStreamFailureTests {
    private func parse(_ redirection: String, _ flags: [String]) async throws -> Program.Result {
        try await Program.run(
            "sh", ["-c", "exec \"$@\" \(redirection)", "sh", Program.httpkit, "parse"] + flags,
            input: Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
    }

    @Test(
        "An input that cannot be read gives one error line and status 23",
        arguments: [[], ["--response"], ["--batch"]])
    func unreadable(_ flags: [String]) async throws {
        let result = try await parse("< /", flags)
        #expect(result.status == 23 && result.output.isEmpty)
        #expect(result.complaints == "httpkit: cannot read standard input: Is a directory\n")
    }

    #if os(Linux)  // Other systems have no /dev/full.
        @Test(
            "A full disk gives one error line and status 23",
            arguments: [[], ["--response"], ["--batch"]])
        func fullDisk(_ flags: [String]) async throws {
            let result = try await parse("> /dev/full", flags)
            #expect(result.status == 23)
            #expect(result.complaints == "httpkit: cannot write: No space left on device\n")
        }
    #endif
}
