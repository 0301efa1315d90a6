import Dispatch
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

/// Records its calls, and the queue of each.
private final class LoggingDelegate: HTTPServerDelegate {
    let log = ServerLog<String>()
    let key = DispatchSpecificKey<String>()

    private func add(_ text: String) {
        log.add("\(text) on \(DispatchQueue.getSpecific(key: key) ?? "?")")
    }

    func serverDidStart(_ server: HTTPServer, at addresses: [SocketAddress]) {
        add("start \(addresses.count)")
    }
    func serverDidSuspend(_ server: HTTPServer) { add("suspend") }
    func serverDidResume(_ server: HTTPServer, at addresses: [SocketAddress]) {
        add("resume \(addresses.count)")
    }
    func serverDidConnect(_ server: HTTPServer) { add("connect") }
    func serverDidDisconnect(_ server: HTTPServer) { add("disconnect") }
    func serverDidStop(_ server: HTTPServer, reason: HTTPServer.StopReason) {
        add("stop \(reason)")
    }
    func serverDidFail(_ server: HTTPServer, error: ListenError) { add("fail") }
}

/// Implements no method.
private final class SilentDelegate: HTTPServerDelegate {}

@Suite("Life cycle: events", .fewAtOnce, .timeLimit(.minutes(3)))
struct ServerEventTests {
    @Test("The delegate is called in order, on its queue")
    func delegate() async throws {
        let local = LocalServer { $0.disconnectionInterval = .zero }
        let delegate = LoggingDelegate()
        let queue = DispatchQueue(label: "test", attributes: .concurrent)
        queue.setSpecific(key: delegate.key, value: "mine")
        local.server.setDelegate(delegate, queue: queue)
        let port = try await local.start()
        _ = await LocalServer.serves(port)
        _ = await delegate.log.first { $0.hasPrefix("disconnect") }
        await local.server.suspend()
        try await local.server.resume()
        await local.server.shutdown()
        #expect(await delegate.log.first { $0.hasPrefix("stop") } != nil)
        #expect(
            delegate.log.entries
                == [
                    "start 1", "connect", "disconnect", "suspend", "resume 1", "stop requested",
                ].map { $0 + " on mine" })
        local.server.setDelegate(nil)
        let silent = SilentDelegate()
        local.server.setDelegate(silent)
        _ = try await local.start()
        await local.server.shutdown()
        #expect(delegate.log.entries.count == 6)
    }

    @Test("Every reader gets every event since it began to read")
    func readers() async throws {
        let local = LocalServer()
        let first = EventReader(local.server)
        _ = try await local.start()
        let addresses = local.server.addresses
        let second = EventReader(local.server)
        await local.server.shutdown()
        #expect(await first.next() == .started(addresses))
        #expect(await first.next() == .stopped(.requested))
        #expect(await second.next() == .stopped(.requested))
    }

    @Test("The stream of events ends when the server is released")
    func streamEnds() async throws {
        var server: HTTPServer? = LocalServer().server
        let reader = EventReader(try #require(server))
        server = nil
        #expect(await reader.next() == nil)
    }

    @Test("Only the first connection and the end of the last one are reported")
    func connections() async throws {
        let local = LocalServer { $0.disconnectionInterval = .zero }
        let port = try await local.start()
        let events = EventReader(local.server)
        for _ in 0..<3 {
            var sockets = try (0..<5).map { _ in try PlainSocket(port: port) }
            for socket in sockets {
                try await socket.send(LocalServer.get("/"))
                _ = try await socket.response()
            }
            sockets = []
            #expect(await events.next() == .connected)
            #expect(await events.next() == .disconnected)
        }
        await local.server.shutdown()
        #expect(await events.next() == .stopped(.requested))
    }

    @Test("Within the interval no end is reported, and a shutdown does not wait for it")
    func coalescing() async throws {
        let local = LocalServer { $0.disconnectionInterval = .seconds(3600) }
        let port = try await local.start()
        let events = EventReader(local.server)
        for _ in 0..<5 { #expect(await LocalServer.serves(port)) }
        await local.server.shutdown()
        #expect(await events.next() == .connected)
        #expect(await events.next() == .disconnected)
        #expect(await events.next() == .stopped(.requested))
    }

    @Test("The end of the last connection is reported after the interval")
    func intervalPasses() async throws {
        let local = LocalServer { $0.disconnectionInterval = .milliseconds(20) }
        let port = try await local.start()
        let events = EventReader(local.server)
        #expect(await LocalServer.serves(port))
        #expect(await events.next() == .connected)
        #expect(await events.next() == .disconnected)
        #expect(local.server.state == .running)
        await local.server.shutdown()
    }
}
