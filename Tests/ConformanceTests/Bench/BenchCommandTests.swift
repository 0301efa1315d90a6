import Foundation
import TestSupport
import Testing

@Suite("httpkit bench", .fewAtOnce, .timeLimit(.minutes(3)))
struct BenchCommandTests {
    private struct Report: Decodable {
        var connections: Int
        var seconds: Double
        var requests: Int
        var requestsPerSecond: Double
        var bytes: Int
        var statuses: [String: Int]
        var failures: [String: Int]
        var latency: [String: Double]
    }

    private func bench(_ arguments: [String]) async throws -> (Program.Result, Report?) {
        let result = try await Program.run(Program.httpkit, ["bench", "--json"] + arguments)
        return (result, try? JSONDecoder().decode(Report.self, from: Data(result.output)))
    }

    @Test(
        "The requested number of requests is sent, and their bytes are counted", arguments: [1, 7])
    func requests(_ connections: Int) async throws {
        let folder = try Folder()
        try folder.write("Hello", to: "a.txt")
        let server = try await ServeProcess(folder)
        let (result, found) = try await bench(
            [server.url("/a.txt"), "-n", "100", "-c", "\(connections)"])
        let report = try #require(found, "\(result.complaints)")
        #expect(result.status == 0 && report.connections == connections)
        #expect(report.requests == 100 && report.bytes == 500)
        #expect(report.statuses == ["200": 100] && report.failures.isEmpty)
        let least = try #require(report.latency["min"])
        let most = try #require(report.latency["max"])
        #expect(least > 0 && least <= most && report.requestsPerSecond > 0)
    }

    @Test("bench ends after the duration, and reports the responses until then")
    func duration() async throws {
        let folder = try Folder()
        try folder.write("Hello", to: "a.txt")
        let server = try await ServeProcess(folder)
        // Half a second may be too short if other tests keep the machine busy.
        var requests = 0
        for duration in [0.5, 5, 30] where requests == 0 {
            let (result, found) = try await bench(
                [server.url("/a.txt"), "-z", "\(duration)", "-c", "4"])
            let report = try #require(found, "\(result.complaints)")
            #expect(result.status == (report.requests > 0 ? 0 : 2) && report.seconds >= duration)
            #expect(report.failures.isEmpty)
            requests = report.requests
        }
        #expect(requests > 0)
    }

    @Test("Statuses and bytes of responses to POST with content and to HEAD are counted")
    func content() async throws {
        let folder = try Folder()
        let server = try await ServeProcess(folder, ["--echo", "/echo"])
        let (result, found) = try await bench(
            [server.url("/echo"), "-n", "3", "-c", "1", "-d", "a=b", "-H", "X-Test: 1"])
        let report = try #require(found, "\(result.complaints)")
        #expect(report.statuses == ["200": 3] && report.bytes > 0)
        let (_, missing) = try await bench([
            server.url("/none"), "-n", "2", "-c", "1", "-X", "HEAD",
        ])
        #expect(missing?.statuses == ["404": 2] && missing?.bytes == 0)
    }

    @Test("A refused connection is reported in one line with the exit status of curl")
    func refused() async throws {
        let (result, report) = try await bench(["http://127.0.0.1:1/"])
        #expect(result.status == 7 && report == nil && result.output.isEmpty)
        #expect(result.complaints.split(separator: "\n").count == 1)
    }

    #if os(Linux)  // Other systems have no /dev/full.
        @Test("A report that cannot be written is reported in one line with status 23")
        func fullDisk() async throws {
            let server = try await ServeProcess(try Folder())
            let result = try await Program.run(
                "sh",
                [
                    "-c", "exec \"$@\" > /dev/full", "sh", Program.httpkit, "bench",
                    server.url("/"), "-n", "1", "-c", "1",
                ])
            #expect(result.status == 23)
            #expect(result.complaints == "httpkit: cannot write: No space left on device\n")
        }
    #endif

    @Test(
        "Invalid options are refused with status 64",
        arguments: [
            ["-c", "0"], ["-c", "10001"], ["-n", "0"], ["-z", "0"], ["-z", "-1"], ["-X", "a b"],
            ["-H", "x"], ["--connect-to", ""],
        ])
    func usage(_ flags: [String]) async throws {
        let (result, _) = try await bench(["http://127.0.0.1:1/"] + flags)
        #expect(result.status == 64)
    }
}
