#if canImport(Darwin)
    internal import Dispatch
    internal import HTTPServerCore
    internal import ToolkitSystem
    internal import dnssd

    /// The work of a mapper on its queue: it sends requests to the system's service, which finds
    /// the gateway and a protocol, renews the mapping, and reports changes.
    ///
    /// Everything except `known` and `events` is confined to the queue.
    final class NATPortMappingSession: @unchecked Sendable {
        let events = Broadcast<NATPortMappingEvent>()
        private let known = Locked<NATMapping?>(nil)
        private let queue = DispatchQueue(label: "http.nat")
        private let configuration: NATPortMappingConfiguration

        /// The wanted state: a port, or no mapping.
        private var port: UInt16?
        private var connection: DNSServiceConnection?
        /// Counts the connections; callbacks of older connections are ignored.
        private var round = 0
        private var lastError: NATPortMappingError?
        /// Counts the calls of `start` and `stop`: a start that waits for a removal is dropped if
        /// another call follows.
        private var wish = 0

        init(_ configuration: NATPortMappingConfiguration) {
            self.configuration = configuration
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
                    self.ask()
                }
                if self.port == nil { begin() } else { self.remove { begin() } }
            }
        }

        func stop(_ done: @escaping @Sendable () -> Void) {
            queue.async {
                self.wish += 1
                self.remove(done)
            }
        }

        // MARK: Asking

        private func ask() {
            guard let port else { return }
            round += 1
            let round = self.round
            let seconds = min(max(configuration.lifetime.components.seconds, 1), 86_400)
            let context = unsafe Unmanaged.passUnretained(self).toOpaque()
            var reference: DNSServiceRef?
            // All interfaces; TCP is 0x20.
            let code = unsafe DNSServiceNATPortMappingCreate(
                &reference, 0, 0, 0x20, port.bigEndian,
                (configuration.externalPort ?? port).bigEndian, UInt32(seconds),
                { _, _, _, code, address, _, _, external, seconds, context in
                    guard let context = unsafe context else { return }
                    let session = unsafe Unmanaged<NATPortMappingSession>.fromOpaque(context)
                        .takeUnretainedValue()
                    session.replied(code, address, UInt16(bigEndian: external), seconds)
                }, context)
            guard code == 0, let reference = unsafe reference else {
                return restart(after: NATPortMappingError(service: code))
            }
            // The closure retains this object while the service may call back.
            let connection = unsafe DNSServiceConnection(reference, queue: queue) { code in
                guard round == self.round else { return }
                self.restart(after: NATPortMappingError(service: code))
            }
            self.connection = connection
            connection.activate()
        }

        /// - Parameter address: the external address, in network order.
        private func replied(
            _ code: Int32, _ address: UInt32, _ external: UInt16, _ seconds: UInt32
        ) {
            guard let port else { return }
            // With another gateway behind it, the gateway has mapped the port nevertheless.
            let isMapped = code == 0 || code == NATPortMappingError.doubleNAT
            guard isMapped else { return failed(NATPortMappingError(service: code)) }
            guard address != 0 else { return failed(.networkFailure) }
            guard external != 0 else { return failed(.notSupported) }
            lastError = nil
            let mapping = NATMapping(
                protocol: .system,
                externalAddress: RawSocketAddress.text(
                    [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: address.littleEndian >> $0) }),
                externalPort: external, internalPort: port, isSecure: configuration.isSecure,
                lifetime: .seconds(Int(seconds)))
            let before = known.withLock { known in
                defer { known = mapping }
                return known
            }
            if before?.url != mapping.url { events.send(.mapped(mapping)) }
        }

        /// The service itself continues to try.
        private func failed(_ error: NATPortMappingError) {
            known.withLock { $0 = nil }
            // A lasting failure is reported once.
            if error != lastError { events.send(.failed(error)) }
            lastError = error
        }

        /// Reports an error and tries again later: the service has ended, or has refused the
        /// request.
        private func restart(after error: NATPortMappingError) {
            failed(error)
            close {}
            let round = self.round
            let interval = configuration.retryInterval.nanoseconds / 1_000_000
            let delay = max(10, Int(clamping: interval))
            queue.asyncAfter(deadline: .now() + .milliseconds(delay)) { [weak self] in
                guard let self, round == self.round else { return }
                self.ask()
            }
        }

        // MARK: Ending

        /// Ends the connection, which removes the mapping.
        private func remove(_ done: @escaping @Sendable () -> Void) {
            round += 1
            let wasWanted = port != nil
            port = nil
            known.withLock { $0 = nil }
            close {
                if wasWanted { self.events.send(.removed) }
                done()
            }
        }

        private func close(_ done: @escaping @Sendable () -> Void) {
            guard let connection else { return done() }
            self.connection = nil
            connection.close(done)
        }
    }

    extension NATPortMappingError {
        /// Another gateway is between the one that has mapped the port and the Internet.
        fileprivate static let doubleNAT: Int32 = -65558

        /// - Parameter code: a number of `dns_sd.h`.
        fileprivate init(service code: Int32) {
            switch code {
            case -65557, -65568: self = .noAnswer  // NATTraversal, Timeout
            case -65564: self = .notSupported  // NATPortMappingUnsupported
            case -65565: self = .refused  // NATPortMappingDisabled
            case -65566: self = .noGateway  // NoRouter
            default: self = .system(code: code)
            }
        }
    }
#endif
