#if os(Linux)
    internal import Dispatch

    /// Maps ports by NAT-PMP: requests the external address, then the port.
    ///
    /// Confined to the queue that is passed to `init`.
    final class NATPMPClient: NATPortMappingClient, @unchecked Sendable {
        private let queue: DispatchQueue
        private let configuration: NATPortMappingConfiguration
        private var request: NATRequest?
        /// The port of a mapping request without an answer: the gateway may have mapped it.
        private var unansweredPort: UInt16?

        init(_ configuration: NATPortMappingConfiguration, queue: DispatchQueue) {
            self.configuration = configuration
            self.queue = queue
        }

        func map(
            port: UInt16, wish: UInt16, seconds: UInt32,
            then done: @escaping @Sendable (Result<NATMapping, NATPortMappingError>) -> Void
        ) {
            send(.address, failed: { done(.failure($0)) }) { [weak self] answer in
                guard case .address(let address) = answer else { return }
                // The address of a gateway without a connection.
                guard address != "0.0.0.0" else { return done(.failure(.networkFailure)) }
                self?.unansweredPort = port
                self?.send(
                    .mapping(port: port, wish: wish, seconds: seconds),
                    failed: { [weak self] error in
                        if error != .noAnswer { self?.unansweredPort = nil }
                        done(.failure(error))
                    }
                ) { [weak self] answer in
                    guard case .mapping(let external, let seconds) = answer else { return }
                    self?.unansweredPort = nil
                    // A lifetime of zero means that the gateway made no mapping.
                    guard seconds > 0, external > 0 else { return done(.failure(.refused)) }
                    done(
                        .success(
                            NATMapping(
                                protocol: .natPMP, externalAddress: address,
                                externalPort: external, internalPort: port,
                                lifetime: .seconds(Int(seconds)))))
                }
            }
        }

        private func send(
            _ kind: NATRequest.Kind, failed: @escaping @Sendable (NATPortMappingError) -> Void,
            then next: @escaping @Sendable (NATAnswer) -> Void
        ) {
            request?.cancel()
            let request = NATRequest(queue: queue, patience: configuration.patience) {
                [weak self] result in
                self?.request = nil
                switch result {
                case .success(let answer): next(answer)
                case .failure(let error): failed(error)
                }
            }
            self.request = request
            request.send(kind, gateway: configuration.gateway)
        }

        func remove(_ mapping: NATMapping, then done: @escaping @Sendable () -> Void) {
            remove(mapping.internalPort, then: done)
        }

        func takeBackUnanswered(then done: @escaping @Sendable () -> Void) {
            guard let port = unansweredPort else { return done() }
            remove(port, then: done)
        }

        private func remove(_ port: UInt16, then done: @escaping @Sendable () -> Void) {
            if unansweredPort == port { unansweredPort = nil }
            let request = NATRequest(queue: queue, patience: .seconds(1)) { _ in done() }
            request.send(
                .mapping(port: port, wish: 0, seconds: 0), gateway: configuration.gateway)
        }

        func cancel() {
            request?.cancel()
            request = nil
        }
    }
#endif
