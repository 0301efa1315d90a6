import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("Access log files")
struct AccessLogWriterTests {
    private let directory: ServerDirectory

    init() throws { directory = try ServerDirectory() }

    private func lines(_ name: String) throws -> [Substring] {
        let bytes = try Syscalls.readFile(directory.path(name))
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }

    private func ask(_ target: String, _ log: AccessLogWriter) async throws {
        _ = try await exchange(
            Sample.target, "GET", target, "User-Agent: test\r\n",
            configuration: .test { $0.accessLog = { log.write($0) } },
            address: PeerAddress(ipv4: (192, 0, 2, 1), port: 4_000))
    }

    @Test("Lines are appended to an existing file")
    func appends() async throws {
        try directory.write("log", "before\n")
        let log = try AccessLogWriter(path: directory.path("log"))
        try await ask("/1", log)
        try await ask("/2", log)
        log.flush()
        let lines = try lines("log")
        #expect(lines.count == 3)
        #expect(lines.first == "before")
        #expect(lines[1].hasPrefix("192.0.2.1 - - ["))
        #expect(lines[1].hasSuffix("] \"GET /1 HTTP/1.1\" 200 2 \"-\" \"test\""))
        #expect(lines[2].contains("\"GET /2 HTTP/1.1\""))
        #expect(log.droppedLines == 0)
    }

    @Test("Lines are written without a flush")
    func byItself() async throws {
        let log = try AccessLogWriter(path: directory.path("log"))
        try await ask("/1", log)
        // Only the file itself shows it.
        try await waitUntil { try !lines("log").isEmpty }
        #expect(try lines("log").count == 1)
    }

    @Test("After a rename the file can be opened again")
    func rotation() async throws {
        let log = try AccessLogWriter(path: directory.path("log"))
        try await ask("/1", log)
        log.flush()
        try Syscalls.moveFile(directory.path("log"), to: directory.path("log.1"), replaces: true)
        try await ask("/2", log)
        try log.reopen()
        try await ask("/3", log)
        log.flush()
        #expect(try lines("log.1").count == 2)
        #expect(try lines("log").count == 1)
        #expect(try lines("log")[0].contains("/3"))
    }

    @Test("A file that cannot be opened is an error, and other writers are not affected")
    func unopenable() async throws {
        #expect(throws: SystemError.self) {
            try AccessLogWriter(path: directory.path("none/log"))
        }
        let log = try AccessLogWriter(path: directory.path("log"))
        #expect(throws: SystemError.self) { try AccessLogWriter(path: "a\u{0}b") }
        try await ask("/1", log)
        log.flush()
        #expect(try lines("log").count == 1)
    }

    @Test("Lines that cannot be written are dropped and counted")
    func lost() async throws {
        let log = AccessLogWriter(descriptor: -1)
        try await ask("/1", log)
        try await ask("/2", log)
        log.flush()
        #expect(log.droppedLines == 2)
    }

    @Test(
        "Lines of IPv4 and IPv6 peers, which are formatted by different code, agree",
        arguments: [
            "", "User-Agent: a b/1.0\r\n", "Referer: http://a/?b\r\nUser-Agent: x\r\n",
            "Referer:\r\n", "User-Agent: \"q\"\r\n", "Referer: \\é\r\n",
        ])
    func plainLines(_ fields: String) async throws {
        var shown: [Substring] = []
        for address in [
            PeerAddress(ipv4: (203, 0, 113, 255), port: 1), PeerAddress(ipv6: (1, 2), port: 1),
        ] {
            let records = ServerLog<AccessRecord>()
            _ = try await exchange(
                Sample.target, "GET", "/a?b=c", fields,
                configuration: .test { $0.accessLog = { records.add($0) } }, address: address)
            let line = try #require(records.entries.first).combined
            #expect(line.hasPrefix("\(address.address.host) - - ["))
            // The date may differ.
            shown.append(line[(line.firstIndex(of: "]") ?? line.endIndex)...])
        }
        #expect(shown[0] == shown[1])
        #expect(shown[0].hasPrefix("] \"GET /a?b=c HTTP/1.1\" 200 6 \""))
    }

    @Test("JSON lines have no terminal control characters")
    func jsonControls() async throws {
        let records = ServerLog<AccessRecord>()
        _ = try await exchange(
            Sample.target, "GET", "/", "User-Agent: \u{80}\u{9F}\u{A0}\u{E9}\u{11F}\r\n",
            configuration: .test { $0.accessLog = { records.add($0) } })
        let line = try #require(records.entries.first).json
        #expect(line.contains("\"userAgent\":\"\\u0080\\u009f\u{A0}\u{E9}\u{11F}\""), "\(line)")
    }

    @Test("JSON lines have the known values only, escaped")
    func json() async throws {
        let log = try AccessLogWriter(path: directory.path("log"), format: .json)
        let cut = MemoryConnection(
            Sample.echo, configuration: .test { $0.accessLog = { log.write($0) } },
            address: PeerAddress(ipv4: (192, 0, 2, 1), port: 4_000))
        cut.send(
            "POST /a?b=\"c\" HTTP/1.1\r\nHost: a\r\nReferer: \"\\\u{9B}\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n")
        cut.end()
        try await cut.closed()
        let client = MemoryConnection(
            Sample.echo, configuration: .test { $0.accessLog = { log.write($0) } },
            address: PeerAddress(ipv4: (192, 0, 2, 1), port: 4_000))
        client.send(Sample.post("abc", "User-Agent: x\r\n"))
        try await client.output("POST abc")
        client.end()
        try await client.closed()
        log.flush()
        let lines = try lines("log").map(String.init)
        #expect(lines.count == 2)
        for part in [
            "{\"time\":\"20", "Z\",\"peer\":\"192.0.2.1\",\"port\":4000,\"connection\":",
            "\"method\":\"POST\",\"target\":\"/a?b=\\\"c\\\"\",\"version\":\"1.1\"",
            "\"referer\":\"\\\"\\\\\\u009b\"", "\"failure\":\"connectionLost\"}",
        ] { #expect(lines[0].contains(part), "\(lines[0])") }
        #expect(
            lines[1].contains(
                "\"target\":\"/\",\"version\":\"1.1\",\"status\":200,\"contentBytes\":8,"
                    + "\"receivedBytes\":3,\"seconds\":0."), "\(lines[1])")
        #expect(lines[1].hasSuffix("\"userAgent\":\"x\"}"))
        #expect(!lines[1].contains("referer"))
    }
}
