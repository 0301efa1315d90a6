import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("When a request had begun to arrive")
struct ArrivalTests {
    private static func get(_ path: String) -> String {
        "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    }

    /// Runs a server of one loop as long as the body does.
    private func serving(
        _ router: Router, _ body: (UInt16, EventLoop) async throws -> Void
    ) async throws {
        var configuration = ServerConfiguration(endpoints: [.tcp(host: "127.0.0.1", port: 0)])
        configuration.loops = 1
        let server = HTTPServer(configuration, handler: router)
        try await server.start()
        try await body(
            try #require(server.addresses.first?.port), try #require(server.loops.first))
        await server.shutdown()
    }

    /// Waits until the loop has read what was sent.
    private func pause(_ loop: EventLoop) async throws {
        try await Task.sleep(for: .milliseconds(50))
        // It may be late. Between two of its turns it looks at its sockets.
        for _ in 0..<12 {
            await withCheckedContinuation { continuation in
                loop.execute { continuation.resume() }
            }
        }
    }

    @Test("It is known of the request that the event of a socket reports, and of no other")
    func known() async throws {
        let log = ServerLog<(path: String, arrival: UInt64)>()
        var router = Router()
        router.on(nil, "/*") { request in
            log.add((request.target.text, request.storage.arrival))
            return Response(.ok, body: .text("end of \(request.target.text)\n"))
        }
        let begin = Syscalls.monotonic()
        try await serving(router) { port, loop in
            let client = try PlainSocket(port: port)
            // One read has both.
            try await client.send(Self.get("/1") + Self.get("/2"))
            _ = try await client.receive(through: "end of /2\n")
            // The head comes in two reads.
            try await client.send("GET /3 HTTP/1.1\r\n")
            try await pause(loop)
            try await client.send("Host: a\r\n\r\n")
            _ = try await client.receive(through: "end of /3\n")
            // The event reports an empty line, not the request.
            try await client.send("\r\n" + Self.get("/4"))
            _ = try await client.receive(through: "end of /4\n")
            // It reports the end of the content of the request before.
            try await client.send("POST /5 HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab")
            try await pause(loop)
            try await client.send("cd" + Self.get("/6"))
            _ = try await client.receive(through: "end of /6\n")
            try await client.send(Self.get("/7"))
            _ = try await client.receive(through: "end of /7\n")
        }
        let end = Syscalls.monotonic()
        #expect(log.entries.map(\.path) == (1...7).map { "/\($0)" })
        for (path, arrival) in log.entries {
            if ["/1", "/5", "/7"].contains(path) {
                #expect(arrival > begin && arrival < end, "\(path)")
            } else {
                #expect(arrival == .max, "\(path)")
            }
        }
    }

    /// A handler whose files are cached at once.
    private func files(
        in directory: ServerDirectory, sharesChecks: Bool = true
    ) throws -> FileHandler {
        var options = FileHandler.Options()
        options.sharesChecks = sharesChecks
        return try FileHandler(directory: directory.path, options: options, settlingSeconds: 0)
    }

    @Test(
        "A handler that changes a file and has it served for the same request serves the new one",
        arguments: [false, true])
    func changedByHandler(sharesChecks: Bool) async throws {
        let directory = try ServerDirectory()
        try directory.write("a.txt", "old")
        let files = try files(in: directory, sharesChecks: sharesChecks)
        var router = Router()
        router.route(
            .get, "/a.txt",
            to: SyncHandler { request in
                let answer = {
                    guard case .now(let response) = try files.answer(request) else {
                        throw HTTPError(.internalServerError)
                    }
                    return response
                }
                // One opens and keeps it, one checks it.
                for _ in 1...2 { _ = try answer() }
                try directory.write("b.txt", "new")
                try directory.rename("b.txt", to: "a.txt")
                return try answer()
            })
        try await serving(router) { port, _ in
            let client = try PlainSocket(port: port)
            try await client.send(Self.get("/a.txt"))
            // As it is documented, with shared checks the check before the change counts.
            _ = try await client.receive(through: "\r\n\r\n" + (sharesChecks ? "old" : "new"))
        }
        #expect(!FileHandler.Options().sharesChecks)
    }

    @Test("A request behind another one on its connection sees what that one has changed")
    func pipelined() async throws {
        let directory = try ServerDirectory()
        try directory.write("a.txt", "old")
        var router = Router()
        router.mount("/", try files(in: directory))
        router.on(.get, "/change") { _ in
            try directory.write("b.txt", "new")
            try directory.rename("b.txt", to: "a.txt")
            return Response(.ok, body: .text("changed"))
        }
        try await serving(router) { port, _ in
            let client = try PlainSocket(port: port)
            for _ in 1...3 {
                try await client.send(Self.get("/a.txt"))
                _ = try await client.receive(through: "\r\n\r\nold")
            }
            try await client.send(Self.get("/a.txt") + Self.get("/change") + Self.get("/a.txt"))
            _ = try await client.receive(through: "\r\n\r\nold")
            _ = try await client.receive(through: "changed")
            _ = try await client.receive(through: "\r\n\r\nnew")
        }
    }

    @Test("A file that was changed before a request is sent as it is, by whatever connection")
    func alternating() async throws {
        let directory = try ServerDirectory()
        var router = Router()
        router.mount("/", try files(in: directory))
        try await serving(router) { port, _ in
            let clients = try [PlainSocket(port: port), PlainSocket(port: port)]
            for number in 100..<500 {
                try directory.write("b.txt", "text \(number)")
                try directory.rename("b.txt", to: "a.txt")
                for client in number % 2 == 0 ? clients : clients.reversed() {
                    try await client.send(Self.get("/a.txt"))
                }
                for client in clients {
                    _ = try await client.receive(through: "\r\n\r\ntext \(number)")
                }
            }
        }
    }
}
