import Foundation
import HTTPParser
import HTTPServerAddresses
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("httpkit serve on a network interface", .fewAtOnce)
struct InterfaceTests {
    @Test("The name of an interface means its addresses, of which the URL has one")
    func interface() async throws {
        let loopback = try #require(
            try NetworkInterface.all().first { $0.flags.contains(.loopback) })
        let directory = try ServerDirectory()
        try directory.write("file", "content\n")
        let server = try await ServeProcess(
            path: directory.path, ["--host", loopback.name])
        #expect(
            server.output == "Serving \(directory.path) at http://127.0.0.1:\(server.port)/\n")
        #expect(try await server.get("/file").text == "content\n")
    }
}

@Suite("httpkit serve: addresses, hosts and log", .fewAtOnce, .timeLimit(.minutes(3)))
struct ServedAddressTests {
    private func folder() throws -> Folder {
        let folder = try Folder()
        try folder.write("content\n", to: "file")
        return folder
    }

    @Test(
        "For all addresses serve prints one that other machines can reach",
        arguments: ["*", "0.0.0.0", "::"])
    func wildcard(_ host: String) async throws {
        let folder = try folder()
        let server = try await ServeProcess(folder, ["--host", host, "--echo", "/echo"])
        let others = try NetworkInterface.all().filter { $0.flags.contains(.up) }
            .flatMap(\.addresses).filter { $0.scope == .private || $0.scope == .global }
            .map { $0.family == .ipv6 ? "[\($0.host)]" : $0.host }
        let lines = server.output.split(separator: "\n")
        #expect(lines.count == 2)
        let start = "Serving \(folder.path) at http://"
        let line = try #require(lines.first)
        #expect(line.hasPrefix(start) && line.hasSuffix(":\(server.port)/"))
        let shown = String(line.dropFirst(start.count).dropLast(":\(server.port)/".count))
        // A machine without a network, or without IPv6, has only local addresses.
        let possible = host == "::" ? others.filter { $0.hasPrefix("[") } : others
        let isOther = others.contains(shown)
        #expect(isOther || possible.isEmpty, "\(line)")
        #expect(!["localhost", "0.0.0.0", "[::]"].contains(shown) || others.isEmpty)
    }

    @Test(
        "Unknown hosts are refused, with and without --webdav",
        arguments: [[], ["--host", "*"], ["--webdav", "/dav"]])
    func rebinding(_ flags: [String]) async throws {
        let server = try await ServeProcess(try folder(), flags)
        let name = Syscalls.hostName()
        let hosts = [
            ("evil.example", 421), ("printer.local", 421), ("xlocalhost", 421), ("localhost", 200),
            ("127.0.0.1:\(server.port)", 200), (name, 200), ("\(name).local:80", 200),
        ]
        for (host, status) in hosts {
            let socket = try server.connect()
            try await socket.send("GET /file HTTP/1.1\r\nHost: \(host)\r\n\r\n")
            #expect(try await socket.response().status == status, "\(host)")
        }
    }

    @Test("The response and the log of a refused host name the flag that allows it", .overTLSToo)
    func refusedHost() async throws {
        let server = try await ServeProcess(try folder())
        let answer = try await server.get("/file", [.host: "evil.example"])
        #expect(answer.status == .misdirectedRequest)
        #expect(answer.text.contains("--allow-host makes it known"))
        #expect(await server.waitForComplaint("--allow-host makes it known"))
        #expect(server.complaints.contains("host=evil.example "))
    }

    @Test("A host of --allow-host is accepted")
    func allowedHost() async throws {
        let server = try await ServeProcess(try folder(), ["--allow-host", "*.example"])
        let socket = try server.connect()
        try await socket.send("GET /file HTTP/1.1\r\nHost: a.example\r\n\r\n")
        #expect(try await socket.response().status == 200)
    }

    @Test("The local address of a request is that of its connection, not of the listener")
    func localAddress() async throws {
        var configuration = ServerConfiguration(host: "0.0.0.0", port: 0)
        configuration.loops = 1
        let seen = ServerLog<ConnectionInfo>()
        let server = HTTPServer(
            configuration,
            handler: SyncHandler { request in
                seen.add(request.connection)
                return .text("\(request.target.text == "/local" ? request.local.description : "")")
            })
        try await server.start()
        let port = try #require(server.addresses.first?.port)
        var socket: PlainSocket? = try PlainSocket(port: port)
        try await socket?.send("GET /local HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try await socket?.response().text == "127.0.0.1:\(port)")
        socket = try PlainSocket(port: port)
        try await socket?.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try await socket?.response().status == 200)
        socket = nil
        await server.shutdown(grace: .zero)
        // An address that was read is kept; otherwise it is that of the listener.
        #expect(seen.entries.map(\.local.host) == ["127.0.0.1", "0.0.0.0"])
    }

    @Test(
        "An upload of 5 GB is not refused because of its length, but one above --max-body is",
        arguments: [([], 5 << 30, false), (["--max-body", "1K"], 1_025, true)]
            as [([String], Int, Bool)])
    func largestUpload(_ flags: [String], _ length: Int, _ isRefused: Bool) async throws {
        let server = try await ServeProcess(try folder(), ["--webdav", "/dav"] + flags)
        let socket = try server.connect()
        try await socket.send(
            "PUT /dav/new HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(length)\r\n"
                + "Expect: 100-continue\r\n\r\n")
        let head = try await socket.receive(through: "\r\n\r\n")
        // 507 if the disk has no space for it.
        let expected = isRefused ? ["413"] : ["100", "507"]
        #expect(expected.contains { head.hasPrefix("HTTP/1.1 \($0)") }, "\(head)")
    }

    #if os(Linux)
        @Test("A stopped reader of the log blocks neither requests nor the shutdown")
        func stalledLog() async throws {
            // A program that never reads its standard input.
            let fifo = try Folder()
            let path = fifo.file("log").path
            #expect(unsafe mkfifo(path, 0o600) == 0)
            let descriptor = unsafe open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
            defer { close(descriptor) }
            let blocking = unsafe open(path, O_WRONLY | O_CLOEXEC)
            defer { close(blocking) }
            let server = try await ServeProcess(
                try folder(), ["--log-level", "trace", "--access-log"], errors: blocking)
            let socket = try server.connect()
            let long = String(repeating: "a", count: 4_000)
            // Many times the size of a pipe's buffer.
            for _ in 0..<200 {
                try await socket.send("GET /file?\(long) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(try await socket.response().status == 200)
            }
            server.signal(SIGTERM)
            // Otherwise it would wait for the reader forever.
            #expect(await server.waitForEnd() == 0)
        }
    #endif
}
