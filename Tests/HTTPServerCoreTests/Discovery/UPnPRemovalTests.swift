#if os(Linux)
    import HTTPServerDiscovery
    import TestSupport
    import Testing

    @Suite("UPnP IGD: Removal of port mappings")
    struct UPnPRemovalTests {
        @Test("A stop removes a mapping that could not be renewed")
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

        @Test("A stop does not remove a mapping that another machine has taken over")
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

        @Test("A stop cancels a start that waits for the removal of another port")
        func stoppedStart() async throws {
            let router = try await ScriptedRouter(["removal=late"])
            let mapper = router.mapper()
            let events = mapper.events()
            mapper.start(port: 8099)
            _ = try await events.mapping()
            mapper.start(port: 9090)
            await mapper.stop()
            // Longer than the removal, after which the start would run.
            try await Task.sleep(for: .milliseconds(2_500))
            #expect(!router.requests.contains { $0.hasPrefix("add 9090") }, "\(router.requests)")
            #expect(mapper.mapping == nil)
        }

        @Test("A router that stops answering does not block a stop")
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

        @Test("A mapping that is made around the time of a stop is removed")
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

        @Test("A mapping that is unanswered at a stop is removed")
        func unansweredMapping() async throws {
            // The removal may end after the stop, which waits for two seconds at most.
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

        @Test("Another machine's mapping is not removed if a request is unanswered at a stop")
        func unansweredMappingOfOthers() async throws {
            let router = try await ScriptedRouter(["plan=unanswered,grant", "taken=8099"])
            let mapper = router.mapper()
            mapper.start(port: 8099)
            #expect(await router.wait(for: "add 8099 to 127.0.0.1:8099 for 7200"))
            await mapper.stop()
            // A mapping is made only after the previous one has ended.
            let events = mapper.events()
            mapper.start(port: 9090)
            _ = try await events.mapping()
            #expect(!router.requests.contains("delete 8099"), "\(router.requests)")
            await mapper.stop()
        }
    }
#endif
