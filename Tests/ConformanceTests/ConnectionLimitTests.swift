import Dispatch
import Foundation
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("Limit of connections", .fewAtOnce)
struct ConnectionLimitTests {
    @Test("A connection above the limit waits until another one is closed, then gets its response")
    func waits() async throws {
        var configuration = ServerConfiguration(host: "127.0.0.1", port: 0)
        configuration.connectionLimit = 1
        configuration.closesIdleAtLimit = false
        configuration.loops = 1
        let server = HTTPServer(
            configuration,
            handler: SyncHandler { request in Response(.ok, body: .text(request.path)) })
        try await server.start()
        let port = try #require(server.addresses.first?.port)
        var first: PlainSocket? = try PlainSocket(port: port)
        try await first?.send("GET /first HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try await first?.receive(through: "/first")
        let second = try PlainSocket(port: port)
        try await second.send("GET /second HTTP/1.1\r\nHost: a\r\n\r\n")
        for number in 0..<20 {
            try await first?.send("GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try await first?.receive(through: "\r\n\r\n/\(number)")
            #expect(server.connectionCount == 1)
        }
        first = nil
        _ = try await second.receive(through: "/second")
        #expect(server.connectionCount == 1)
        await server.shutdown(grace: .zero)
    }

    /// Blocks a loop until it is released.
    private final class HeldLoop: Sendable {
        private let gate = DispatchSemaphore(value: 0)

        init(_ loop: EventLoop) async {
            let gate = gate
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                loop.execute {
                    continuation.resume()
                    gate.wait()
                }
            }
        }

        deinit { gate.signal() }

        func letGo() { gate.signal() }
    }

    /// Waits until a loop has polled its sockets, which it does between two turns.
    private static func settle(_ loop: EventLoop) async {
        for _ in 0..<12 {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                loop.execute { continuation.resume() }
            }
        }
    }

    /// Sends a request on a new connection, and checks the response.
    /// - Parameter meanwhile: runs before it waits for the response.
    private static func enter(
        _ target: String, port: UInt16, meanwhile: () async -> Void = {}
    ) async throws -> PlainSocket {
        let client = try PlainSocket(port: port)
        try await client.send(LocalServer.get(target))
        await meanwhile()
        #expect(try await client.response().text == target)
        return client
    }

