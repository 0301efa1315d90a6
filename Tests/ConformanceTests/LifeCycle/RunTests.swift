import Dispatch
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

@Suite("Life cycle: running, handlers, queues", .serialized, .fewAtOnce, .timeLimit(.minutes(3)))
struct RunTests {
    @Test("A cancelled run shuts the server down, then returns")
    func cancelledRun() async throws {
        let local = LocalServer()
        let events = EventReader(local.server)
        let run = Task { try await local.server.run() }
        guard case .started? = await events.next() else {
            Issue.record("it did not start")
            return
        }
        run.cancel()
        try await run.value
        #expect(local.server.state == .stopped)
        #expect(await events.next() == .stopped(.cancelled))
    }

    #if !ServiceLifecycle
        @Test("A run without arguments stops the server on SIGTERM and on SIGINT")
        func usualSignals() async throws {
            for (signal, reason) in [
                (SIGTERM, StopSignal.terminate), (SIGINT, StopSignal.interrupt),
            ] {
                let local = LocalServer()
                let events = EventReader(local.server)
                let run = Task { try await local.server.run() }
                guard case .started? = await events.next() else {
                    Issue.record("it did not start")
                    return
                }
                kill(getpid(), signal)
                try await run.value
                #expect(await events.next() == .stopped(.signal(reason)))
            }
        }
    #endif

    @Test("The URL of a running server has a local address; a stopped server has none")
    func url() async throws {
        for (host, start) in [
            ("127.0.0.1", "http://127.0.0.1:"), ("0.0.0.0", "http://127.0.0.1:"),
            ("::1", "http://[::1]:"), ("::", "http://[::1]:"),
        ] {
            let local = LocalServer { $0.endpoints = [.tcp(host: host, port: 0)] }
            #expect(local.server.url == nil)
            try await local.server.start()
            let port = try #require(local.server.addresses.first?.port)
            #expect(local.server.url == "\(start)\(port)/")
            await local.server.shutdown()
            #expect(local.server.url == nil)
        }
    }

    /// Listens on a port outside the range of clients, because a client could get the port while no
    /// server listens there.
    private static func listenOnFixedPort() throws -> (port: UInt16, listeners: [Listener]) {
        for _ in 0..<1_000 {
            let port = UInt16.random(in: 20_000..<32_000)
            if let found = try? Listener.bind(host: "127.0.0.1", port: port, backlog: 8) {
                return (port, found)
            }
        }
        throw ListenError.addressInUse("all ports")
    }

