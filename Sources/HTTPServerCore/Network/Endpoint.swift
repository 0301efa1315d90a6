package import ToolkitSystem

extension ServerConfiguration {
    /// Where to listen.
    public struct Endpoint: Sendable, Hashable {
        private enum Place: Sendable, Hashable {
            case tcp(host: String, port: UInt16, family: AddressFamily?)
            case interface(String, port: UInt16, family: AddressFamily?)
            case unix(path: String, permissions: UInt16?)
            case inherited(descriptor: CInt)
        }

        private let place: Place
        /// The layers between the sockets and their connections, from the socket up.
        package var layers: [any TransportLayer] = []

        private init(_ place: Place) { self.place = place }

        /// A host name or address, and a port; 0 for any free port. `localhost` and `*` stand for
        /// IPv4 and IPv6, unless `family` names one of them.
        public static func tcp(host: String, port: UInt16, family: AddressFamily? = nil) -> Self {
            Self(.tcp(host: host, port: port, family: family))
        }

        /// All addresses that a network interface such as `eth0` has when the server starts, and a
        /// port; 0 for any free port. The addresses are of both families unless `family` names one.
        /// Link-local IPv6 addresses are bound with their scope.
        public static func interface(
            _ name: String, port: UInt16, family: AddressFamily? = nil
        ) -> Self {
            Self(.interface(name, port: port, family: family))
        }

        /// The path of a Unix domain socket. A socket file without a listener is replaced.
        /// - Parameters:
        ///   - path: the path.
        ///   - permissions: the mode of the file, such as `0o660`, which decides who may connect;
        ///     `nil` for the mode that the umask of the process leaves.
        public static func unix(path: String, permissions: UInt16? = nil) -> Self {
            Self(.unix(path: path, permissions: permissions))
        }

        /// A listening socket that a service manager passed to the process; see
        /// `InheritedSocket`.
        public static func inherited(descriptor: CInt) -> Self {
            Self(.inherited(descriptor: descriptor))
        }

        /// Whether both have the same place and the same layers.
        public static func == (one: Self, other: Self) -> Bool {
            one.place == other.place && one.layers.elementsEqual(other.layers) { $0 === $1 }
        }

        /// Hashes the place, without the layers.
        public func hash(into hasher: inout Hasher) { hasher.combine(place) }

        /// Opens the sockets of the endpoint, one for each address.
        package func listen(backlog: Int) throws(ListenError) -> [Listener] {
            let listeners = try bind(backlog)
            for listener in listeners { listener.layers.withLock { $0 = layers } }
            return listeners
        }

        private func bind(_ backlog: Int) throws(ListenError) -> [Listener] {
            switch place {
            case .tcp(let host, let port, let family):
                try Listener.bind(host: host, port: port, family: family, backlog: backlog)
            case .interface(let name, let port, let family):
                try Listener.bind(interface: name, port: port, family: family, backlog: backlog)
            case .unix(let path, let permissions):
                [try Listener.bind(unixPath: path, permissions: permissions, backlog: backlog)]
            case .inherited(let descriptor): [try Listener.inherit(descriptor)]
            }
        }
    }
}
