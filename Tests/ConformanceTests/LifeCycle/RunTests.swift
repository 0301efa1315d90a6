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
    @Test("A cancelled run shuts down, and returns when that is done")
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
        @Test("Without arguments a run ends with grace on SIGTERM and on SIGINT")
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

    @Test("The URL of a server that was just started leads to it")
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

    /// Listens on a port that the system does not give to clients: one of those could take it in
    /// the moments in which nobody listens there.
    private static func listenOnFixedPort() throws -> (port: UInt16, listeners: [Listener]) {
        for _ in 0..<1_000 {
            let port = UInt16.random(in: 20_000..<32_000)
            if let found = try? Listener.bind(host: "127.0.0.1", port: port, backlog: 8) {
                return (port, found)
            }
        }
        throw ListenError.addressInUse("all ports")
    }

    @Test("A run that cannot listen throws, at once or later")
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
        // As above.
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

    /// What a signal does now, as far as it can be compared.
    private func disposition(_ number: CInt) -> Int {
        var action = sigaction()
        unsafe sigaction(number, nil, &action)
        #if canImport(Darwin)
            return unsafe unsafeBitCast(action.__sigaction_u.__sa_handler, to: Int.self)
        #else
            return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        #endif
    }

    @Test("A signal ends the runs of all servers, and does afterwards what it did before")
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
        // Programs that are started do not ignore it.
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

    @Test("A signal that comes while `started` runs ends the run", .timeLimit(.minutes(2)))
    func earlySignal() async throws {
        let server = LocalServer().server
        let events = EventReader(server)
        // Nothing else in this process minds that signal.
        let signal = StopSignal(number: SIGWINCH)
        let wasStopped = Locked(false)
        try await server.run(stoppingOn: [signal]) { _ in
            kill(getpid(), SIGWINCH)
            // It keeps its thread: this ends it where the signal is lost.
            let end = ContinuousClock.now + .seconds(60)
            while server.state != .stopped, ContinuousClock.now < end { usleep(1_000) }
            wasStopped.withLock { $0 = server.state == .stopped }
        }
        #expect(wasStopped.withLock { $0 }, "the signal did nothing as long as `started` ran")
        #expect(server.state == .stopped)
        var event = await events.next()
        if case .started? = event { event = await events.next() }
        #expect(event == .stopped(.signal(signal)))
    }

    @Test("Another handler answers from the next request on, on open connections too")
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

    @Test("A name that must not go on the wire is left out of the responses")
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

    @Test("Handlers are swapped under load without losing a request")
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

    @Test("Loops run on the queue they are lent")
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
    @Test("Nothing is done on the main thread of a caller, which goes on meanwhile")
    func mainActor() async throws {
        // Each call has to wait for something that only the main actor does meanwhile.
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
            #expect(beats.withLock { $0 } == 100, "the request was cut off, or not waited for")
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
