#if os(Linux)
    internal import Dispatch
    internal import HTTPServerAddresses
    internal import HTTPServerCore
    internal import ToolkitSystem

    /// The work of a mapper on its queue: it tries one protocol after another until the gateway
    /// maps the port, and renews the mapping after half of its lifetime.
    ///
    /// Everything except `known` and `events` is confined to the queue.
    final class NATPortMappingSession: @unchecked Sendable {
        let events = Broadcast<NATPortMappingEvent>()
        private let known = Locked<NATMapping?>(nil)
        private let queue = DispatchQueue(label: "http.nat")
        private let configuration: NATPortMappingConfiguration
        private let clients: [any NATPortMappingClient]

        /// The wanted state: a port, or no mapping.
        private var port: UInt16?
        /// The client that has mapped it.
        private var mapper: (any NATPortMappingClient)?
        /// A mapping that could not be renewed; the gateway may still have it.
        private var unrenewed: (mapping: NATMapping, mapper: any NATPortMappingClient)?
        /// Counts the calls of `start` and `stop`: a start that waits for a removal is dropped if
        /// another call follows.
        private var wish = 0
        /// Counts the rounds; actions planned in older rounds are ignored.
        private var round = 0
        /// The number of unfinished removals, and the starts that wait for them: a repeated removal
        /// would also remove a new mapping of the same port.
        private var removals = 0
        private var afterRemovals: [@Sendable () -> Void] = []
        private var lastError: NATPortMappingError?
        private var networks: Task<Void, Never>?

        /// - Parameter description: the URL of the router's description; `nil` to search for it.
        init(_ configuration: NATPortMappingConfiguration, description: String? = nil) {
            self.configuration = configuration
            clients = configuration.protocols.compactMap { [queue] kind in
                switch kind {
                case .natPMP: NATPMPClient(configuration, queue: queue)
                case .upnp: UPnPClient(configuration, description: description, queue: queue)
                case .system: nil
                }
            }
        }

        var mapping: NATMapping? { known.withLock { $0 } }

        // MARK: From any thread

        func start(port: UInt16) {
            queue.async {
                self.wish += 1
                guard self.port != port else { return }
                let wish = self.wish
                let begin: @Sendable () -> Void = {
                    guard wish == self.wish else { return }
                    self.port = port
                    self.lastError = nil
                    self.follow()
                    self.ask()
                }
                if self.port != nil { return self.remove { begin() } }
                if self.removals == 0 { begin() } else { self.afterRemovals.append(begin) }
            }
        }

        func stop(_ done: @escaping @Sendable () -> Void) {
            queue.async {
                self.wish += 1
                self.networks?.cancel()
                self.networks = nil
                self.remove(done)
            }
        }

        // MARK: Asking

        /// Requests the mapping again when the networks change, because another network has another
        /// gateway.
        private func follow() {
            guard networks == nil, configuration.gateway == nil else { return }
            networks = Task { [weak self] in
                for await _ in NetworkInterface.changes().dropFirst() {
                    guard let self else { return }
                    self.queue.async { if self.port != nil { self.ask() } }
                }
            }
        }

        /// The protocol that has mapped the port is tried first.
        private func ask() {
            guard let port else { return }
            round += 1
            for client in clients { client.cancel() }
            let others = clients.filter { $0 !== mapper }
            ask(port, by: ((mapper.map { [$0] } ?? []) + others)[...], after: nil)
        }

        /// - Parameter error: the reason why the earlier protocols did not map the port.
        private func ask(
            _ port: UInt16, by clients: ArraySlice<any NATPortMappingClient>,
            after error: NATPortMappingError?
        ) {
            guard let client = clients.first else { return failed(error ?? .notSupported) }
            let round = self.round
            // An existing mapping is requested unchanged (RFC 6886 section 3.3).
            let last = known.withLock { $0 } ?? unrenewed?.mapping
            let wish = last?.externalPort ?? configuration.externalPort ?? port
            client.map(port: port, wish: wish, seconds: seconds) { [weak self] result in
                guard let self else { return }
                guard round == self.round else {
                    // The mapping was made while the session stopped.
                    if case .success(let mapping) = result, self.port != port {
                        client.remove(mapping) {}
                    }
                    return
                }
                switch result {
                case .success(let mapping): self.mapped(mapping, by: client)
                case .failure(.noGateway): self.failed(.noGateway)
                case .failure(let next):
                    // An answer of the gateway explains more than a timeout.
                    let reason = error.map { $0 == .noAnswer ? next : $0 } ?? next
                    self.ask(port, by: clients.dropFirst(), after: reason)
                }
            }
        }

        private var seconds: UInt32 {
            UInt32(min(max(configuration.lifetime.components.seconds, 1), 86_400))
        }

        private func mapped(_ mapping: NATMapping, by client: any NATPortMappingClient) {
            var mapping = mapping
            mapping.isSecure = configuration.isSecure
            lastError = nil
            mapper = client
            unrenewed = nil
            let before = known.withLock { known in
                defer { known = mapping }
                return known
            }
            if before?.url != mapping.url || before?.protocol != mapping.protocol {
                events.send(.mapped(mapping))
            }
            // Even a gateway that keeps mappings forever may restart and lose them.
            let granted = Int(mapping.lifetime.components.seconds)
            let lifetime = granted > 0 ? min(granted, 86_400) : Int(seconds)
            again(afterMilliseconds: max(500, lifetime * 500))
        }

        private func failed(_ error: NATPortMappingError) {
            let lost = known.withLock { known in
                defer { known = nil }
                return known
            }
            if let lost, let mapper { unrenewed = (lost, mapper) }
            mapper = nil
            // A lasting failure is reported once.
            if error != lastError { events.send(.failed(error)) }
            lastError = error
            let interval = configuration.retryInterval.nanoseconds / 1_000_000
            again(afterMilliseconds: max(10, Int(clamping: interval)))
        }

        private func again(afterMilliseconds delay: Int) {
            let round = self.round
            let next: @Sendable () -> Void = { [weak self] in
                guard let self, round == self.round else { return }
                self.ask()
            }
            queue.asyncAfter(deadline: .now() + .milliseconds(delay), execute: next)
            // A lease also expires while this machine sleeps, when the other clock stops.
            queue.asyncAfter(wallDeadline: .now() + .milliseconds(delay), execute: next)
        }

        // MARK: Ending

        private func remove(_ done: @escaping @Sendable () -> Void) {
            round += 1
            for client in clients { client.cancel() }
            let wasWanted = port != nil
            port = nil
            let mapping = known.withLock { known in
                defer { known = nil }
                return known
            }
            let held = mapping.flatMap { mapping in mapper.map { (mapping, $0) } } ?? unrenewed
            mapper = nil
            unrenewed = nil
            removals += 1
            // All removals run concurrently, so that the caller waits only for the slowest.
            let group = DispatchGroup()
            for client in clients {
                group.enter()
                if let (mapping, mapper) = held, client === mapper {
                    mapper.remove(mapping) { group.leave() }
                } else {
                    client.takeBackUnanswered { group.leave() }
                }
            }
            // The closure retains this object, whose last action this may be.
            group.notify(queue: queue) {
                self.removals -= 1
                if wasWanted || held != nil { self.events.send(.removed) }
                done()
                guard self.removals == 0 else { return }
                let waiting = self.afterRemovals
                self.afterRemovals = []
                for begin in waiting { begin() }
            }
        }
    }
#endif
