internal import ToolkitSystem

extension ServerConfiguration {
    /// Where to listen.
    public enum Endpoint: Sendable, Hashable {
        /// A host name or address and a port, 0 for any free one. `localhost` and `*` stand for
        /// both families, unless one is asked for.
        case tcp(host: String, port: UInt16, family: AddressFamily? = nil)
        /// All addresses that a network interface such as `eth0` has when the server starts, of
        /// both families unless one is asked for, and a port, 0 for any free one. Link-local IPv6
        /// addresses are bound with their scope.
        case interface(String, port: UInt16, family: AddressFamily? = nil)
        /// The path of a Unix domain socket.
        case unix(path: String)
        /// A descriptor that listens already, as service managers hand them on; see
        /// `InheritedSocket`.
        case inherited(descriptor: CInt)
    }
}

extension ServerConfiguration.Endpoint {
    /// Opens the sockets of the endpoint, one for each address.
    package func listen(backlog: Int) throws(ListenError) -> [Listener] {
        switch self {
        case .tcp(let host, let port, let family):
            try Listener.bind(host: host, port: port, family: family, backlog: backlog)
        case .interface(let name, let port, let family):
            try Listener.bind(interface: name, port: port, family: family, backlog: backlog)
        case .unix(let path): [try Listener.bind(unixPath: path, backlog: backlog)]
        case .inherited(let descriptor): [try Listener.inherit(descriptor)]
        }
    }
}
