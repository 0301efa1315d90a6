import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("Arrival time of a request")
struct ArrivalTests {
    private static func get(_ path: String) -> String {
        "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    }

    /// Runs a server of one loop while the body runs.
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

    /// Waits until the loop has read the sent bytes.
    private func pause(_ loop: EventLoop) async throws {
        try await Task.sleep(for: .milliseconds(50))
        // The loop may be late. It polls its sockets between two turns.
        for _ in 0..<12 {
            await withCheckedContinuation { continuation in
                loop.execute { continuation.resume() }
            }
        }
    }

    @Test("Only a request that a socket event reports with its whole head has an arrival time")
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
            // One read gets both.
            try await client.send(Self.get("/1") + Self.get("/2"))
            _ = try await client.receive(through: "end of /2\n")
            // The head arrives in two reads.
            try await client.send("GET /3 HTTP/1.1\r\n")
            try await pause(loop)
            try await client.send("Host: a\r\n\r\n")
            _ = try await client.receive(through: "end of /3\n")
            // The event reports an empty line, not the request.
            try await client.send("\r\n" + Self.get("/4"))
            _ = try await client.receive(through: "end of /4\n")
            // The event reports the end of the previous request's content.
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
        "With shared checks, a handler that changes a file sends the old one, else the new one",
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
                // The first call opens and keeps the file, the second one checks it.
                for _ in 1...2 { _ = try answer() }
                try directory.write("b.txt", "new")
                try directory.rename("b.txt", to: "a.txt")
                return try answer()
            })
        try await serving(router) { port, _ in
            let client = try PlainSocket(port: port)
            try await client.send(Self.get("/a.txt"))
            // As documented, with shared checks the check before the change is used.
            _ = try await client.receive(through: "\r\n\r\n" + (sharesChecks ? "old" : "new"))
        }
        #expect(!FileHandler.Options().sharesChecks)
    }

    @Test("A pipelined request gets the file that the previous request has changed")
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

    @Test("A changed file is sent on each of two connections")
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
