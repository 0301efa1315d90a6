import TestSupport
import Testing

@Suite("httpkit bin --torture-port, used by curl", .fewAtOnce)
struct TortureTests {
    @Test(
        "Unusual, valid responses are received completely",
        arguments: [
            "no-reason", "no-reason-no-space", "odd-status", "bare-lf", "latin-1", "obs-fold",
            "no-space", "empty-values", "same-length-twice", "interim", "interim-flood",
            "trailers", "chunk-extensions", "tiny-chunks", "until-close", "http-1.0",
            "byte-by-byte", "many-cookies", "raw-deflate", "stale", "stale-reset", "closes-soon",
        ])
    func legal(name: String) async throws {
        let server = try await BinProcess()
        let result = try await server.torture("--compressed", path: name)
        #expect(result.status == 0 && result.text == "whole\n")
    }

    @Test("The connection is used again after unusual, valid responses")
    func goesOn() async throws {
        let server = try await BinProcess()
        let names = [
            "no-reason", "bare-lf", "latin-1", "interim", "trailers", "no-content-with-length",
            "not-modified-with-length", "many-cookies",
        ]
        let result = try await Program.run(
            "curl",
            ["-sS", "-m", "110", "-o", "/dev/null", "-w", "%{num_connects}\n"]
                + names.map { "\(server.torture)/\($0)" })
        #expect(result.text.split(separator: "\n").last?.hasSuffix("0") == true)
        #expect(result.status == 0)
    }

    @Test("Letters that are longer in lower case do not end the program")
    func longerLetters() async throws {
        let server = try await BinProcess()
        let letters = String(repeating: "\u{130}", count: 200)
        for _ in 0..<2 {
            let result = try await server.torture(
                "-H", "X: \(letters)", "-H", "Content-Length: 5", "-d", "hello", path: "latin-1")
            #expect(result.status == 0 && result.text == "whole\n")
        }
    }

    @Test(
        "curl replaces a stale connection by a new one",
        arguments: ["stale", "stale-reset"])
    func stale(name: String) async throws {
        let server = try await BinProcess()
        let url = "\(server.torture)/\(name)"
        let result = try await Program.run("curl", ["-sS", "-m", "110", url, url, url])
        #expect(result.status == 0 && result.text == "whole\nwhole\nwhole\n")
    }

    @Test(
        "Broken responses have the expected exit status of curl",
        arguments: [
            ("http-0.9", [1]), ("garbage", [1]), ("wrong-version", [1]), ("wrong-protocol", [1]),
            ("bad-status", [1, 8]), ("nul", [8]), ("huge-field", [27, 56, 100]),
            ("endless-head", [56]), ("close", [52]), ("reset", [56]), ("reset-in-head", [56]),
            ("continue-close", [52]), ("short", [18]), ("short-reset", [56]), ("bad-length", [8]),
            ("bad-chunk", [56]), ("huge-chunk", [56]), ("truncated-chunk", [18]),
            ("no-last-chunk", [18]), ("gzip-garbage", [61]), ("gzip-bad-check", [61]),
        ] as [(String, [CInt])])
    func broken(name: String, statuses: [CInt]) async throws {
        let server = try await BinProcess()
        let result = try await server.torture("--compressed", "-o", "/dev/null", path: name)
        #expect(statuses.contains(result.status), "\(result.status): \(result.complaints)")
    }

    @Test(
        "Responses without an end run into the timeout of curl",
        arguments: [
            "silence", "stall", "stall-before-content", "slow", "slow-head", "continue-only",
        ])
    func endless(name: String) async throws {
        let server = try await BinProcess()
        let result = try await server.torture("-o", "/dev/null", path: name, seconds: 1)
        #expect(result.status == 28)
    }

    @Test("curl downloads less than 1 MiB of the gzip bomb")
    func bomb() async throws {
        let server = try await BinProcess()
        let result = try await server.torture(
            "--compressed", "-o", "/dev/null", "-w", "%{size_download}", path: "gzip-bomb")
        #expect(result.status == 0 && (Int(result.text) ?? .max) < 1 << 20)
    }

    @Test(
        "Circular redirects end at the limit of curl",
        arguments: ["redirect-self", "redirect-ping"])
    func circles(name: String) async throws {
        let server = try await BinProcess()
        let result = try await server.torture("-L", path: name)
        #expect(result.status == 47)
    }

    @Test("The index lists cases, and an unknown case is 404")
    func index() async throws {
        let server = try await BinProcess()
        let page = try await server.torture(path: "").text
        for name in ["no-reason", "endless-trailers", "gzip-bomb", "redirect-two"] {
            #expect(page.contains("href=\"/\(name)\""))
        }
        let missing = try await server.torture(
            "-o", "/dev/null", "-w", "%{http_code}", path: "nothing-of-that-name")
        #expect(missing.text == "404")
    }
}
