#if os(Linux)
    import HTTPServerDiscovery
    import TestSupport
    import Testing

    @Suite("UPnP IGD: Renewal of port mappings, and loss of the router")
    struct UPnPRenewalTests {
        @Test("A router that stops answering is searched for again")
        func silentAtRenewal() async throws {
            let router = try await ScriptedRouter(["plan=grant:1,silent"])
            let mapper = router.mapper {
                $0.patience = .milliseconds(500)
                $0.retryInterval = .milliseconds(100)
            }
            mapper.start(port: 8099)
            #expect(await router.wait(for: "description", times: 2))
            await mapper.stop()
        }

        @Test("After a failed renewal, the same external port is requested again")
        func samePortAgain() async throws {
            let router = try await ScriptedRouter([
                "taken=8099", "plan=grant:1,grant:1,refuse:606,refuse:606,grant",
            ])
            let mapper = router.mapper { $0.retryInterval = .milliseconds(10) }
            mapper.start(port: 8099)
            #expect(await router.wait(for: "add 8100 to 127.0.0.1:8099 for 7200", times: 4))
            #expect(router.requests.filter { $0.hasPrefix("add 8099") }.count == 1)
            await mapper.stop()
        }

        @Test("The loss of a router is an event, and a restarted router is found again")
        func gone() async throws {
            let router = try await ScriptedRouter(["plan=grant:1", "search=yes"])
            let mapper = router.searchingMapper()
            let events = mapper.events()
            mapper.start(port: 8099)
            _ = try await events.mapping()
            await router.end()
            #expect(try await events.event() == .failed(.noAnswer))
            #expect(mapper.mapping == nil)
            // The restarted router's server listens on another port.
            let again = try await ScriptedRouter(["search=yes"], address: router.address)
            #expect(try await events.mapping().externalPort == 8099)
            await mapper.stop()
            #expect(await again.wait(for: "delete 8099"))
        }
    }
#endif
