#if os(Linux)
    internal import ToolkitSystem

    /// A router that maps ports by UPnP IGD, with the actions of its WANIPConnection or
    /// WANPPPConnection. Each action blocks until it is answered or its result is no longer needed.
    struct UPnPRouter: Hashable, Sendable {
        /// The IPv4 address of the router, in network order.
        let address: [UInt8]
        let service: UPnPXML.Service

        /// The number of ports that are tried after a taken port.
        static let alternatives = 16

        // MARK: Finding

        /// Searches for the service at a router's address.
        /// - Parameter description: the URL of the router's description; `nil` to search for it.
        static func find(
            by exchange: RouterExchange, description: String?
        ) throws(NATPortMappingError) -> UPnPRouter {
            let router = RawSocketAddress.text(exchange.address)
            let urls =
                if let description {
                    [description]
                } else {
                    try UPnPXML.search(own: exchange.ownAddress(), router: router)
                }
            var reason = NATPortMappingError.noAnswer
            for text in urls {
                guard let url = RouterURL(text, at: router) else { continue }
                do throws(NATPortMappingError) {
                    let xml = try exchange.get(url)
                    let services = UPnPXML.services(in: xml, url: text, router: router)
                    guard let first = services.first else { throw .notSupported }
                    let all = services.map { UPnPRouter(address: exchange.address, service: $0) }
                    // Of several services, the one that is connected.
                    guard all.count > 1 else { return all[0] }
                    return all.first { $0.isConnected(exchange) }
                        ?? UPnPRouter(address: exchange.address, service: first)
                } catch {
                    if reason == .noAnswer { reason = error }
                }
            }
            throw reason
        }

        private func isConnected(_ exchange: RouterExchange) -> Bool {
            do throws(NATPortMappingError) {
                let answer = try call("GetStatusInfo", [], exchange)
                let status = UPnPXML.value("NewConnectionStatus", in: answer)
                return status == "Connected" || status == "Up"
            } catch {
                return false
            }
        }

        // MARK: Actions

        /// The router's external address.
        func externalAddress(
            _ exchange: RouterExchange
        ) throws(NATPortMappingError) -> String {
            let answer = try call("GetExternalIPAddress", [], exchange)
            guard let text = UPnPXML.value("NewExternalIPAddress", in: answer),
                let bytes = RawSocketAddress.bytes(text), bytes.count == 4, bytes != [0, 0, 0, 0]
            else { throw .networkFailure }
            return RawSocketAddress.text(bytes)
        }

        /// Maps a port, or a later one if that port is taken.
        /// - Parameter undoing: creates the exchange that removes a mapping of unknown state.
        /// - Returns: the port, and the lifetime in seconds; 0 if the mapping lasts until its
        ///   removal.
        func map(
            port: UInt16, wish: UInt16, seconds: UInt32, _ exchange: RouterExchange,
            undoing: () -> RouterExchange
        ) throws(NATPortMappingError) -> (port: UInt16, seconds: UInt32) {
            let own = try exchange.ownAddress()
            var request = Request(external: wish, port: port, own: own, seconds: seconds)
            while true {
                switch try added(request, exchange, undoing) {
                case nil:
                    switch try checked(request, exchange, undoing) {
                    case .own(let lease): return (request.external, min(lease, seconds))
                    // Some routers lack the action to read a mapping: trust the answer to the
                    // request.
                    case .unknown: return (request.external, request.seconds)
                    case .others: try request.next()
                    case .none: throw .upnp(code: 714)
                    }
                case 725 where request.seconds != 0: request.seconds = 0
                case 724 where request.external != port:
                    request.external = port
                    request.isFixed = true
                case 718, 729:
                    // Some routers refuse to renew a mapping, but make it again after its removal.
                    if case .own = try entry(request, exchange), !request.wasRemoved {
                        request.wasRemoved = true
                        try remove(request.external, exchange)
                    } else {
                        try request.next()
                    }
                case .some(let code): throw Self.error(code)
                }
            }
        }

        /// Removes the mapping of a port to this machine. A mapping to another machine stays: this
        /// may not be the router that made the mapping.
        /// - Parameters:
        ///   - address: a former address of this machine, to which the mapping leads; `nil` for the
        ///     present address. With a former address, a mapping is removed only if it is known to
        ///     lead there.
        ///   - undoing: creates the exchange for the removal.
        func takeBack(
            _ external: UInt16, to port: UInt16, at address: String? = nil,
            undoing: () -> RouterExchange
        ) {
            do throws(NATPortMappingError) {
                let exchange = undoing()
                let current = try exchange.ownAddress()
                guard address != current else { return }
                let own = address ?? current
                let request = Request(external: external, port: port, own: own, seconds: 0)
                switch try entry(request, exchange) {
                case .own: discard(external, exchange)
                case .unknown: if address == nil { discard(external, exchange) }
                case .others, .none: break
                }
            } catch {
                if error == .noAnswer, address == nil { discard(external, undoing()) }
            }
        }

        /// Removes a mapping.
        private func remove(
            _ external: UInt16, _ exchange: RouterExchange
        ) throws(NATPortMappingError) {
            _ = try call(
                "DeletePortMapping",
                [
                    ("NewRemoteHost", ""), ("NewExternalPort", String(external)),
                    ("NewProtocol", "TCP"),
                ], exchange)
        }

        /// Removes a mapping if the router allows it; otherwise the mapping ends with its lifetime.
        private func discard(_ external: UInt16, _ exchange: RouterExchange) {
            do throws(NATPortMappingError) {
                try remove(external, exchange)
            } catch {
                // Nothing is left to try.
            }
        }

        // MARK: Parts of these

        private struct Request {
            var external: UInt16
            let port: UInt16
            let own: String
            var seconds: UInt32
            /// Whether the router maps only equal external and internal ports.
            var isFixed = false
            var wasRemoved = false
            private var tried = 0

            init(external: UInt16, port: UInt16, own: String, seconds: UInt32) {
                self.external = external
                self.port = port
                self.own = own
                self.seconds = seconds
            }

            /// Advances to the next port.
            mutating func next() throws(NATPortMappingError) {
                guard !isFixed, tried < UPnPRouter.alternatives else { throw .portTaken }
                tried += 1
                external = external == .max ? 1024 : external + 1
            }
        }

        /// Requests one mapping.
        /// - Returns: the router's error code; `nil` for none.
        private func add(
            _ request: Request, _ exchange: RouterExchange
        ) throws(NATPortMappingError) -> Int? {
            let answer = try answer(
                "AddPortMapping",
                [
                    ("NewRemoteHost", ""), ("NewExternalPort", String(request.external)),
                    ("NewProtocol", "TCP"), ("NewInternalPort", String(request.port)),
                    ("NewInternalClient", request.own), ("NewEnabled", "1"),
                    ("NewPortMappingDescription", "swift-http-toolkit"),
                    ("NewLeaseDuration", String(request.seconds)),
                ], exchange)
            return try Self.code(of: answer)
        }

        /// Requests one mapping. The router may make it even if its answer does not arrive: then
        /// the mapping is removed, unless it is another machine's.
        private func added(
            _ request: Request, _ exchange: RouterExchange, _ undoing: () -> RouterExchange
        ) throws(NATPortMappingError) -> Int? {
            do throws(NATPortMappingError) {
                return try add(request, exchange)
            } catch {
                discardOwn(request, undoing())
                throw error
            }
        }

        /// Removes the mapping, if it leads to this machine.
        private func discardOwn(_ request: Request, _ exchange: RouterExchange) {
            do throws(NATPortMappingError) {
                guard case .own = try entry(request, exchange) else { return }
                try remove(request.external, exchange)
            } catch {
                // The mapping ends with its lifetime.
            }
        }

        /// Reads the mapping that was just made; if that fails, removes it.
        private func checked(
            _ request: Request, _ exchange: RouterExchange, _ undoing: () -> RouterExchange
        ) throws(NATPortMappingError) -> Entry {
            do throws(NATPortMappingError) {
                return try entry(request, exchange)
            } catch {
                discard(request.external, undoing())
                throw error
            }
        }

        private enum Entry {
            case own(seconds: UInt32), others, none, unknown
        }

        /// Reads the mapping from the router, because a router may report a mapping that it has not
        /// made.
        private func entry(
            _ request: Request, _ exchange: RouterExchange
        ) throws(NATPortMappingError) -> Entry {
            let answer = try answer(
                "GetSpecificPortMappingEntry",
                [
                    ("NewRemoteHost", ""), ("NewExternalPort", String(request.external)),
                    ("NewProtocol", "TCP"),
                ], exchange)
            if let code = try Self.code(of: answer) { return code == 714 ? .none : .unknown }
            guard let client = UPnPXML.value("NewInternalClient", in: answer.content),
                let port = UPnPXML.number("NewInternalPort", in: answer.content)
            else { throw .notSupported }
            guard client == request.own, port == Int(request.port) else { return .others }
            let lease = UPnPXML.number("NewLeaseDuration", in: answer.content)
            return .own(seconds: lease.map { UInt32($0) } ?? request.seconds)
        }
    }
#endif
