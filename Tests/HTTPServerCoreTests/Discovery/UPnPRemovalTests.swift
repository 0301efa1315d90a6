#if os(Linux)
    import HTTPServerDiscovery
    import TestSupport
    import Testing

    @Suite("Removal of port mappings by UPnP IGD")
    struct UPnPRemovalTests {
        @Test("A mapping that could not be renewed is taken back at the stop")
        func unrenewed() async throws {
            let router = try await ScriptedRouter(["plan=grant:1,refuse:606"])
            let mapper = router.mapper()
            let events = mapper.events()
            mapper.start(port: 8099)
            _ = try await events.mapping()
            #expect(try await events.event() == .failed(.refused))
            await mapper.stop()
            #expect(await router.wait(for: "delete 8099"))
        }

        @Test("A mapping that another machine has by now is left")
        func takenOver() async throws {
            let router = try await ScriptedRouter(["plan=grant:1", "search=yes"])
            let mapper = router.searchingMapper()
            let events = mapper.events()
            mapper.start(port: 8099)
            _ = try await events.mapping()
            await router.end()
            let other = try await ScriptedRouter(
                ["plan=refuse:728", "taken=8099", "search=yes"], address: router.address)
            while try await events.event() != .failed(.outOfResources) {}
            await mapper.stop()
            #expect(!other.requests.contains("delete 8099"), "\(other.requests)")
        }

        @Test("A start that waits for the removal of another port ends with the stop")
        func stoppedStart() async throws {
            let router = try await ScriptedRouter(["removal=late"])
            let mapper = router.mapper()
            let events = mapper.events()
            mapper.start(port: 8099)
            _ = try await events.mapping()
            mapper.start(port: 9090)
            await mapper.stop()
            // Longer than the removal lasts, behind which the start would come.
            try await Task.sleep(for: .milliseconds(2_500))
            #expect(!router.requests.contains { $0.hasPrefix("add 9090") }, "\(router.requests)")
            #expect(mapper.mapping == nil)
        }

        @Test("A router that falls silent does not keep the stop")
        func silentStop() async throws {
            let router = try await ScriptedRouter(["removal=silent"])
            let mapper = router.mapper()
            let events = mapper.events()
            mapper.start(port: 8099)
            _ = try await events.mapping()
            await mapper.stop()
            #expect(try await events.event() == .removed)
            #expect(await router.wait(for: "delete 8099"))
        }

        @Test("A mapping that comes after the stop is taken back")
        func lateMapping() async throws {
            let router = try await ScriptedRouter(["entries=silent"])
            let mapper = router.mapper()
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(await router.wait(for: "add 8099 to 127.0.0.1:8099 for 7200"))
            await mapper.stop()
            #expect(try await events.event() == .removed)
            #expect(await router.wait(for: "delete 8099"))
        }

        @Test("A mapping whose answer does not come before the stop is taken back")
        func unansweredMapping() async throws {
            // The program may end after the stop, which waits for two seconds at most.
            var isTakenBack = false
            for _ in 0..<4 where !isTakenBack {
                let router = try await ScriptedRouter(["plan=unanswered"])
                let mapper = router.mapper()
                mapper.start(port: 8099)
                #expect(await router.wait(for: "add 8099 to 127.0.0.1:8099 for 7200"))
                await mapper.stop()
                isTakenBack = router.requests.contains("delete 8099")
            }
            #expect(isTakenBack)
        }

        @Test("Another machine's mapping is left when no answer comes before the stop")
        func unansweredMappingOfOthers() async throws {
            let router = try await ScriptedRouter(["plan=unanswered,grant", "taken=8099"])
            let mapper = router.mapper()
            mapper.start(port: 8099)
            #expect(await router.wait(for: "add 8099 to 127.0.0.1:8099 for 7200"))
            await mapper.stop()
            // A mapping is made only after the one before it is over.
            let events = mapper.events()
            mapper.start(port: 9090)
            _ = try await events.mapping()
            #expect(!router.requests.contains("delete 8099"), "\(router.requests)")
            await mapper.stop()
        }
    }
#endif
