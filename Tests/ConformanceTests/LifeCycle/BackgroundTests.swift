import HTTPServerCore
import HTTPServerDiscovery
import TestSupport
import Testing
import ToolkitSystem

/// An app that grants background tasks, whose expiry the test controls.
private final class SimulatedApp: Sendable {
    private struct State: Sendable {
        var last = 0
        var expirations: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Locked(State())
    let log = ServerLog<String>()

    var tasks: BackgroundSupervisor.Tasks {
        BackgroundSupervisor.Tasks { [state, log] expired in
            let task = state.withLock { state in
                state.last += 1
                state.expirations[state.last] = expired
                return state.last
            }
            log.add("begin \(task)")
            return task
        } end: { [state, log] task in
            state.withLock { $0.expirations[task] = nil }
            log.add("end \(task)")
        }
    }

    /// How many background tasks are held.
    var held: Int { state.withLock { $0.expirations.count } }

    /// Expires all background tasks.
    func expire() {
        for expired in state.withLock({ Array($0.expirations.values) }) { expired() }
    }
}

@Suite("Background policy: a server in a simulated app", .fewAtOnce, .timeLimit(.minutes(3)))
struct BackgroundTests {
    private let local = LocalServer { $0.disconnectionInterval = .zero }
    private let app = SimulatedApp()

    @Test("An idle server is suspended in the background, and resumes in the foreground")
    func idle() async throws {
        let port = try await local.start()
        let addresses = local.server.addresses
        let events = EventReader(local.server)
        let supervisor = BackgroundSupervisor(local.server, tasks: app.tasks)
        for round in 1...3 {
            supervisor.handle(.enteredBackground)
            #expect(await events.next() == .suspended)
            #expect(await app.log.first { $0 == "end \(round)" } != nil)
            #expect(app.held == 0)
            #expect(await !LocalServer.serves(port))
            supervisor.handle(.willEnterForeground)
            supervisor.handle(.becameActive)
            #expect(await events.next() == .resumed(addresses))
        }
        await local.server.shutdown()
    }

    @Test("A connected client is served in the background until it disconnects")
    func busy() async throws {
        let port = try await local.start()
        let events = EventReader(local.server)
        let supervisor = BackgroundSupervisor(local.server, tasks: app.tasks)
        var socket: PlainSocket? = try PlainSocket(port: port)
        try await socket?.send(LocalServer.get("/1"))
        #expect(try await socket?.response().text == "/1")
        #expect(await events.next() == .connected)
        #expect(await app.log.first { $0 == "begin 1" } != nil)
        supervisor.handle(.enteredBackground)
        try await socket?.send(LocalServer.get("/2"))
        #expect(try await socket?.response().text == "/2")
        #expect(local.server.state == .running)
        socket = nil
        #expect(await events.next() == .disconnected)
        #expect(await events.next() == .suspended)
        #expect(await app.log.first { $0 == "end 1" } != nil)
        await local.server.shutdown()
    }

    @Test("A new supervisor holds a task for a client that is already connected")
    func busyBefore() async throws {
        let port = try await local.start()
        let socket = try PlainSocket(port: port)
        try await socket.send(LocalServer.get("/1"))
        #expect(try await socket.response().text == "/1")
        let supervisor = BackgroundSupervisor(local.server, tasks: app.tasks)
        #expect(await app.log.first { $0 == "begin 1" } != nil)
        supervisor.handle(.enteredBackground)
        try await socket.send(LocalServer.get("/2"))
        #expect(try await socket.response().text == "/2")
        #expect(local.server.state == .running)
        await local.server.shutdown()
    }

    @Test("When the background time expires, connections are closed before the task ends")
    func expired() async throws {
        let port = try await local.start()
        let addresses = local.server.addresses
        let events = EventReader(local.server)
        let supervisor = BackgroundSupervisor(local.server, tasks: app.tasks)
        let socket = try PlainSocket(port: port)
        try await socket.send(LocalServer.get("/gate"))
        #expect(await app.log.first { $0 == "begin 1" } != nil)
        supervisor.handle(.enteredBackground)
        app.expire()
        #expect(try await socket.receiveAll().isEmpty)
        #expect(await app.log.first { $0 == "end 1" } != nil)
        #expect(local.server.state == .suspended)
        #expect(local.server.connectionCount == 0)
        supervisor.handle(.willEnterForeground)
        var event = await events.next()
        while event != .resumed(addresses), event != nil { event = await events.next() }
        #expect(await LocalServer.serves(port))
        await local.server.shutdown()
    }

    @Test("A failed resumption is reported, and may be repeated")
    func failed() async throws {
        let local = LocalServer { $0.rebindTimeout = .milliseconds(5) }
        let port = try await local.start()
        let addresses = local.server.addresses
        let events = EventReader(local.server)
        let supervisor = BackgroundSupervisor(local.server, tasks: app.tasks)
        supervisor.handle(.enteredBackground)
        #expect(await events.next() == .suspended)
        let other = try await LocalServer.occupy(port)
        supervisor.handle(.willEnterForeground)
        #expect(await events.next() == .failed(.addressInUse("127.0.0.1:\(port)")))
        other.first?.close()
        // The policy may get the failure shortly after the event.
        var tries = 0
        while local.server.state != .running, tries < 10_000 {
            supervisor.handle(.becameActive)
            try await Task.sleep(for: .milliseconds(5))
            tries += 1
        }
        // An attempt before the port was free has failed, too.
        var event = await events.next()
        while event == .failed(.addressInUse("127.0.0.1:\(port)")) { event = await events.next() }
        #expect(event == .resumed(addresses))
        await local.server.shutdown()
    }

    @Test("A stopped supervisor ends its task, and the server continues")
    func stopped() async throws {
        let port = try await local.start()
        var supervisor: BackgroundSupervisor? = BackgroundSupervisor(
            local.server, tasks: app.tasks)
        let socket = try PlainSocket(port: port)
        #expect(await app.log.first { $0 == "begin 1" } != nil)
        supervisor?.stop()
        supervisor = nil
        #expect(await app.log.first { $0 == "end 1" } != nil)
        try await socket.send(LocalServer.get("/"))
        #expect(try await socket.response().text == "/")
        await local.server.shutdown()
    }
}
