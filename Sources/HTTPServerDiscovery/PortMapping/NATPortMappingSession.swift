#if os(Linux) || os(macOS)
    internal import Dispatch
    internal import HTTPServerAddresses
    internal import HTTPServerCore
    internal import ToolkitSystem

    /// The work of a mapper on its queue: requests the external address, then the port, and both
    /// again after half of the lifetime.
    ///
    /// All but `known` and `events` is confined to the queue.
    final class NATPortMappingSession: @unchecked Sendable {
        let events = Broadcast<NATPortMappingEvent>()
        private let known = Locked<NATMapping?>(nil)
        private let queue = DispatchQueue(label: "http.nat")
        private let configuration: NATPortMappingConfiguration

        /// The wanted state: a port, or no mapping.
        private var port: UInt16?
        private var request: NATRequest?
        /// Counts the rounds: what was planned for an older one does not matter any more.
        private var round = 0
        private var lastError: NATPortMappingError?
        private var networks: Task<Void, Never>?

        init(_ configuration: NATPortMappingConfiguration) {
            self.configuration = configuration
        }

        var mapping: NATMapping? { known.withLock { $0 } }

        // MARK: From any thread

        func start(port: UInt16) {
            queue.async {
                guard self.port != port else { return }
                let begin: @Sendable () -> Void = {
                    self.port = port
                    self.lastError = nil
                    self.follow()
                    self.ask()
                }
                if self.port == nil { begin() } else { self.remove { begin() } }
            }
        }

        func stop(_ done: @escaping @Sendable () -> Void) {
            queue.async {
                self.networks?.cancel()
                self.networks = nil
                self.remove(done)
            }
        }

        // MARK: Asking

        /// Another network has another gateway.
        private func follow() {
            guard networks == nil, configuration.gateway == nil else { return }
            networks = Task { [weak self] in
                for await _ in NetworkInterface.changes().dropFirst() {
                    guard let self else { return }
                    self.queue.async { if self.port != nil { self.ask() } }
                }
            }
        }

        private func ask() {
            guard let port else { return }
            round += 1
            send(.address) { [weak self] answer in
                guard let self, case .address(let address) = answer else { return }
                let wish = NATRequest.Kind.mapping(
                    port: port, wish: self.wish ?? port, seconds: self.seconds)
                self.send(wish) { [weak self] answer in
                    guard case .mapping(let external, let seconds) = answer else { return }
                    self?.mapped(address, external, port, seconds)
                }
            }
        }

        /// A mapping that is there is asked for again as it is (RFC 6886 section 3.3).
        private var wish: UInt16? {
            known.withLock { $0?.externalPort } ?? configuration.externalPort
        }

        private var seconds: UInt32 {
            UInt32(min(max(configuration.lifetime.components.seconds, 1), 86_400))
        }

        private func send(
            _ kind: NATRequest.Kind, then next: @escaping @Sendable (NATAnswer) -> Void
        ) {
            request?.cancel()
            let request = NATRequest(queue: queue, patience: configuration.patience) {
                [weak self] result in
                self?.request = nil
                switch result {
                case .success(let answer): next(answer)
                case .failure(let error): self?.failed(error)
                }
            }
            self.request = request
            request.send(kind, gateway: configuration.gateway)
        }

        private func mapped(
            _ address: String, _ external: UInt16, _ port: UInt16, _ seconds: UInt32
        ) {
            lastError = nil
            // A mapping for no time is none.
            guard seconds > 0 else { return failed(.refused) }
            let mapping = NATMapping(
                externalAddress: address, externalPort: external, internalPort: port,
                lifetime: .seconds(Int(seconds)))
            let before = known.withLock { known in
                defer { known = mapping }
                return known
            }
            if before?.url != mapping.url { events.send(.mapped(mapping)) }
            again(afterMilliseconds: max(500, Int(seconds) * 500))
        }

        private func failed(_ error: NATPortMappingError) {
            known.withLock { $0 = nil }
            // A lasting failure is reported once.
            if error != lastError { events.send(.failed(error)) }
            lastError = error
            let interval = configuration.retryInterval.nanoseconds / 1_000_000
            again(afterMilliseconds: max(10, Int(clamping: interval)))
        }

        private func again(afterMilliseconds delay: Int) {
            let round = self.round
            queue.asyncAfter(deadline: .now() + .milliseconds(delay)) { [weak self] in
                guard let self, round == self.round else { return }
                self.ask()
            }
        }

        // MARK: Ending

        private func remove(_ done: @escaping @Sendable () -> Void) {
            round += 1
            request?.cancel()
            request = nil
            let wasWanted = port != nil
            port = nil
            let mapping = known.withLock { known in
                defer { known = nil }
                return known
            }
            guard let mapping else {
                if wasWanted { events.send(.removed) }
                return done()
            }
            // Holds this object: it may be the last thing that is done.
            let request = NATRequest(queue: queue, patience: .seconds(1)) { _ in
                self.events.send(.removed)
                done()
            }
            request.send(
                .mapping(port: mapping.internalPort, wish: 0, seconds: 0),
                gateway: configuration.gateway)
        }
    }
#endif
