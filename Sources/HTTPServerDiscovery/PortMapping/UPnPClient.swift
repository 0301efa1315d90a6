#if os(Linux)
    internal import Dispatch
    internal import ToolkitSystem

    /// Maps ports by UPnP IGD. Its calls block, so they run on a separate queue. A late or
    /// cancelled call delays only the next call.
    ///
    /// Confined to the queue that is passed to `init`, except for the properties with locks.
    final class UPnPClient: NATPortMappingClient, @unchecked Sendable {
        private let queue: DispatchQueue
        private let blocking = DispatchQueue(label: "http.upnp")
        private let configuration: NATPortMappingConfiguration
        private let description: String?
        private var call: BlockingCall<NATMapping>?
        /// The router that was found last.
        private let router = Locked<UPnPRouter?>(nil)
        /// The router that has mapped the port, and the address of this machine to which the
        /// mapping leads. The address of the machine may have changed since.
        private let mapped = Locked<(router: UPnPRouter, address: String)?>(nil)
        /// Whether the last exchange with the router failed: then the next request searches for a
        /// router again.
        private let isDoubtful = Locked(false)

        init(
            _ configuration: NATPortMappingConfiguration, description: String?, queue: DispatchQueue
        ) {
            self.configuration = configuration
            self.description = description
            self.queue = queue
        }

        func map(
            port: UInt16, wish: UInt16, seconds: UInt32,
            then done: @escaping @Sendable (Result<NATMapping, NATPortMappingError>) -> Void
        ) {
            call?.cancel()
            let call = BlockingCall(
                queue: queue, patience: configuration.patience, completion: done)
            self.call = call
            blocking.async { [self] in
                guard !call.isOver else { return }
                do throws(NATPortMappingError) {
                    let mapping = try map(port, wish, seconds) { call.isOver }
                    // The mapping was made too late.
                    if !call.finish(.success(mapping)) { takeBack(mapping) }
                } catch {
                    // The error of a cancelled call is not the router's fault.
                    if call.isLate { isDoubtful.withLock { $0 = true } }
                    call.finish(.failure(error))
                }
            }
        }

        func cancel() {
            call?.cancel()
            call = nil
        }

        /// A cancelled call removes its late mapping on the queue of blocking calls. This waits for
        /// that, but at most two seconds.
        func takeBackUnanswered(then done: @escaping @Sendable () -> Void) {
            let last = BlockingCall<Void>(queue: queue, patience: .seconds(2)) { _ in done() }
            blocking.async { last.finish(.success(())) }
        }

        func remove(_ mapping: NATMapping, then done: @escaping @Sendable () -> Void) {
            let call = BlockingCall<Void>(queue: queue, patience: .seconds(2)) { _ in done() }
            blocking.async { [self] in
                takeBack(mapping)
                call.finish(.success(()))
            }
        }

        // MARK: On the blocking queue

        private func map(
            _ port: UInt16, _ wish: UInt16, _ seconds: UInt32,
            isOver: @escaping @Sendable () -> Bool
        ) throws(NATPortMappingError) -> NATMapping {
            let address = try gateway()
            let exchange = RouterExchange(address: address, isOver: isOver)
            if let known = router.withLock({ $0 }), known.address == address,
                !isDoubtful.withLock({ $0 })
            {
                do throws(NATPortMappingError) {
                    return try map(port, wish, seconds, known, exchange)
                } catch {
                    guard !isOver() else { throw error }
                    // The router may have restarted with other URLs.
                    isDoubtful.withLock { $0 = true }
                }
            }
            let found = try UPnPRouter.find(by: exchange, description: description)
            router.withLock { $0 = found }
            isDoubtful.withLock { $0 = false }
            return try map(port, wish, seconds, found, exchange)
        }

        private func map(
            _ port: UInt16, _ wish: UInt16, _ seconds: UInt32, _ router: UPnPRouter,
            _ exchange: RouterExchange
        ) throws(NATPortMappingError) -> NATMapping {
            let external = try router.externalAddress(exchange)
            let own = try exchange.ownAddress()
            // The router treats a mapping to the former address as another machine's, so it is
            // removed first.
            if let former = mapped.withLock({ $0 }), former.router == router, former.address != own
            {
                router.takeBack(wish, to: port, at: former.address) { Self.undoing(at: router) }
            }
            let granted = try router.map(port: port, wish: wish, seconds: seconds, exchange) {
                Self.undoing(at: router)
            }
            mapped.withLock { $0 = (router, own) }
            return NATMapping(
                protocol: .upnp, externalAddress: external, externalPort: granted.port,
                internalPort: port, lifetime: .seconds(Int(granted.seconds)))
        }

        /// The gateway's IPv4 address, in network order.
        private func gateway() throws(NATPortMappingError) -> [UInt8] {
            guard let text = configuration.gateway else {
                guard let address = NATRequest.defaultGateway() else { throw .noGateway }
                return address
            }
            guard let address = RawSocketAddress.bytes(text), address.count == 4 else {
                throw .noGateway
            }
            return address
        }

        private func takeBack(_ mapping: NATMapping) {
            guard let router = router.withLock({ $0 }) else { return }
            let former = mapped.withLock { mapped in
                defer { mapped = nil }
                return mapped.flatMap { $0.router == router ? $0.address : nil }
            }
            router.takeBack(mapping.externalPort, to: mapping.internalPort) {
                Self.undoing(at: router)
            }
            guard let former else { return }
            router.takeBack(mapping.externalPort, to: mapping.internalPort, at: former) {
                Self.undoing(at: router)
            }
        }

        /// An exchange for removals, of at most five seconds.
        private static func undoing(at router: UPnPRouter) -> RouterExchange {
            let end = DispatchTime.now() + .seconds(5)
            return RouterExchange(address: router.address) { DispatchTime.now() >= end }
        }
    }
#endif
