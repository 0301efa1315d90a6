import HTTPParser
import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem

@Suite("Life cycle: connections at suspension and shutdown", .fewAtOnce, .timeLimit(.minutes(3)))
struct SuspensionTests {
    @Test(
        "A suspension completes the running request, closes idle connections, accepts no new ones")
    func suspendFinishes() async throws {
        let local = LocalServer { $0.shutdownGrace = .seconds(120) }
        let server = local.server
        let port = try await local.start()
        let (busy, idle) = (try PlainSocket(port: port), try PlainSocket(port: port))
        try await idle.send(LocalServer.get("/"))
        #expect(try await idle.response().status == 200)
        try await busy.send(LocalServer.get("/gate"))
        _ = await local.begun.first { $0 == "/gate" }
        let suspension = Task { await server.suspend() }
        #expect(try await idle.receiveAll().isEmpty)
        #expect(server.state == .suspended)
        #expect(await !LocalServer.serves(port))
        local.gate.open()
        let response = try await busy.response()
        #expect(response.text == "/gate")
        #expect(response["connection"] == "close")
        await suspension.value
        #expect(server.connectionCount == 0)
        try await server.resume()
        #expect(await LocalServer.serves(port))
        await server.shutdown()
    }

    @Test("A suspension closes busy connections after its time, or at once")
    func suspendCloses() async throws {
        for kind in [HTTPServer.ConnectionsAtSuspension.finish(within: .zero), .close] {
            let local = LocalServer()
            let busy = try PlainSocket(port: try await local.start())
            try await busy.send(LocalServer.get("/gate"))
            _ = await local.begun.first()
            await local.server.suspend(connections: kind)
            #expect(try await busy.receiveAll().isEmpty)
            #expect(local.server.connectionCount == 0)
            #expect(local.server.state == .suspended)
            await local.server.shutdown()
        }
    }

    @Test("A suspension may keep connections, which are served while new ones are refused")
    func suspendKeeps() async throws {
        let local = LocalServer()
        let port = try await local.start()
        let socket = try PlainSocket(port: port)
        try await socket.send(LocalServer.get("/1"))
        #expect(try await socket.response().text == "/1")
        await local.server.suspend(connections: .keep)
        #expect(await !LocalServer.serves(port))
        try await socket.send(LocalServer.get("/2"))
        #expect(try await socket.response().text == "/2")
        try await local.server.resume()
        try await socket.send(LocalServer.get("/3"))
        #expect(try await socket.response().text == "/3")
        await local.server.shutdown()
        #expect(try await socket.receiveAll().isEmpty)
    }

    @Test("A resumption does not wait for requests of the suspension")
    func resumeDuringSuspension() async throws {
        let local = LocalServer { $0.shutdownGrace = .seconds(3600) }
        let server = local.server
        let port = try await local.start()
        let busy = try PlainSocket(port: port)
        try await busy.send(LocalServer.get("/gate"))
        _ = await local.begun.first()
        let suspension = Task { await server.suspend() }
        try await waitUntil { server.state == .suspended }
        try await server.resume()
        await suspension.value
        #expect(await LocalServer.serves(port))
        local.gate.open()
        #expect(try await busy.response().text == "/gate")
        await server.shutdown()
    }

    @Test("A shutdown completes running requests, and refuses new connections")
    func shutdownFinishes() async throws {
        let local = LocalServer { $0.shutdownGrace = .seconds(120) }
        let server = local.server
        let port = try await local.start()
        let busy = try (0..<20).map { _ in try PlainSocket(port: port) }
        for socket in busy { try await socket.send(LocalServer.get("/gate")) }
        for _ in busy { _ = await local.begun.first() }
        let shutdown = Task { await server.shutdown() }
        try await waitUntil { server.state == .stopping }
        try await waitUntil { await !LocalServer.serves(port) }
        #expect(server.connectionCount >= 20)
        local.gate.open()
        for socket in busy {
            let response = try await socket.response()
            #expect(response.text == "/gate")
            #expect(response["connection"] == "close")
            #expect(try await socket.receiveAll().isEmpty)
        }
        await shutdown.value
        #expect(server.connectionCount == 0)
    }

    @Test(
        "A client that has sent a request before shutdown or suspension gets a response",
        arguments: [true, false])
    func lastRequests(_ isSuspension: Bool) async throws {
        let local = LocalServer()
        let port = try await local.start()
        let open = try (0..<10).map { _ in try PlainSocket(port: port) }
        for socket in open {
            try await socket.send(LocalServer.get("/"))
            _ = try await socket.response()
        }
        let late = try (0..<10).map { _ in try PlainSocket(port: port) }
        for socket in open + late { try await socket.send(LocalServer.get("/last")) }
        if isSuspension {
            await local.server.suspend()
        } else {
            await local.server.shutdown()
        }
        for socket in open + late { #expect(try await socket.response().text == "/last") }
        await local.server.shutdown()
    }

    @Test("A second shutdown may shorten the time of the first")
    func shorterShutdown() async throws {
        let local = LocalServer()
        let server = local.server
        let busy = try PlainSocket(port: try await local.start())
        try await busy.send(LocalServer.get("/gate"))
        _ = await local.begun.first()
        let patient = Task { await server.shutdown(grace: .seconds(3600)) }
        try await waitUntil { server.state == .stopping }
        await server.shutdown(deadline: .now)
        await patient.value
        #expect(server.state == .stopped)
        #expect(try await busy.receiveAll().isEmpty)
    }

    /// `SUSPENSIONS=1000` makes the test an acceptance test, which must run alone.
    private static let suspensions = Environment.number("SUSPENSIONS")

    @Test("Repeated suspensions under load keep the port, and report every event")
    func manyTimes() async throws {
        let local = LocalServer { $0.disconnectionInterval = .seconds(3600) }
        let port = try await local.start()
        let answers = Locked(0)
        let clients = (0..<4).map { _ in
            Task {
                while !Task.isCancelled {
                    let isServed = await LocalServer.serves(port)
                    if isServed { answers.withLock { $0 += 1 } }
                    if !isServed { try? await Task.sleep(for: .milliseconds(1)) }
                }
            }
        }
        try await waitUntil { answers.withLock { $0 } > 0 }
        try await suspend(local.server, times: 20)
        let before = Environment.use()
        try await suspend(local.server, times: Self.suspensions ?? 20)
        if Self.suspensions != nil {
            let after = Environment.use()
            print("before \(before), after \(after), answers \(answers.withLock { $0 })")
            // The clients connect and disconnect meanwhile; each has two descriptors.
            #expect(after.descriptors <= before.descriptors + 16)
            #expect(after.memory <= before.memory + 4 << 20)
        }
        for client in clients { client.cancel() }
        for client in clients { await client.value }
        #expect(await LocalServer.serves(port))
        await local.server.shutdown()
        #expect(local.server.connectionCount == 0)
    }

    private func suspend(_ server: HTTPServer, times: Int) async throws {
        let addresses = server.addresses
        let events = EventReader(server)
        for round in 0..<times {
            await server.suspend(connections: round % 2 == 0 ? .finish(within: nil) : .keep)
            try await server.resume()
            #expect(server.addresses == addresses)
            for expected in [HTTPServer.Event.suspended, .resumed(addresses)] {
                var event = await events.next()
                if event == .connected { event = await events.next() }
                #expect(event == expected)
            }
            // Some of the refused clients connect before the next round.
            if round % 8 == 0 { try await Task.sleep(for: .milliseconds(4)) }
        }
    }
}
