import HTTPParser
import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem

@Suite("Life cycle: states, calls and errors", .fewAtOnce, .timeLimit(.minutes(3)))
struct LifeCycleTests {
    @Test("A server starts, suspends, resumes at the same port and stops, twice")
    func wholeLife() async throws {
        let local = LocalServer()
        let server = local.server
        let events = EventReader(server)
        #expect(server.state == .stopped)
        #expect(server.addresses.isEmpty)
        for _ in 0..<2 {
            let port = try await local.start()
            let addresses = server.addresses
            #expect(server.state == .running)
            #expect(await LocalServer.serves(port))
            await server.suspend()
            #expect(server.state == .suspended)
            #expect(server.addresses.isEmpty)
            #expect(await !LocalServer.serves(port))
            try await server.resume()
            #expect(server.state == .running)
            #expect(server.addresses == addresses)
            #expect(await LocalServer.serves(port))
            await server.shutdown()
            #expect(server.state == .stopped)
            #expect(server.connectionCount == 0)
            #expect(await !LocalServer.serves(port))
            #expect(await events.next() == .started(addresses))
            #expect(await events.next() == .connected)
            #expect(await events.next() == .suspended)
            #expect(await events.next() == .resumed(addresses))
            #expect(await events.next() == .disconnected)
            #expect(await events.next() == .stopped(.requested))
        }
    }

    @Test("Calls in the wrong state return, and resuming a stopped server throws an error")
    func wrongStates() async throws {
        let local = LocalServer()
        let server = local.server
        await server.suspend()
        await server.shutdown()
        await server.waitUntilShutdown()
        #expect(server.state == .stopped)
        await #expect(throws: ListenError.serverStopped) { try await server.resume() }
        let port = try await local.start()
        try await server.start()
        try await server.resume()
        #expect(server.addresses == [.ipv4("127.0.0.1", port: port)])
        await server.suspend()
        await server.suspend()
        try await server.start()
        #expect(server.state == .running)
        #expect(server.addresses == [.ipv4("127.0.0.1", port: port)])
        await server.suspend()
        await server.shutdown()
        await #expect(throws: ListenError.serverStopped) { try await server.resume() }
        #expect(server.state == .stopped)
    }

