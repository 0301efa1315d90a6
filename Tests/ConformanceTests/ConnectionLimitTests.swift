import Dispatch
import Foundation
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("Limit of connections", .fewAtOnce)
struct ConnectionLimitTests {
    @Test("A connection above the limit waits until another one is closed, and is answered then")
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

    /// A loop that does nothing else until it is let go.
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

    /// Waits until a loop has looked at its sockets, which it does between two of its turns.
    private static func settle(_ loop: EventLoop) async {
        for _ in 0..<12 {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                loop.execute { continuation.resume() }
            }
        }
    }

    /// Asks on a new connection.
    /// - Parameter meanwhile: what is done before it waits for the answer.
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
        "The connection that has been idle for longest is closed for a new one",
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
        // All come to the last loop, so that it is known which of them has been idle for longest.
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
            // The first loop finds the new connection, and none of its own that it could close.
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
        // Twenty of them have gone, the oldest first, and the busy one is still there.
        if loops == 1 {
            for socket in idle[..<20] { #expect(try await socket.receiveAll().isEmpty) }
            try await idle[20].send(LocalServer.get("/kept"))
            #expect(try await idle[20].response().text == "/kept")
        }
        // The slot is free a moment before the hook is called.
        try await waitUntil { closed.entries.count >= 20 }
        #expect(closed.entries.allSatisfy { $0 == .displaced })
        // Each loop may make room for the same new connection, which only one of them takes.
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
                // Longer than an acceptor pauses when nobody is asked.
                if count > 0 { usleep(400_000) }
            }
        }
        let client = try PlainSocket(port: port)
        try await client.send(LocalServer.get("/new"))
        #expect(try await client.response().text == "/new")
        await local.server.shutdown(grace: .zero)
    }

    @Test(
        "A connection that is busy is not closed for a new one, and gives way as soon as it is idle",
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
        // None was idle a moment before.
        _ = try await Self.enter("/new", port: port)
        #expect(try await busy.receiveAll().isEmpty)
        await local.server.shutdown(grace: .zero)
    }

    #if os(Linux)
        @Test(
            "Without a descriptor left, an idle connection is closed for a new one",
            .timeLimit(.minutes(2)), arguments: [0, 25])
        func fewDescriptors(inherited: Int) async throws {
            // Others than those of the server count, too.
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
        "One address has no more connections than it may, and gets a place back",
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
            "No idle connection is closed for a new one whose address has all that it may have",
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
            // Another address is let in, for the one that has been idle for longest.
            let third = try PlainSocket(port: port, from: 3)
            try await third.send(LocalServer.get("/third"))
            #expect(try await third.response().text == "/third")
            #expect(try await second.receiveAll().isEmpty)
            #expect(closed.entries == [.displaced])
            await local.server.shutdown(grace: .zero)
        }

        @Test(
            "A connection that was taken to learn its address is answered as soon as there is room",
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
            // One gives up while it waits, and leaves its address to the next.
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
            "Such a connection is answered when another loop has closed an idle one",
            .timeLimit(.minutes(2)))
        func answersTheEarlyOfAnotherLoop() async throws {
            let local = LocalServer {
                $0.connectionLimit = 1
                $0.connectionLimitPerAddress = 1
                $0.loops = 2
                $0.idleTimeout = .seconds(600)
            }
            let port = try await local.start()
            // Either loop may take a connection: some of these are on the other one.
            for number in 0..<20 {
                let client = try PlainSocket(port: port, from: UInt32(2 + number % 2))
                try await client.send(LocalServer.get("/\(number)"))
                #expect(try await client.response().text == "/\(number)")
            }
            await local.server.shutdown(grace: .zero)
        }
    #endif
}
