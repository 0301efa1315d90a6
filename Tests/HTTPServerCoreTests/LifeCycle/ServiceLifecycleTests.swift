#if ServiceLifecycle
    import HTTPParser
    import HTTPServerCore
    import HTTPServerKit
    import Logging
    import ServiceLifecycle
    import TestSupport
    import Testing
    import ToolkitSystem

    /// Built with the trait only: `swift test --traits ServiceLifecycle`.
    @Suite("A server as a service")
    struct ServiceLifecycleTests {
        @Test("A graceful shutdown of the group stops the server and ends the group")
        func graceful() async throws {
            let server = HTTPServer(
                ServerConfiguration(host: "127.0.0.1", port: 0),
                handler: SyncHandler { _ in Response(.ok) })
            var events = server.events.makeAsyncIterator()
            let group = ServiceGroup(
                services: [server], logger: Logger(label: "test"))
            let running = Task { try await group.run() }
            guard case .started? = await events.next() else {
                Issue.record("it did not start")
                return
            }
            await group.triggerGracefulShutdown()
            try await running.value
            #expect(server.state == .stopped)
            #expect(await events.next() == .stopped(.requested))
        }

        @Test("A server that cannot listen ends the group with its error")
        func failed() async throws {
            let other = try Listener.bind(host: "127.0.0.1", port: 0, backlog: 8)
            let port = try #require(other.first?.address.port)
            let server = HTTPServer(
                ServerConfiguration(host: "127.0.0.1", port: port),
                handler: SyncHandler { _ in Response(.ok) })
            let group = ServiceGroup(
                services: [server], logger: Logger(label: "test"))
            await #expect(throws: ListenError.addressInUse("127.0.0.1 port \(port)")) {
                try await group.run()
            }
            withExtendedLifetime(other) {}
        }
    }
#endif