    @Test("Concurrent calls of many tasks all return, and the server starts after them")
    func manyCalls() async throws {
        let local = LocalServer()
        let server = local.server
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    switch number % 5 {
                    case 0, 3: try? await server.start()
                    case 1: await server.suspend()
                    case 2: try? await server.resume()
                    default: await server.shutdown(grace: .zero)
                    }
                }
            }
        }
        let port = try await local.start()
        #expect(server.state == .running)
        #expect(await LocalServer.serves(port))
        let waiters = (0..<5).map { _ in Task { await server.waitUntilShutdown() } }
        let stops = (0..<5).map { _ in Task { await server.shutdown() } }
        for task in waiters + stops { await task.value }
        #expect(server.state == .stopped)
    }

    @Test("A failed start reports its error, and the next start succeeds")
    func failedStart() async throws {
        let other = try Listener.bind(host: "127.0.0.1", port: 0, backlog: 8)
        let port = try #require(other.first?.address.port)
        let local = LocalServer { $0.endpoints = [.tcp(host: "127.0.0.1", port: port)] }
        let server = local.server
        let events = EventReader(server)
        let error = ListenError.addressInUse("127.0.0.1 port \(port)")
        await #expect(throws: error) { try await server.start() }
        #expect(server.state == .failed(error))
        let text = "failed: 127.0.0.1 port \(port): address already in use"
        #expect(server.state.description == text)
        #expect(await events.next() == .failed(error))
        other.first?.close()
        // A client of another test may use the port for a short time, with the same failure.
        #expect(try await local.startWhenFree() == port)
        var event = await events.next()
        while event == .failed(error) { event = await events.next() }
        #expect(event == .started([.ipv4("127.0.0.1", port: port)]))
        #expect(await LocalServer.serves(port))
        await server.shutdown()
    }

    @Test("Resuming at a port in use fails, and succeeds when the port is free")
    func failedResume() async throws {
        let local = LocalServer { $0.rebindTimeout = .milliseconds(20) }
        let server = local.server
        let port = try await local.start()
        let events = EventReader(server)
        await server.suspend()
        let other = try await LocalServer.occupy(port)
        let error = ListenError.addressInUse("127.0.0.1:\(port)")
        await #expect(throws: error) { try await server.resume() }
        #expect(server.state == .failed(error))
        #expect(server.addresses.isEmpty)
        other.first?.close()
        try await server.resume()
        #expect(server.addresses == [.ipv4("127.0.0.1", port: port)])
        #expect(await LocalServer.serves(port))
        #expect(await events.next() == .suspended)
        #expect(await events.next() == .failed(error))
        #expect(await events.next() == .resumed(server.addresses))
        await server.shutdown()
    }

    @Test("A resumption waits until a port in use becomes free")
    func patientResume() async throws {
        let local = LocalServer { $0.rebindTimeout = .seconds(120) }
        let server = local.server
        let port = try await local.start()
        await server.suspend()
        let other = try await LocalServer.occupy(port)
        let resuming = Task { try await server.resume() }
        try await waitUntil { server.state == .starting }
        other.first?.close()
        try await resuming.value
        #expect(server.addresses == [.ipv4("127.0.0.1", port: port)])
        await server.shutdown()
    }

    @Test("A shutdown cancels a waiting resumption")
    func shutdownDuringResume() async throws {
        let local = LocalServer { $0.rebindTimeout = .seconds(3600) }
        let server = local.server
        let port = try await local.start()
        await server.suspend()
        let other = try await LocalServer.occupy(port)
        let resuming = Task { try await server.resume() }
        try await waitUntil { server.state == .starting }
        await server.shutdown()
        #expect(server.state == .stopped)
        await #expect(throws: ListenError.serverStopped) { try await resuming.value }
        withExtendedLifetime(other) {}
    }

    @Test("A listening socket that the system has closed is replaced at the same port")
    func lostSocket() async throws {
        let local = LocalServer()
        let server = local.server
        let port = try await local.start()
        let addresses = server.addresses
        let events = EventReader(server)
        for isAsked in [false, true] {
            let listener = try #require(server.listeners.first)
            // As on a system that reclaims the sockets of a program.
            SocketOfTest.takeAway(listener.descriptor)
            if isAsked { try await server.resume() }
            #expect(await events.next() == .rebound(addresses))
            #expect(server.state == .running)
            #expect(server.addresses == addresses)
            #expect(await LocalServer.serves(port))
            if !isAsked { #expect(await events.next() == .connected) }
        }
        await server.shutdown()
    }

    @Test("Several servers in a process have separate states")
    func several() async throws {
        let locals = (0..<3).map { _ in LocalServer() }
        var ports: Set<UInt16> = []
        for local in locals { ports.insert(try await local.start()) }
        #expect(ports.count == 3)
        await locals[0].server.shutdown()
        await locals[1].server.suspend()
        #expect(await LocalServer.serves(try #require(locals[2].server.addresses.first?.port)))
        #expect(locals.map(\.server.state) == [.stopped, .suspended, .running])
        for local in locals { await local.server.shutdown() }
    }

    @Test(
        "Inherited sockets stay open during a suspension, and waiting clients are served after it")
    func inherited() async throws {
        let own = try #require(try Listener.bind(host: "127.0.0.1", port: 0, backlog: 8).first)
        let port = try #require(own.address.port)
        let local = LocalServer {
            $0.endpoints = [.inherited(descriptor: SocketOfTest.duplicate(own.descriptor))]
        }
        let server = local.server
        #expect(try await local.start() == port)
        await server.suspend()
        let waiting = try PlainSocket(port: port)
        try await waiting.send(LocalServer.get("/waited"))
        try await server.resume()
        #expect(try await waiting.response().text == "/waited")
        await server.shutdown()
        #expect(own.isAlive)
    }
}
