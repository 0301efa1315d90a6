#if os(Linux)
    import HTTPServerCore
    import HTTPServerDiscovery
    import HTTPServerKit
    import TestSupport
    import Testing

    @Suite(
        "DNS-SD with a real avahi-daemon",
        .enabled("this user may not make networks") { await NetworkNamespace.isAllowed() })
    struct BonjourTests {
        /// A separate message bus and daemon, on a link with both ends in this namespace.
        private static let preparation = """
            mount -t tmpfs none /run
            mkdir -p /run/dbus /run/avahi-daemon
            ip link add mdns0 type veth peer name mdns1
            ip addr add 10.77.0.1/24 dev mdns0
            ip addr add 10.77.0.2/24 dev mdns1
            ip link set mdns0 up
            ip link set mdns1 up
            cat >/run/dbus.conf <<'CONF'
            <busconfig><type>system</type>
            <listen>unix:path=/run/dbus/system_bus_socket</listen><auth>EXTERNAL</auth>
            <policy context="default"><allow user="*"/><allow own="*"/>
            <allow send_type="method_call"/><allow send_type="signal"/>
            <allow send_destination="*"/><allow receive_sender="*"/></policy></busconfig>
            CONF
            cat >/run/avahi.conf <<'CONF'
            [server]
            host-name=testhost
            use-ipv4=yes
            use-ipv6=no
            allow-interfaces=mdns0
            [wide-area]
            enable-wide-area=no
            [publish]
            publish-hinfo=no
            publish-workstation=no
            CONF
            dbus-daemon --config-file=/run/dbus.conf --fork
            export AVAHI_COMPAT_NOWARN=1
            # glibc fills new memory, so that a library that reads it before it writes is found out.
            export MALLOC_PERTURB_=165
            """

        @Test(
            "The Avahi tests pass in a separate network namespace",
            .enabled(if: !NetworkNamespace.isInside))
        func inside() async throws {
            for tool in ["dbus-daemon", "avahi-daemon", "avahi-browse"] {
                _ = try Program.find(tool)
            }
            let result = try await NetworkNamespace.run(
                "AvahiTests", preparation: Self.preparation)
            #expect(result.status == 0, "\(result.complaints)")
            // The testing library writes its summary there.
            #expect(
                result.complaints.contains("11 tests in 1 suite passed"), "\(result.complaints)")
        }
    }

    @Suite("Avahi", .enabled(if: NetworkNamespace.isInside), .serialized)
    struct AvahiTests {
        private typealias Events = AsyncStream<BonjourEvent>

        init() async throws {
            let check = try await Program.run("avahi-daemon", ["--check"])
            if check.status != 0 { try await startDaemon() }
        }

        private func startDaemon() async throws {
            let result = try await Program.run(
                "avahi-daemon",
                [
                    "--daemonize", "--no-drop-root", "--no-chroot", "--no-rlimits",
                    "--file=/run/avahi.conf",
                ])
            guard result.status == 0 else { throw Program.Failure(result.complaints) }
        }

        /// The first event that meets a condition. Only the program has a time limit.
        private func event(
            _ events: Events, where isMet: (BonjourEvent) -> Bool
        ) async throws -> BonjourEvent {
            for await event in events where isMet(event) { return event }
            throw Program.Failure("no such event")
        }

        private func resolved(_ events: Events) async throws -> BonjourService {
            let event = try await event(events) {
                if case .resolved = $0 { true } else { false }
            }
            guard case .resolved(let service) = event else { throw Program.Failure("\(event)") }
            return service
        }

        /// The services of a type that another program finds: lines of interface, protocol, name,
        /// type, domain, host, address, port and TXT record, separated by semicolons.
        private func browse(_ type: String = "_http._tcp") async throws -> [[String]] {
            func once() async throws -> Program.Result {
                try await Program.run("avahi-browse", ["-trp", type], limit: .seconds(15))
            }
            var result = try await once()
            // avahi-browse may hang if a service disappears while it is being resolved.
            for _ in 0..<3 where result.status < 0 { result = try await once() }
            guard result.status == 0 else { throw Program.Failure(result.complaints) }
            return result.text.split(separator: "\n").filter { $0.hasPrefix("=") }.map {
                $0.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
            }
        }

        private func browse(until isMet: ([[String]]) -> Bool) async throws -> [[String]] {
            var lines: [[String]] = []
            try await waitUntil {
                lines = try await browse()
                return isMet(lines)
            }
            return lines
        }

        @Test("Other programs find the service with its name, host, port and record")
        func found() async throws {
            var record = TXTRecord()
            try record.set("path", "/inbox/")
            let bonjour = try BonjourAdvertisement(
                BonjourConfiguration(name: "Anna's Notes", record: record))
            let events = bonjour.events()
            #expect(bonjour.service == nil)
            bonjour.start(port: 8099)
            let registered = try await event(events) { _ in true }
            #expect(
                registered
                    == .registered(
                        BonjourService(
                            name: "Anna's Notes", type: "_http._tcp", domain: "local",
                            port: 8099)))
            let service = try await resolved(events)
            #expect(service.url == "http://testhost.local:8099/")
            #expect(bonjour.url == service.url)
            let lines = try await browse { !$0.isEmpty }
            let line = try #require(lines.first)
            #expect(line[3] == "Anna\\039s\\032Notes")
            #expect(line[6] == "testhost.local")
            #expect(line[8] == "8099")
            #expect(line[9] == "\"path=/inbox/\"")
            await bonjour.stop()
        }

        @Test("Without a name the service has the machine's name")
        func machineName() async throws {
            let bonjour = try BonjourAdvertisement()
            let events = bonjour.events()
            bonjour.start(port: 80)
            let service = try await resolved(events)
            #expect(service.name == "testhost")
            #expect(service.url == "http://testhost.local/")
            await bonjour.stop()
        }

        @Test("The record of an announced service can be changed")
        func update() async throws {
            let bonjour = try BonjourAdvertisement(BonjourConfiguration(name: "Changing"))
            let events = bonjour.events()
            bonjour.start(port: 8099)
            _ = try await resolved(events)
            var record = TXTRecord()
            try record.set("state", "busy")
            bonjour.update(record)
            _ = try await browse { $0.contains { $0[9] == "\"state=busy\"" } }
            await bonjour.stop()
        }

        @Test("A service is found by its subtypes")
        func subtypes() async throws {
            var configuration = BonjourConfiguration(name: "Narrow")
            configuration.subtypes = ["_notes", "_inbox"]
            configuration.interface = "mdns0"
            let bonjour = try BonjourAdvertisement(configuration)
            let events = bonjour.events()
            bonjour.start(port: 8099)
            _ = try await resolved(events)
            for subtype in ["_notes", "_inbox"] {
                let lines = try await browse("\(subtype)._sub._http._tcp")
                #expect(lines.map { $0[3] } == ["Narrow"])
            }
            #expect(try await browse("_other._sub._http._tcp").isEmpty)
            await bonjour.stop()
        }

        @Test("A service is withdrawn by a stop or with its owner, and may be announced again")
        func stop() async throws {
            var bonjour: BonjourAdvertisement? = try BonjourAdvertisement(
                BonjourConfiguration(name: "Here"))
            let events = try #require(bonjour).events()
            for port: UInt16 in [8097, 8098] {
                bonjour?.start(port: port)
                let service = try await resolved(events)
                #expect(service.name == "Here")
                #expect(service.port == port)
                // For a second after a stop other programs still have the previous port.
                let lines = try await browse { $0.map { $0[8] } == ["\(port)"] }
                #expect(lines.map { $0[3] } == ["Here"])
                await bonjour?.stop()
                _ = try await event(events) { $0 == .stopped }
                #expect(bonjour?.service == nil)
                _ = try await browse { $0.isEmpty }
            }
            bonjour?.start(port: 8099)
            _ = try await resolved(events)
            bonjour = nil
            _ = try await browse { $0.isEmpty }
        }

        @Test("An unknown interface is reported as an error")
        func noInterface() async throws {
            var configuration = BonjourConfiguration(name: "Nowhere")
            configuration.interface = "nothing7"
            let bonjour = try BonjourAdvertisement(configuration)
            let events = bonjour.events()
            bonjour.start(port: 8099)
            #expect(
                try await event(events) { _ in true }
                    == .failed(.noSuchInterface("nothing7")))
            #expect(bonjour.service == nil)
            await bonjour.stop()
        }

        @Test("The URL changes with the machine's name")
        func machineRenamed() async throws {
            let bonjour = try BonjourAdvertisement(BonjourConfiguration(name: "Steady"))
            let events = bonjour.events()
            bonjour.start(port: 8099)
            #expect(try await resolved(events).url == "http://testhost.local:8099/")
            let rename = try await Program.run("avahi-set-host-name", ["otherhost"])
            #expect(rename.status == 0, "\(rename.complaints)")
            _ = try await event(events) {
                if case .resolved(let service) = $0 {
                    service.url == "http://otherhost.local:8099/"
                } else {
                    false
                }
            }
            #expect(bonjour.service?.name == "Steady")
            await bonjour.stop()
            _ = try await Program.run("avahi-set-host-name", ["testhost"])
        }

        @Test("A daemon that stops is reported, and its return announces the service again")
        func daemonGoes() async throws {
            let bonjour = try BonjourAdvertisement(
                BonjourConfiguration(name: "Lasting"), retry: 20_000_000)
            let events = bonjour.events()
            bonjour.start(port: 8099)
            _ = try await resolved(events)
            _ = try await Program.run("avahi-daemon", ["--kill"])
            _ = try await event(events) { $0 == .failed(.unavailable) }
            #expect(bonjour.service == nil)
            // The same applies to a daemon that does not run at the start.
            let other = try BonjourAdvertisement(
                BonjourConfiguration(name: "Late"), retry: 20_000_000)
            let otherEvents = other.events()
            other.start(port: 8098)
            #expect(try await event(otherEvents) { _ in true } == .failed(.unavailable))
            try await startDaemon()
            #expect(try await resolved(events).name == "Lasting")
            #expect(try await resolved(otherEvents).name == "Late")
            _ = try await browse { $0.map { $0[3] }.sorted() == ["Lasting", "Late"] }
            await bonjour.stop()
            await other.stop()
        }

        /// Each has two connections to the daemon, and either may be the first to detect its end.
        @Test("Many advertisements are announced again after a restart of the daemon")
        func manyOutlive() async throws {
            let advertisements = try (0..<12).map {
                try BonjourAdvertisement(
                    BonjourConfiguration(name: "Number \($0)"), retry: 20_000_000)
            }
            let streams = advertisements.map { $0.events() }
            for (index, bonjour) in advertisements.enumerated() {
                bonjour.start(port: 8000 + UInt16(index))
            }
            for events in streams { _ = try await resolved(events) }
            _ = try await Program.run("avahi-daemon", ["--kill"])
            for events in streams {
                _ = try await event(events) { $0 == .failed(.unavailable) }
            }
            try await startDaemon()
            for (index, events) in streams.enumerated() {
                #expect(try await resolved(events).name == "Number \(index)")
            }
            for bonjour in advertisements { await bonjour.stop() }
        }

        @Test(
            "The service is withdrawn when its server is suspended or stops, and is back on resume")
        func follows() async throws {
            let bonjour = try BonjourAdvertisement(BonjourConfiguration(name: "Following"))
            let events = bonjour.events()
            var configuration = ServerConfiguration(host: "10.77.0.1", port: 0)
            configuration.loops = 1
            let server = HTTPServer(configuration, handler: Router())
            let following = Task { await bonjour.follow(server) }
            try await server.start()
            let port = try #require(server.addresses.first?.port)
            #expect(try await resolved(events).port == port)
            await server.suspend()
            _ = try await event(events) { $0 == .stopped }
            _ = try await browse { $0.isEmpty }
            try await server.resume()
            let service = try await resolved(events)
            #expect(service.name == "Following")
            #expect(service.port == port)
            _ = try await browse { $0.contains { $0[3] == "Following" && $0[8] == "\(port)" } }
            await server.shutdown()
            _ = try await event(events) { $0 == .stopped }
            _ = try await browse { $0.isEmpty }
            following.cancel()
            await following.value
        }

        @Test("A name that another service has is made unique by a number")
        func conflict() async throws {
            let other = try RunningProgram(
                "avahi-publish", ["-s", "Twice", "_http._tcp", "81"])
            _ = try await browse { $0.contains { $0[3] == "Twice" } }
            let bonjour = try BonjourAdvertisement(BonjourConfiguration(name: "Twice"))
            let events = bonjour.events()
            bonjour.start(port: 8099)
            let service = try await resolved(events)
            #expect(service.name == "Twice (2)")
            #expect(service.url == "http://testhost.local:8099/")
            await bonjour.stop()
            withExtendedLifetime(other) {}
        }
    }
#endif
