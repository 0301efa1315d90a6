#if os(Linux)
    import HTTPServerDiscovery
    import TestSupport
    import Testing

    @Suite("UPnP IGD (WANIPConnection:1): Port mapping")
    struct UPnPPortMappingTests {
        // MARK: Mapping

        @Test("A router is found by a search, maps the port, and removes the mapping at a stop")
        func mapping() async throws {
            let router = try await ScriptedRouter(["search=yes"])
            let mapper = NATPortMapper(router.configuration)
            let events = mapper.events()
            mapper.start(port: 8099)
            let mapping = try await events.mapping()
            #expect(mapping.protocol == .upnp)
            #expect(mapping.url == "http://203.0.113.7:8099/")
            #expect(mapping.internalPort == 8099)
            #expect(mapping.lifetime == .seconds(7200))
            #expect(mapping.scope == .global)
            #expect(mapper.mapping == mapping)
            await mapper.stop()
            #expect(try await events.event() == .removed)
            #expect(mapper.mapping == nil)
            #expect(await router.wait(for: "delete 8099"))
            #expect(
                router.requests == [
                    "description", "address", "add 8099 to 127.0.0.1:8099 for 7200", "delete 8099",
                ])
        }

        @Test("NAT-PMP is tried first, and UPnP if NAT-PMP gets no answer")
        func fallback() async throws {
            let router = try await ScriptedRouter()
            let mapper = router.mapper { $0.protocols = [.natPMP, .upnp] }
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(try await events.mapping().protocol == .upnp)
            await mapper.stop()
            let gateway = try await ScriptedGateway(
                addresses: ["203.0.113.7"], plan: ["grant:3600"])
            var configuration = NATPortMappingConfiguration()
            configuration.gateway = gateway.address
            let other = NATPortMapper(configuration)
            let others = other.events()
            other.start(port: 8099)
            #expect(try await others.mapping().protocol == .natPMP)
            await other.stop()
        }

        @Test("A mapping refused by NAT-PMP is tried by UPnP")
        func refusedByTheFirst() async throws {
            let address = ScriptedGateway.anyAddress()
            let gateway = try await ScriptedGateway(
                addresses: ["203.0.113.7"], plan: ["refuse:2"], address: address)
            let router = try await ScriptedRouter(address: address)
            let mapper = router.mapper { $0.protocols = [.natPMP, .upnp] }
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(try await events.mapping().protocol == .upnp)
            #expect(gateway.requests.contains("map 8099 wish 8099 for 7200"))
            await mapper.stop()
        }

        @Test("The configured port and lifetime are requested")
        func wishes() async throws {
            let router = try await ScriptedRouter()
            let mapper = router.mapper {
                $0.externalPort = 80
                $0.lifetime = .seconds(100)
            }
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(try await events.mapping().url == "http://203.0.113.7/", "80 is left out")
            #expect(await router.wait(for: "add 80 to 127.0.0.1:8099 for 100"))
            await mapper.stop()
            #expect(await router.wait(for: "delete 80"))
        }

        @Test("A mapping is renewed after half of its lifetime; only a change is an event")
        func renewal() async throws {
            let router = try await ScriptedRouter([
                "plan=grant:1", "addresses=203.0.113.7,203.0.113.7,203.0.113.8",
            ])
            let mapper = router.mapper()
            let events = mapper.events()
            mapper.start(port: 8099)
            let first = try await events.mapping()
            #expect(first.externalAddress == "203.0.113.7")
            #expect(first.lifetime == .seconds(1), "the router gives less than it is asked for")
            #expect(try await events.mapping().externalAddress == "203.0.113.8")
            let renewal = "add 8099 to 127.0.0.1:8099 for 7200"
            #expect(await router.wait(for: renewal, times: 3), "\(router.requests)")
            #expect(router.requests.filter { $0 == "description" }.count == 1)
            await mapper.stop()
        }

        @Test("A mapping whose renewal is refused is deleted and made again")
        func refusedRenewal() async throws {
            let router = try await ScriptedRouter(["plan=grant:1", "renewal=refused"])
            let mapper = router.mapper()
            let events = mapper.events()
            mapper.start(port: 8099)
            _ = try await events.mapping()
            #expect(await router.wait(for: "delete 8099"))
            await mapper.stop()
            #expect(try await events.event() == .removed, "it was mapped all the time")
        }

        @Test("Error 725: a router that knows only permanent mappings gets a request for one")
        func permanent() async throws {
            let router = try await ScriptedRouter(["leases=permanent"])
            let mapper = router.mapper { $0.lifetime = .seconds(1) }
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(try await events.mapping().lifetime == .zero)
            // The mapping is renewed all the same, because the router may have restarted.
            for seconds in 0...1 {
                let request = "add 8099 to 127.0.0.1:8099 for \(seconds)"
                #expect(await router.wait(for: request, times: 2))
            }
            await mapper.stop()
            #expect(await router.wait(for: "delete 8099"))
        }

        @Test("Error 718: if another machine has the port, the next free one is mapped")
        func conflict() async throws {
            let router = try await ScriptedRouter(["taken=8099+8100"])
            let mapper = router.mapper()
            let events = mapper.events()
            mapper.start(port: 8099)
            let mapping = try await events.mapping()
            #expect(mapping.externalPort == 8101)
            #expect(mapping.internalPort == 8099)
            await mapper.stop()
            #expect(await router.wait(for: "delete 8101"))
            #expect(router.requests.filter { $0.hasPrefix("delete") } == ["delete 8101"])
        }

        @Test("Error 718: after 17 taken ports the mapping fails")
        func noPort() async throws {
            let router = try await ScriptedRouter(["plan=refuse:718"])
            let mapper = router.mapper()
            let events = mapper.events()
            mapper.start(port: 65530)
            #expect(try await events.event() == .failed(.portTaken))
            #expect(await router.wait(for: "add 1034 to 127.0.0.1:65530 for 7200"))
            let ports = router.requests.filter { $0.hasPrefix("add") }
                .compactMap { $0.split(separator: " ").dropFirst().first.flatMap { Int($0) } }
            #expect(ports == Array(65530...65535) + Array(1024...1034))
            await mapper.stop()
        }

        @Test("Error 724: a router that needs equal ports gets the internal one")
        func samePort() async throws {
            let router = try await ScriptedRouter(["ports=same"])
            let mapper = router.mapper { $0.externalPort = 80 }
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(try await events.mapping().externalPort == 8099)
            await mapper.stop()
            let taken = try await ScriptedRouter(["ports=same", "taken=8099"])
            let other = taken.mapper { $0.externalPort = 80 }
            let others = other.events()
            other.start(port: 8099)
            #expect(try await others.event() == .failed(.portTaken))
            await other.stop()
        }

        @Test("Of two connection services the connected one is used")
        func twoLines() async throws {
            let router = try await ScriptedRouter(["lines=PPP+IP", "up=IP"])
            let mapper = router.mapper()
            let events = mapper.events()
            mapper.start(port: 8099)
            _ = try await events.mapping()
            #expect(Array(router.requests.prefix(3)) == ["description", "status PPP", "status IP"])
            await mapper.stop()
        }

        @Test("A mapping is trusted if the router does not list its mappings")
        func untold() async throws {
            let router = try await ScriptedRouter(["entries=untold"])
            let mapper = router.mapper()
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(try await events.mapping().lifetime == .seconds(7200))
            await mapper.stop()
        }

        @Test("Only a mapping that is known to be the server's own is removed")
        func untoldConflict() async throws {
            let router = try await ScriptedRouter(["taken=8099", "entries=untold"])
            let mapper = router.mapper()
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(try await events.mapping().externalPort == 8100)
            await mapper.stop()
            #expect(await router.wait(for: "delete 8100"))
            #expect(!router.requests.contains("delete 8099"))
        }

        // MARK: Refusals

        @Test(
            "Each error code of a refusal is reported",
            arguments: [
                (401, NATPortMappingError.notSupported), (402, .upnp(code: 402)),
                (501, .upnp(code: 501)), (602, .notSupported), (603, .outOfResources),
                (606, .refused), (715, .upnp(code: 715)), (716, .upnp(code: 716)),
                (727, .upnp(code: 727)), (728, .outOfResources), (729, .portTaken),
                (732, .upnp(code: 732)),
            ])
        func refusal(_ code: Int, _ error: NATPortMappingError) async throws {
            let router = try await ScriptedRouter(["plan=refuse:\(code)"])
            let mapper = router.mapper()
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(try await events.event() == .failed(error))
            #expect(mapper.mapping == nil)
            await mapper.stop()
            #expect(try await events.event() == .removed)
            #expect(!router.requests.contains { $0.hasPrefix("delete") })
        }

        @Test("A refused request is retried, and a repeated reason is one event")
        func retry() async throws {
            let router = try await ScriptedRouter([
                "plan=refuse:606,refuse:606,refuse:728,grant"
            ])
            let mapper = router.mapper { $0.retryInterval = .milliseconds(10) }
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(try await events.event() == .failed(.refused))
            #expect(try await events.event() == .failed(.outOfResources))
            #expect(try await events.mapping().externalPort == 8099)
            await mapper.stop()
        }

        @Test("A mapping that the router confirms but does not list is an error")
        func pretence() async throws {
            let router = try await ScriptedRouter(["plan=pretend"])
            let mapper = router.mapper()
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(try await events.event() == .failed(.upnp(code: 714)))
            await mapper.stop()
        }

        @Test(
            "A router without an external IPv4 address maps no port",
            arguments: ["", "0.0.0.0", "none", "::1"])
        func noAddress(_ address: String) async throws {
            let router = try await ScriptedRouter(["addresses=\(address)"])
            let mapper = router.mapper()
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(try await events.event() == .failed(.networkFailure))
            await mapper.stop()
        }

        // MARK: Hostile and broken routers

        @Test(
            "An invalid description is an error",
            arguments: [
                ("noise", NATPortMappingError.notSupported), ("garbage", .notSupported),
                ("missing", .notSupported), ("cut", .noAnswer), ("closed", .noAnswer),
                ("flood", .notSupported), ("huge", .notSupported),
            ])
        func brokenDescription(_ kind: String, _ error: NATPortMappingError) async throws {
            let router = try await ScriptedRouter(["description=\(kind)"])
            let mapper = router.mapper()
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(try await events.event() == .failed(error))
            await mapper.stop()
        }

        @Test("A description may have 128 KiB at most", arguments: [131_071, 131_072, 131_073])
        func longDescription(_ length: Int) async throws {
            let router = try await ScriptedRouter(["length=\(length)"])
            let mapper = router.mapper()
            let events = mapper.events()
            mapper.start(port: 8099)
            if length > 128 << 10 {
                #expect(try await events.event() == .failed(.notSupported))
            } else {
                _ = try await events.mapping()
            }
            await mapper.stop()
        }

        @Test(
            "An invalid answer to a request is an error",
            arguments: [
                ("noise", NATPortMappingError.notSupported), ("missing", .notSupported),
                ("forbidden", .refused), ("cut", .noAnswer), ("closed", .noAnswer),
                ("flood", .notSupported), ("huge", .notSupported),
            ])
        func brokenAnswer(_ kind: String, _ error: NATPortMappingError) async throws {
            let router = try await ScriptedRouter(["plan=\(kind)"])
            let mapper = router.mapper()
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(try await events.event() == .failed(error))
            await mapper.stop()
        }

        @Test("A mapping whose state cannot be read is removed")
        func unknownState() async throws {
            let router = try await ScriptedRouter(["entries=garbage"])
            let mapper = router.mapper()
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(try await events.event() == .failed(.notSupported))
            #expect(await router.wait(for: "delete 8099"))
            await mapper.stop()
        }

        @Test("A slow router fails at the time limit", arguments: ["silent", "drip"])
        func slow(_ kind: String) async throws {
            for plan in ["description=\(kind)", "plan=\(kind)", "entries=\(kind)"] {
                let router = try await ScriptedRouter([plan])
                let mapper = router.mapper { $0.patience = .milliseconds(500) }
                let events = mapper.events()
                let start = ContinuousClock.now
                mapper.start(port: 8099)
                #expect(try await events.event() == .failed(.noAnswer))
                #expect(ContinuousClock.now - start < .seconds(20))
                await mapper.stop()
            }
        }

        @Test("URLs of machines other than the gateway are not requested")
        func otherMachines() async throws {
            let other = try await ScriptedRouter()
            let router = try await ScriptedRouter([
                "search=yes", "locations=\(other.description)+http://ADDRESS/+ftp://ADDRESS:PORT/",
            ])
            var configuration = router.configuration
            configuration.patience = .seconds(20)
            let mapper = NATPortMapper(configuration)
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(try await events.event() == .failed(.noAnswer))
            await mapper.stop()
            let deceiver = try await ScriptedRouter([
                "control=\(other.description.replacing("/description.xml", with: "/control"))"
            ])
            let second = deceiver.mapper()
            let others = second.events()
            second.start(port: 8099)
            #expect(try await others.event() == .failed(.notSupported))
            await second.stop()
            #expect(other.requests == [])
        }

        @Test(
            "A gateway that is not an IPv4 address is an error", arguments: ["", "::1", "gateway"])
        func noGateway(_ address: String) async throws {
            var configuration = NATPortMappingConfiguration()
            configuration.gateway = address
            configuration.protocols = [.upnp]
            let mapper = NATPortMapper(configuration)
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(try await events.event() == .failed(.noGateway))
            await mapper.stop()
        }
    }
#endif