    @Test("A run that cannot listen throws an error, at the start or at a resumption")
    func failedRun() async throws {
        let (port, other) = try Self.listenOnFixedPort()
        let local = LocalServer {
            $0.endpoints = [.tcp(host: "127.0.0.1", port: port)]
            $0.rebindTimeout = .zero
        }
        await #expect(throws: ListenError.addressInUse("127.0.0.1 port \(port)")) {
            try await local.server.run()
        }
        other.first?.close()
        let events = EventReader(local.server)
        var first = Task { try await local.server.run() }
        // A process that another test starts has a copy of the old socket until it is executed.
        let taken = ListenError.addressInUse("127.0.0.1 port \(port)")
        while await events.next() == .failed(taken) {
            first = Task { try await local.server.run() }
        }
        let run = first
        await local.server.suspend()
        // A process of another test may hold the port here, too.
        var again: [Listener] = []
        try await waitUntil {
            again = (try? Listener.bind(host: "127.0.0.1", port: port, backlog: 8)) ?? []
            return !again.isEmpty
        }
        let error = ListenError.addressInUse("127.0.0.1:\(port)")
        await #expect(throws: error) { try await local.server.resume() }
        await #expect(throws: error) { try await run.value }
        #expect(local.server.state == .stopped)
        #expect(await events.next() == .suspended)
        #expect(await events.next() == .failed(error))
        #expect(await events.next() == .stopped(.failure(error)))
        withExtendedLifetime(again) {}
    }

    /// The current handler of a signal, as a number that can be compared.
    private func disposition(_ number: CInt) -> Int {
        var action = sigaction()
        unsafe sigaction(number, nil, &action)
        #if canImport(Darwin)
            return unsafe unsafeBitCast(action.__sigaction_u.__sa_handler, to: Int.self)
        #else
            return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        #endif
    }

    @Test("A signal ends the runs of all servers, and has its previous action afterwards")
    func signals() async throws {
        let signal = StopSignal(number: SIGUSR2)
        let before = disposition(SIGUSR2)
        let locals = (0..<2).map { _ in LocalServer() }
        let started = ServerLog<Int>()
        let runs = locals.map { local in
            Task {
                try await local.server.run(stoppingOn: [signal]) { started.add($0.count) }
            }
        }
        let events = locals.map { EventReader($0.server) }
        for _ in locals { #expect(await started.first() == 1) }
        #expect(disposition(SIGUSR2) != before)
        // Child processes do not ignore the signal.
        let child = try await Program.run("sh", ["-c", "kill -USR2 $$; exit 7"])
        #expect(child.status == -SIGUSR2)
        kill(getpid(), SIGUSR2)
        for run in runs { try await run.value }
        for reader in events {
            var event = await reader.next()
            if case .started? = event { event = await reader.next() }
            #expect(event == .stopped(.signal(signal)))
        }
        #expect(disposition(SIGUSR2) == before)
    }

    @Test("A signal that arrives while `started` runs ends the run", .timeLimit(.minutes(2)))
    func earlySignal() async throws {
        let server = LocalServer().server
        let events = EventReader(server)
        // Nothing else in this process reacts to this signal.
        let signal = StopSignal(number: SIGWINCH)
        let wasStopped = Locked(false)
        try await server.run(stoppingOn: [signal]) { _ in
            kill(getpid(), SIGWINCH)
            // This blocks the thread; the time limit ends it if the signal is lost.
            let end = ContinuousClock.now + .seconds(60)
            while server.state != .stopped, ContinuousClock.now < end { usleep(1_000) }
            wasStopped.withLock { $0 = server.state == .stopped }
        }
        #expect(wasStopped.withLock { $0 }, "the signal had no effect while `started` ran")
        #expect(server.state == .stopped)
        var event = await events.next()
        if case .started? = event { event = await events.next() }
        #expect(event == .stopped(.signal(signal)))
    }

    @Test("A new handler responds to the next requests, also on open connections")
    func replacedHandler() async throws {
        let local = LocalServer()
        let port = try await local.start()
        let (open, busy) = (try PlainSocket(port: port), try PlainSocket(port: port))
        try await open.send(LocalServer.get("/old"))
        #expect(try await open.response().text == "/old")
        try await busy.send(LocalServer.get("/gate"))
        _ = await local.begun.first { $0 == "/gate" }
        await local.server.replaceHandler(
            with: SyncHandler { _ in Response(.ok, body: .text("new")) })
        try await open.send(LocalServer.get("/old"))
        #expect(try await open.response().text == "new")
        let late = try PlainSocket(port: port)
        try await late.send(LocalServer.get("/old"))
        #expect(try await late.response().text == "new")
        local.gate.open()
        #expect(try await busy.response().text == "/gate")
        await local.server.shutdown()
    }

    @Test("A server name that must not be sent is omitted from responses")
    func invalidServerName() async throws {
        var configuration = ServerConfiguration(host: "127.0.0.1", port: 0)
        configuration.serverName = "host\nSet-Cookie: a=b"
        let handler = SyncHandler { _ in Response(.ok, body: .text("a")) }
        let server = HTTPServer(configuration, handler: handler)
        try await server.start()
        let socket = try PlainSocket(port: try #require(server.addresses.first?.port))
        try await socket.send(LocalServer.get("/"))
        let response = try await socket.response()
        #expect(response.status == 200 && response["Server"] == nil)
        await server.shutdown()
    }

    @Test("Handlers are replaced under load without a lost request")
    func replacedUnderLoad() async throws {
        let local = LocalServer()
        let port = try await local.start()
        let swapping = Task {
            var number = 0
            while !Task.isCancelled {
                let text = "\(number)"
                number += 1
                await local.server.replaceHandler(
                    with: SyncHandler { _ in Response(.ok, body: .text(text)) })
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let socket = try PlainSocket(port: port)
                    for _ in 0..<100 {
                        try await socket.send(LocalServer.get("/"))
                        #expect(try await socket.response().status == 200)
                    }
                }
            }
            try await group.waitForAll()
        }
        swapping.cancel()
        await swapping.value
        await local.server.shutdown()
    }

    @Test("Loops run on the queue of the configuration")
    func loopTarget() async throws {
        let key = DispatchSpecificKey<String>()
        let queue = DispatchQueue(label: "lent", attributes: .concurrent)
        queue.setSpecific(key: key, value: "lent")
        var configuration = ServerConfiguration(host: "127.0.0.1", port: 0)
        configuration.loopTarget = queue
        configuration.loopQoS = .utility
        let server = HTTPServer(
            configuration,
            handler: AsyncHandler { _ in
                Response(.ok, body: .text(DispatchQueue.getSpecific(key: key) ?? "other"))
            })
        try await server.start()
        let socket = try PlainSocket(port: try #require(server.addresses.first?.port))
        try await socket.send(LocalServer.get("/"))
        #expect(try await socket.response().text == "lent")
        await server.shutdown()
    }

    @MainActor
    @Test("suspend and shutdown do not block the main actor of their caller")
    func mainActor() async throws {
        // Each call must wait for work that only the main actor does.
        for isSuspended in [true, false] {
            let local = LocalServer { $0.shutdownGrace = .seconds(120) }
            let server = local.server
            let port = try await local.start()
            let busy = try PlainSocket(port: port)
            try await busy.send(LocalServer.get("/gate"))
            _ = await local.begun.first { $0 == "/gate" }
            let beats = Locked(0)
            let heart = Task { @MainActor in
                while beats.withLock({ $0 }) < 100 {
                    beats.withLock { $0 += 1 }
                    await Task.yield()
                }
                local.gate.open()
            }
            if isSuspended { await server.suspend() } else { await server.shutdown() }
            #expect(beats.withLock { $0 } == 100, "the server did not wait for the request")
            await heart.value
            _ = try await busy.response()
            if isSuspended {
                try await server.resume()
                await server.shutdown()
            }
            #expect(server.state == .stopped)
        }
    }
}