    @Test(
        "The longest idle connection is closed for a new one",
        .timeLimit(.minutes(2)), arguments: [1, 2], [ConnectionOverflow.wait, .refuse])
    func displacesIdle(loops: Int, overflow: ConnectionOverflow) async throws {
        let closed = ServerLog<ConnectionCloseReason>()
        let local = LocalServer {
            $0.connectionLimit = 8
            $0.connectionOverflow = overflow
            $0.loops = loops
            $0.idleTimeout = .seconds(600)
            $0.hooks.closed = { closed.add($1) }
        }
        let port = try await local.start()
        // All connections are on the last loop, so that the longest idle one is known.
        let (first, last) = (local.server.loops[0], local.server.loops[loops - 1])
        var held: HeldLoop?
        if loops == 2 { held = await HeldLoop(first) }
        let busy = try PlainSocket(port: port)
        try await busy.send(LocalServer.get("/gate"))
        _ = await local.begun.first { $0 == "/gate" }
        var idle: [PlainSocket] = []
        for number in 0..<7 {
            idle.append(try PlainSocket(port: port))
            try await idle[number].send(LocalServer.get("/\(number)"))
            #expect(try await idle[number].response().text == "/\(number)")
        }
        held?.letGo()
        if loops == 2 {
            // The first loop accepts the new connection, but has no connection that it could close.
            let owner = await HeldLoop(last)
            idle.append(
                try await Self.enter("/new0", port: port) {
                    await Self.settle(first)
                    owner.letGo()
                })
            #expect(try await idle[0].receiveAll().isEmpty)
            try await idle[6].send(LocalServer.get("/kept"))
            #expect(try await idle[6].response().text == "/kept")
        }
        for number in (loops - 1)..<20 {
            idle.append(try await Self.enter("/new\(number)", port: port))
        }
        // Twenty connections are closed, the oldest first, and the busy one is still open.
        if loops == 1 {
            for socket in idle[..<20] { #expect(try await socket.receiveAll().isEmpty) }
            try await idle[20].send(LocalServer.get("/kept"))
            #expect(try await idle[20].response().text == "/kept")
        }
        // The slot becomes free shortly before the hook is called.
        try await waitUntil { closed.entries.count >= 20 }
        #expect(closed.entries.allSatisfy { $0 == .displaced })
        // Each loop may close a connection for the same new one, which only one of them accepts.
        #expect((9 - loops...8).contains(local.server.connectionCount))
        local.gate.open()
        #expect(try await busy.response().text == "/gate")
        await local.server.shutdown(grace: .zero)
    }

    @Test(
        "A new connection waits for a loop that is slow to close an idle connection",
        .timeLimit(.minutes(2)))
    func slowLoop() async throws {
        let local = LocalServer {
            $0.connectionLimit = 1
            $0.connectionOverflow = .refuse
            $0.loops = 2
        }
        let port = try await local.start()
        let idle = try PlainSocket(port: port)
        try await idle.send(LocalServer.get("/idle"))
        #expect(try await idle.response().text == "/idle")
        for loop in local.server.loops {
            loop.execute {
                var count = 0
                loop.forEachConnection { _ in count += 1 }
                // Longer than an acceptor pauses if no loop can close a connection.
                if count > 0 { usleep(400_000) }
            }
        }
        let client = try PlainSocket(port: port)
        try await client.send(LocalServer.get("/new"))
        #expect(try await client.response().text == "/new")
        await local.server.shutdown(grace: .zero)
    }

    @Test(
        "A busy connection is not closed for a new one, but is closed when it becomes idle",
        .timeLimit(.minutes(2)))
    func keepsBusy() async throws {
        let local = LocalServer {
            $0.connectionLimit = 1
            $0.connectionOverflow = .refuse
            $0.loops = 1
        }
        let port = try await local.start()
        let busy = try PlainSocket(port: port)
        try await busy.send(LocalServer.get("/gate"))
        _ = await local.begun.first { $0 == "/gate" }
        #expect(try await PlainSocket(port: port).receiveAll().isEmpty)
        local.gate.open()
        #expect(try await busy.response().text == "/gate")
        // No connection was idle shortly before.
        _ = try await Self.enter("/new", port: port)
        #expect(try await busy.receiveAll().isEmpty)
        await local.server.shutdown(grace: .zero)
    }

    #if os(Linux)
        @Test(
            "When no descriptor is left, an idle connection is closed for a new one",
            .timeLimit(.minutes(2)), arguments: [0, 25])
        func fewDescriptors(inherited: Int) async throws {
            // Descriptors that are not of the server count, too.
            let launch = """
                import os, resource, sys
                os.closerange(3, 64)
                for _ in range(\(inherited)): os.set_inheritable(os.dup(0), True)
                resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
                os.execv(sys.argv[1], sys.argv[1:])
                """
            let serve = try await ServeProcess(
                Folder(), by: ["/usr/bin/env", "python3", "-c", launch])
            var idle: [PlainSocket] = []
            for _ in 0..<120 {
                let socket = try serve.connect()
                try await socket.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                _ = try await socket.receive(through: "HTTP/1.1 200 ")
                idle.append(socket)
            }
            #expect(serve.complaints.isEmpty)
        }

        @Test("serve raises the soft limit of descriptors to the hard one")
        func raisesLimit() async throws {
            let serve = try await ServeProcess(
                Folder(), by: ["/bin/sh", "-c", "ulimit -S -n 64 && exec \"$0\" \"$@\""])
            let limits = String(
                decoding: Folder.bytes(at: "/proc/\(serve.pid)/limits"), as: UTF8.self)
            let line = limits.split(separator: "\n").first { $0.hasPrefix("Max open files") }
            let words = try #require(line).split(separator: " ")
            #expect(words[3] == words[4] || words[3] == "1048576")
        }
    #endif

    @Test(
        "One address has at most its limit of connections, and may connect again after a close",
        .timeLimit(.minutes(2)))
    func perAddress() async throws {
        var configuration = ServerConfiguration(host: "127.0.0.1", port: 0)
        configuration.connectionLimitPerAddress = 2
        configuration.connectionOverflow = .unavailable(retryAfter: .seconds(1))
        let server = HTTPServer(
            configuration,
            handler: SyncHandler { request in Response(.ok, body: .text(request.path)) })
        try await server.start()
        let port = try #require(server.addresses.first?.port)
        var open: [PlainSocket] = []
        for number in 0..<2 {
            let socket = try PlainSocket(port: port)
            try await socket.send("GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try await socket.receive(through: "/\(number)")
            open.append(socket)
        }
        let third = try PlainSocket(port: port)
        try await third.send("GET /third HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try await third.receive(through: "HTTP/1.1 503 ")
        open.removeFirst()
        try await waitUntil { server.connectionCount <= 1 }
        let fourth = try PlainSocket(port: port)
        try await fourth.send("GET /fourth HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try await fourth.receive(through: "\r\n\r\n/fourth")
        await server.shutdown(grace: .zero)
    }
    #if os(Linux)  // 127.0.0.2 is an address of this machine there.
        @Test(
            "No idle connection is closed for a new one whose address is at its limit",
            .timeLimit(.minutes(2)), arguments: [ConnectionOverflow.refuse, .wait])
        func noRoomForTheRefused(_ overflow: ConnectionOverflow) async throws {
            let closed = ServerLog<ConnectionCloseReason>()
            let local = LocalServer {
                $0.connectionLimit = 2
                $0.connectionLimitPerAddress = 1
                $0.connectionOverflow = overflow
                $0.loops = 1
                $0.idleTimeout = .seconds(600)
                $0.hooks.closed = { closed.add($1) }
            }
            let port = try await local.start()
            let idle = try PlainSocket(port: port, from: 2)
            try await idle.send(LocalServer.get("/idle"))
            #expect(try await idle.response().text == "/idle")
            let second = try PlainSocket(port: port)
            try await second.send(LocalServer.get("/second"))
            #expect(try await second.response().text == "/second")
            for _ in 0..<5 { #expect(try await PlainSocket(port: port).receiveAll().isEmpty) }
            #expect(closed.entries.isEmpty)
            try await idle.send(LocalServer.get("/kept"))
            #expect(try await idle.response().text == "/kept")
            // Another address may connect, and the longest idle connection is closed.
            let third = try PlainSocket(port: port, from: 3)
            try await third.send(LocalServer.get("/third"))
            #expect(try await third.response().text == "/third")
            #expect(try await second.receiveAll().isEmpty)
            #expect(closed.entries == [.displaced])
            await local.server.shutdown(grace: .zero)
        }

        @Test(
            "A connection that is accepted early to learn its address is served when one closes",
            .timeLimit(.minutes(2)))
        func answersTheEarly() async throws {
            let local = LocalServer {
                $0.connectionLimit = 1
                $0.connectionLimitPerAddress = 1
                $0.connectionOverflow = .wait
                $0.loops = 1
            }
            let port = try await local.start()
            var busy: PlainSocket? = try PlainSocket(port: port)
            try await busy?.send(LocalServer.get("/gate"))
            _ = await local.begun.first { $0 == "/gate" }
            // One client gives up while it waits, so that the next one may use its address.
            var impatient: PlainSocket? = try PlainSocket(port: port, from: 2)
            try await impatient?.send("")
            try await Task.sleep(for: .milliseconds(300))
            impatient = nil
            try await Task.sleep(for: .seconds(1))
            let early = try PlainSocket(port: port, from: 2)
            try await early.send(LocalServer.get("/early"))
            try await Task.sleep(for: .milliseconds(300))
            local.gate.open()
            #expect(try await busy?.response().text == "/gate")
            busy = nil
            #expect(try await early.response().text == "/early")
            await local.server.shutdown(grace: .zero)
        }

        @Test(
            "An early accepted connection gets a response when another loop closes an idle one",
            .timeLimit(.minutes(2)))
        func answersTheEarlyOfAnotherLoop() async throws {
            let local = LocalServer {
                $0.connectionLimit = 1
                $0.connectionLimitPerAddress = 1
                $0.loops = 2
                $0.idleTimeout = .seconds(600)
            }
            let port = try await local.start()
            // Either loop may accept a connection, so some of these are on the other loop.
            for number in 0..<20 {
                let client = try PlainSocket(port: port, from: UInt32(2 + number % 2))
                try await client.send(LocalServer.get("/\(number)"))
                #expect(try await client.response().text == "/\(number)")
            }
            await local.server.shutdown(grace: .zero)
        }
    #endif
}
