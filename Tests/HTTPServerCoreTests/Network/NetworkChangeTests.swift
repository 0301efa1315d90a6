#if os(Linux)
    import HTTPParser
    import HTTPServerAddresses
    import HTTPServerCore
    import HTTPServerKit
    import TestSupport
    import Testing

    @Suite(
        "Network changes",
        .enabled("this user may not make networks") {
            await NetworkNamespace.isAllowed()
        })
    struct NetworkChangeTests {
        @Test(
            "The tests of changes pass in a separate network namespace",
            .enabled(if: !NetworkNamespace.isInside))
        func inside() async throws {
            let result = try await NetworkNamespace.run("ChangingNetworkTests")
            #expect(result.status == 0, "\(result.complaints)")
            // The testing library writes its summary there.
            #expect(
                result.complaints.contains("8 tests in 1 suite passed"), "\(result.complaints)")
        }
    }

    @Suite(
        "Changes of interfaces and addresses", .enabled(if: NetworkNamespace.isInside), .serialized)
    struct ChangingNetworkTests {
        private typealias Lists = AsyncStream<[NetworkInterface]>

        /// The first list that meets a condition. Only the program has a time limit.
        private func list(
            _ lists: Lists, where isMet: ([NetworkInterface]) -> Bool
        ) async -> [NetworkInterface]? {
            for await list in lists where isMet(list) { return list }
            return nil
        }

        private func has(_ host: String) -> ([NetworkInterface]) -> Bool {
            { $0.flatMap(\.addresses).contains { $0.host == host } }
        }

        @Test("Added and removed addresses are reported")
        func address() async throws {
            let lists = NetworkInterface.changes()
            let start = try #require(await list(lists) { _ in true })
            #expect(start.map(\.name).contains("lo"))
            #expect(!has("10.9.8.7")(start))
            try await NetworkNamespace.ip("addr add 10.9.8.7/24 dev lo")
            let second = try #require(await list(lists, where: has("10.9.8.7")))
            let address = second.flatMap(\.addresses).first { $0.host == "10.9.8.7" }
            #expect(address?.prefixLength == 24)
            #expect(address?.scope == .private)
            try await NetworkNamespace.ip("addr add fd00::7/64 dev lo nodad")
            let third = try #require(await list(lists, where: has("fd00::7")))
            #expect(
                third.flatMap(\.addresses).first { $0.host == "fd00::7" }?.prefixLength == 64)
            try await NetworkNamespace.ip("addr del 10.9.8.7/24 dev lo")
            try await NetworkNamespace.ip("addr del fd00::7/64 dev lo")
            _ = try #require(
                await list(lists) { !has("10.9.8.7")($0) && !has("fd00::7")($0) })
        }

        @Test("Added, activated and removed interfaces are reported")
        func interface() async throws {
            let lists = NetworkInterface.changes()
            try await NetworkNamespace.ip("link add veth7 type veth peer name veth8")
            let found = try #require(
                await list(lists) { $0.contains { $0.name == "veth7" } })
            let interface = try #require(found.first { $0.name == "veth7" })
            #expect(!interface.flags.contains(.up))
            #expect(interface.kind == .virtual)
            try await NetworkNamespace.ip("link set veth7 up")
            _ = try #require(
                await list(lists) {
                    $0.contains { $0.name == "veth7" && $0.flags.contains(.up) }
                })
            try await NetworkNamespace.ip("link del veth7")
            _ = try #require(await list(lists) { !$0.contains { $0.name == "veth7" } })
        }

        @Test("Every reader gets a list with all changes of a burst")
        func readers() async throws {
            let first = NetworkInterface.changes()
            let second = NetworkInterface.changes()
            for number in 1...20 {
                try await NetworkNamespace.ip("addr add 10.7.0.\(number)/32 dev lo")
            }
            let hosts = Set((1...20).map { "10.7.0.\($0)" })
            let hasAll = { (list: [NetworkInterface]) in
                hosts.isSubset(of: list.flatMap(\.addresses).map(\.host))
            }
            _ = try #require(await list(first, where: hasAll))
            _ = try #require(await list(second, where: hasAll))
            for number in 1...20 {
                try await NetworkNamespace.ip("addr del 10.7.0.\(number)/32 dev lo")
            }
        }

        @Test("A reader that begins during a change also gets the list after it")
        func newReader() async throws {
            let monitor = InterfaceMonitor(pause: 2_000)
            let older = monitor.lists()
            _ = try #require(await list(older) { !has("10.9.8.6")($0) })
            try await NetworkNamespace.ip("addr add 10.9.8.6/24 dev lo")
            let newer = monitor.lists()
            _ = try #require(await list(newer, where: has("10.9.8.6")))
            try await NetworkNamespace.ip("addr del 10.9.8.6/24 dev lo")
            _ = try #require(await list(newer) { !has("10.9.8.6")($0) })
            withExtendedLifetime(older) {}
        }

        @Test("The socket is open only while there is a reader")
        func socket() async throws {
            let monitor = InterfaceMonitor()
            #expect(!monitor.isListening)
            for _ in 1...3 {
                let task = Task {
                    for await _ in monitor.lists() where Task.isCancelled { break }
                }
                try await waitUntil { monitor.isListening }
                task.cancel()
                await task.value
                try await waitUntil { !monitor.isListening }
            }
        }

        @Test("An interface is bound with its link-local address, whose URL works")
        func linkLocal() async throws {
            try await NetworkNamespace.ip("link add veth5 type veth peer name veth6")
            for name in ["veth5", "veth6"] {
                try await NetworkNamespace.ip("link set \(name) up")
            }
            try await NetworkNamespace.ip("addr add 10.5.0.1/24 dev veth5")
            try await NetworkNamespace.ip("addr add fe80::5/64 dev veth5 nodad")
            var configuration = ServerConfiguration()
            configuration.loops = 1
            configuration.endpoints = [.interface("veth5", port: 0)]
            var router = Router()
            router.on(.get, "/") { _ in Response(.ok, body: .text("here\n")) }
            let server = HTTPServer(configuration, handler: router)
            try await server.start()
            let urls = server.reachableURLs
            #expect(urls.first?.host == "10.5.0.1")
            #expect(urls.allSatisfy { $0.interface == "veth5" && $0.kind == .virtual })
            let linkLocal = try #require(urls.first { $0.host == "fe80::5" })
            #expect(linkLocal.zone == "veth5")
            for url in [try #require(urls.first), linkLocal] {
                let result = try await Program.run("curl", ["-sg", url.text])
                #expect(result.text == "here\n", "\(url)")
            }
            // No other address of the machine is bound.
            let port = try #require(server.addresses.first?.port)
            let elsewhere = try await Program.run("curl", ["-s", "http://127.0.0.1:\(port)/"])
            #expect(elsewhere.status == 7)
            await server.shutdown()
            try await NetworkNamespace.ip("link del veth5")
        }

        @Test("The URLs of a server follow the network")
        func urls() async throws {
            var configuration = ServerConfiguration(host: "*", port: 0)
            configuration.loops = 1
            let server = HTTPServer(configuration, handler: Router())
            try await server.start()
            let port = try #require(server.addresses.first?.port)
            var updates = server.reachableURLUpdates().makeAsyncIterator()
            #expect(await updates.next()?.map(\.scope).contains(.private) == false)
            try await NetworkNamespace.ip("addr add 10.3.0.1/24 dev lo")
            let url = "http://10.3.0.1:\(port)/"
            while let list = await updates.next(), !list.contains(where: { $0.text == url }) {}
            #expect(server.reachableURLs.contains { $0.text == url })
            try await NetworkNamespace.ip("addr del 10.3.0.1/24 dev lo")
            while let list = await updates.next(), list.contains(where: { $0.text == url }) {}
            #expect(!server.reachableURLs.contains { $0.text == url })
            await server.shutdown()
        }

        @Test("A network without a route has a primary address; without a network there is none")
        func primary() async throws {
            #expect(NetworkInterface.primaryAddress() == nil)
            try await NetworkNamespace.ip("link add veth1 type veth peer name veth2")
            try await NetworkNamespace.ip("addr add 10.1.0.1/24 dev veth1")
            #expect(NetworkInterface.primaryAddress() == nil, "it is off")
            for name in ["veth1", "veth2"] {
                try await NetworkNamespace.ip("link set \(name) up")
            }
            #expect(NetworkInterface.primaryAddress()?.host == "10.1.0.1")
            try await NetworkNamespace.ip("addr add 10.2.0.1/24 dev veth2")
            try await NetworkNamespace.ip("route add default via 10.2.0.9")
            #expect(NetworkInterface.primaryAddress()?.host == "10.2.0.1")
            try await NetworkNamespace.ip("link del veth1")
        }
    }
#endif
