#if os(Linux)
    import HTTPServerCore
    import HTTPServerDiscovery
    import HTTPServerKit
    import TestSupport
    import Testing

    @Suite("Port mapping by NAT-PMP (RFC 6886)")
    struct NATPortMappingTests {
        private func configuration(_ gateway: ScriptedGateway) -> NATPortMappingConfiguration {
            var configuration = NATPortMappingConfiguration()
            configuration.gateway = gateway.address
            configuration.protocols = [.natPMP]
            configuration.patience = .seconds(60)
            return configuration
        }

        @Test("A mapping is requested, reported, and removed by a stop")
        func mapping() async throws {
            let gateway = try await ScriptedGateway(
                addresses: ["203.0.113.7"], plan: ["grant:3600"])
            let mapper = NATPortMapper(configuration(gateway))
            let events = mapper.events()
            #expect(mapper.mapping == nil)
            mapper.start(port: 8099)
            let mapping = try await events.mapping()
            #expect(
                mapping.url == "http://203.0.113.7:8100/", "the gateway gives the port above")
            #expect(mapping.internalPort == 8099)
            #expect(mapping.lifetime == .seconds(3600))
            #expect(mapping.scope == .global)
            #expect(mapping.protocol == .natPMP)
            #expect(mapper.mapping == mapping)
            #expect(mapper.url == mapping.url)
            await mapper.stop()
            #expect(try await events.event() == .removed)
            #expect(mapper.url == nil)
            // The stop does not wait for a slow gateway.
            try await waitUntil { gateway.requests.contains("map 8099 wish 0 for 0") }
            #expect(
                gateway.requests == [
                    "address", "map 8099 wish 8099 for 7200", "map 8099 wish 0 for 0",
                ])
        }

        @Test("A stop removes a mapping whose request is unanswered")
        func unanswered() async throws {
            let gateway = try await ScriptedGateway(addresses: ["203.0.113.7"], plan: ["silent"])
            let mapper = NATPortMapper(configuration(gateway))
            let events = mapper.events()
            mapper.start(port: 8099)
            try await waitUntil {
                gateway.requests.contains("map 8099 wish 8099 for 7200")
            }
            await mapper.stop()
            #expect(try await events.event() == .removed)
            try await waitUntil { gateway.requests.contains("map 8099 wish 0 for 0") }
        }

        @Test("A start waits for a running removal, whose repetition would remove the new mapping")
        func startDuringRemoval() async throws {
            let gateway = try await ScriptedGateway(
                addresses: ["203.0.113.7"], plan: ["grant:3600", "silent", "grant:3600"])
            let mapper = NATPortMapper(configuration(gateway))
            let events = mapper.events()
            mapper.start(port: 8099)
            _ = try await events.mapping()
            let stop = Task { await mapper.stop() }
            // The gateway does not answer the first request to remove the mapping.
            try await waitUntil { gateway.requests.contains("map 8099 wish 0 for 0") }
            mapper.start(port: 8099)
            await stop.value
            try await waitUntil { mapper.mapping != nil }
            let requests = gateway.requests.filter { $0.hasPrefix("map") }
            #expect(requests.last?.hasSuffix(" for 7200") == true, "\(requests)")
            #expect(requests.count { $0.hasSuffix(" for 0") } == 2)
            await mapper.stop()
        }

        @Test("Answers to other requests are ignored")
        func lateAnswers() async throws {
            let gateway = try await ScriptedGateway(
                addresses: ["late+203.0.113.7"], plan: ["late:3600"])
            let mapper = NATPortMapper(configuration(gateway))
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(try await events.mapping().url == "http://203.0.113.7:8100/")
            await mapper.stop()
        }

        @Test("The URL of a server over TLS begins with https")
        func secure() async throws {
            let gateway = try await ScriptedGateway(addresses: ["203.0.113.7"], plan: ["grant:60"])
            var configuration = configuration(gateway)
            configuration.externalPort = 442
            configuration.isSecure = true
            let mapper = NATPortMapper(configuration)
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(try await events.mapping().url == "https://203.0.113.7/", "443 is left out")
            await mapper.stop()
        }

        @Test("The configured port and lifetime are requested")
        func wishes() async throws {
            let gateway = try await ScriptedGateway(addresses: ["203.0.113.7"], plan: ["grant:60"])
            var configuration = configuration(gateway)
            configuration.externalPort = 79
            configuration.lifetime = .seconds(100)
            let mapper = NATPortMapper(configuration)
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(try await events.mapping().url == "http://203.0.113.7/", "80 is left out")
            let isMapping = { (request: String) in request.hasPrefix("map") }
            try await waitUntil { gateway.requests.contains(where: isMapping) }
            #expect(gateway.requests.first(where: isMapping) == "map 8099 wish 79 for 100")
            await mapper.stop()
        }

        @Test("A mapping is renewed after half of its lifetime; only a change is an event")
        func renewal() async throws {
            let gateway = try await ScriptedGateway(
                addresses: ["203.0.113.7", "203.0.113.7", "203.0.113.8"],
                plan: ["grant:1", "keep:1"])
            let mapper = NATPortMapper(configuration(gateway))
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(try await events.mapping().externalAddress == "203.0.113.7")
            let second = try await events.mapping()
            #expect(second.externalAddress == "203.0.113.8")
            #expect(second.externalPort == 8100)
            try await waitUntil {
                gateway.requests.count { $0 == "map 8099 wish 8100 for 7200" } >= 2
            }
            await mapper.stop()
        }

        @Test("A gateway without an external address maps no port")
        func noAddress() async throws {
            let gateway = try await ScriptedGateway(addresses: ["0.0.0.0"], plan: ["grant:60"])
            let mapper = NATPortMapper(configuration(gateway))
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(try await events.event() == .failed(.networkFailure))
            await mapper.stop()
        }

        @Test(
            "Each result code of a refusal is reported as an error",
            arguments: [
                (1, NATPortMappingError.notSupported), (2, .refused), (3, .networkFailure),
                (4, .outOfResources), (5, .notSupported),
            ])
        func refusal(_ code: Int, _ error: NATPortMappingError) async throws {
            let gateway = try await ScriptedGateway(
                addresses: ["203.0.113.7"], plan: ["refuse:\(code)"])
            let mapper = NATPortMapper(configuration(gateway))
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(try await events.event() == .failed(error))
            #expect(mapper.mapping == nil)
            await mapper.stop()
            #expect(try await events.event() == .removed)
            #expect(
                !gateway.requests.contains { $0.hasSuffix("for 0") }, "there is nothing to remove")
        }

        @Test("A refused request is retried, and a repeated reason is one event")
        func retry() async throws {
            let gateway = try await ScriptedGateway(
                addresses: ["203.0.113.7"],
                plan: ["refuse:2", "refuse:2", "refuse:4", "grant:3600"])
            var configuration = configuration(gateway)
            configuration.retryInterval = .milliseconds(10)
            let mapper = NATPortMapper(configuration)
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(try await events.event() == .failed(.refused))
            #expect(try await events.event() == .failed(.outOfResources))
            #expect(try await events.mapping().externalPort == 8100)
            await mapper.stop()
        }

        @Test("A lost request is sent again")
        func lost() async throws {
            let gateway = try await ScriptedGateway(
                addresses: ["203.0.113.7"], plan: ["silent", "silent", "grant:3600"])
            let mapper = NATPortMapper(configuration(gateway))
            let events = mapper.events()
            mapper.start(port: 8099)
            _ = try await events.mapping()
            func count() -> Int { gateway.requests.count { $0.hasPrefix("map") } }
            try await waitUntil { count() >= 3 }
            #expect(count() == 3)
            await mapper.stop()
        }

        @Test("A silent gateway and an absent one are reported as errors")
        func silence() async throws {
            let gateway = try await ScriptedGateway(addresses: ["silent"], plan: ["silent"])
            var configuration = configuration(gateway)
            configuration.patience = .milliseconds(300)
            for address in [gateway.address, ScriptedGateway.anyAddress()] {
                configuration.gateway = address
                let mapper = NATPortMapper(configuration)
                let events = mapper.events()
                mapper.start(port: 8099)
                #expect(try await events.event() == .failed(.noAnswer))
                await mapper.stop()
            }
            try await waitUntil { gateway.requests.contains("address") }
        }

        @Test("A gateway that stops answering does not block a stop")
        func silentStop() async throws {
            let gateway = try await ScriptedGateway(
                addresses: ["203.0.113.7"], plan: ["grant:3600", "silent"])
            let mapper = NATPortMapper(configuration(gateway))
            let events = mapper.events()
            mapper.start(port: 8099)
            _ = try await events.mapping()
            await mapper.stop()
            #expect(try await events.event() == .removed)
            try await waitUntil { gateway.requests.last == "map 8099 wish 0 for 0" }
        }

        @Test(
            "A gateway that is not an IPv4 address is an error",
            arguments: ["", "::1", "gateway", "1.2.3"])
        func noGateway(_ address: String) async throws {
            var configuration = NATPortMappingConfiguration()
            configuration.gateway = address
            let mapper = NATPortMapper(configuration)
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(try await events.event() == .failed(.noGateway))
            await mapper.stop()
        }

        @Test("A mapping with a private external address has private scope")
        func twoGateways() async throws {
            let gateway = try await ScriptedGateway(addresses: ["100.64.1.2"], plan: ["grant:3600"])
            let mapper = NATPortMapper(configuration(gateway))
            let events = mapper.events()
            mapper.start(port: 8099)
            #expect(try await events.mapping().scope == .private)
            await mapper.stop()
        }

        @Test("The mapping is removed when its server is suspended or stops, and is back on resume")
        func follows() async throws {
            let gateway = try await ScriptedGateway(
                addresses: ["203.0.113.7"], plan: ["grant:3600"])
            let mapper = NATPortMapper(configuration(gateway))
            let events = mapper.events()
            var configuration = ServerConfiguration(host: "127.0.0.1", port: 0)
            configuration.loops = 1
            let server = HTTPServer(configuration, handler: Router())
            let following = Task { await mapper.follow(server) }
            try await server.start()
            let port = try #require(server.addresses.first?.port)
            #expect(try await events.mapping().internalPort == port)
            await server.suspend()
            #expect(try await events.event() == .removed)
            try await server.resume()
            #expect(try await events.mapping().internalPort == port)
            await server.shutdown()
            #expect(try await events.event() == .removed)
            try await server.start()
            _ = try await events.mapping()
            following.cancel()
            await following.value
            #expect(try await events.event() == .removed)
            #expect(mapper.mapping == nil)
            await server.shutdown()
        }
    }
#endif
