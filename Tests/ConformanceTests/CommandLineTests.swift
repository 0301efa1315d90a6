import Foundation
import HTTPParser
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

@Suite("httpkit serve: output and statuses for scripts", .fewAtOnce)
struct CommandLineTests {
    private func folder() throws -> Folder {
        let folder = try Folder()
        try folder.write("content\n", to: "f.txt")
        return folder
    }

    @Test func standardOutputHasTheAddressesAndNothingElse() async throws {
        let folder = try folder()
        let server = try await ServeProcess(folder, ["--echo", "/echo", "--access-log"])
        _ = try await server.get("/f.txt")
        _ = try await server.get("/missing")
        server.signal(SIGTERM)
        #expect(await server.waitForEnd() == 0)
        #expect(
            server.output == """
                Serving \(folder.path) at http://127.0.0.1:\(server.port)/
                Echoing requests at http://127.0.0.1:\(server.port)/echo

                """)
    }

    @Test func aPortInUseIsOneLineAndStatus2() async throws {
        let folder = try folder()
        let first = try await ServeProcess(folder)
        let second = try await Program.run(
            Program.httpkit, ["serve", folder.path, "--port", "\(first.port)"])
        #expect(second.status == 2 && second.output.isEmpty)
        #expect(
            second.complaints
                == "httpkit: 127.0.0.1 port \(first.port): address already in use\n")
    }

    @Test(arguments: ["missing", "f.txt"])
    func whatIsNoDirectoryIsOneLineAndStatus2(_ name: String) async throws {
        let folder = try folder()
        let path = folder.file(name).path
        let result = try await Program.run(Program.httpkit, ["serve", path, "--port", "0"])
        #expect(result.status == 2 && result.output.isEmpty)
        #expect(result.complaints.hasPrefix("httpkit: \(path): "))
        #expect(result.complaints.split(separator: "\n").count == 1)
    }

    @Test(arguments: [
        ["--no-such-flag"], ["--port", "70000"], ["--port", "x"], ["--loops", "0"],
        ["--max-body", "-1"], ["--cache-age", "-1"], ["--log-level", "loud"],
        ["--echo", "no-slash"], ["--webdav", "no-slash"], ["one", "two"], ["--auth", "strange"],
        ["--uploader", "no-slash"], ["--uploader-conflict", "keep"], ["--quota", "1G"],
        ["--uploader", "/up", "--uploader-conflict", "strange"],
        ["--uploader", "/up", "--webdav", "/up/"],
    ])
    func aWrongFlagIsStatus64(_ flags: [String]) async throws {
        let result = try await Program.run(Program.httpkit, ["serve", "--port", "0"] + flags)
        #expect(result.status == 64 && result.output.isEmpty)
        #expect(result.complaints.contains("Error: "))
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func aSignalLetsADownloadEnd(_ number: CInt) async throws {
        let folder = try folder()
        // More than the buffers of both sockets can hold, but quickly read on a busy machine.
        let content = [UInt8].noise(12 << 20, seed: 32)
        try folder.write(content, to: "large.bin")
        let server = try await ServeProcess(folder)
        let idle = try server.connect()
        let socket = try server.connect()
        try await socket.send("GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let head = try await socket.receive(through: "\r\n\r\n")
        server.signal(number)
        // The idle connection is closed when the signal arrives.
        #expect(try await idle.receiveAll().isEmpty)
        #expect(PlainResponse(head: head)["content-length"] == "\(content.count)")
        #expect(try await socket.receiveAll() == content)
        #expect(await server.waitForEnd() == 0)
    }

    @Test func theEchoIsJSONInTheOrderOfItsContract() async throws {
        let server = try await ServeProcess(try folder(), ["--echo", "/echo"])
        let socket = try server.connect()
        try await socket.send(
            """
            PATCH /echo?q="1" HTTP/1.1\r\nHost: localhost\r\nX-Two: a\r\nx-two:  b \r\n\
            Content-Length: 3\r\n\r\n\u{0}\u{7F}~
            """)
        let response = try await socket.response()
        let peer = try Echo(response.content).peer
        #expect(response["content-type"] == "application/json")
        #expect(
            response.text == """
                {"method":"PATCH","target":"/echo?q=\\"1\\"","version":"1.1",\
                "fields":[["Host","localhost"],["X-Two","a"],["x-two","b"],["Content-Length","3"]],\
                "content":"AH9+","trailers":[],"peer":"\(peer)"}

                """)
    }

    @Test func theAccessLogIsInCombinedFormat() async throws {
        let server = try await ServeProcess(try folder(), ["--access-log"])
        _ = try await server.get(
            "/f.txt?q=1", [.userAgent: "a \"quoted\" agent", .referer: "http://from/"])
        #expect(await server.waitForComplaint("agent"))
        let line = server.complaints
        let expected =
            #/
            127\.0\.0\.1\ -\ -\ \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d\ \+0000\]\ #
            "GET\ /f\.txt\?q=1\ HTTP/1\.1"\ 200\ 8\ #
            "http://from/"\ "a\ \\"quoted\\"\ agent"\n
            /#
        #expect(line.wholeMatch(of: expected) != nil, "\(line)")
    }

    /// `httpkit serve --access-log 2>&1 | head` must not end the server.
    @Test func aReaderOfTheLogMayGo() async throws {
        var ends: [CInt] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let flags = ["--access-log"]
        let server = try await ServeProcess(try folder(), flags, errors: ends[1])
        for end in ends { close(end) }
        for _ in 0..<3 { #expect(try await server.get("/f.txt").text == "content\n") }
        #expect(server.isRunning)
    }
}
