public import HTTPServerCore
internal import ToolkitSystem

extension HTTPServer {
    /// The URLs at which the server can be reached now, the most useful first; empty unless it
    /// listens on a network.
    ///
    /// A server that is bound to one address has one URL. If it is bound to all addresses, it has a
    /// URL for each address of each interface that is up: routable addresses come before link-local
    /// and loopback ones, IPv4 before IPv6, wired and wireless networks before bridges, tunnels
    /// and mobile networks. Each call reads the interfaces again, by system calls that do not wait
    /// for the network.
    public var reachableURLs: [ServerURL] {
        urls(among: (try? NetworkInterface.all()) ?? [])
    }

    /// The first of `reachableURLs`, for places that can show only one.
    public var primaryURL: ServerURL? { reachableURLs.first }

    /// `reachableURLs` now, and again whenever they change with the networks of the machine.
    ///
    /// A slow reader gets only the newest list. A start or stop of the server alone adds no list.
    /// The stream ends when the task that reads it is cancelled, when the networks change after the
    /// server was released, or after the first list if the system does not report changes to this
    /// process; see `NetworkInterface.changes`.
    public func reachableURLUpdates() -> AsyncStream<[ServerURL]> {
        let changes = NetworkInterface.changes()
        return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task { [weak self] in
                var last: [ServerURL]?
                for await interfaces in changes {
                    guard let urls = self?.urls(among: interfaces) else { break }
                    if urls != last { continuation.yield(urls) }
                    last = urls
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func urls(among interfaces: [NetworkInterface]) -> [ServerURL] {
        let bound = listeners.map {
            BoundAddress($0.address, isDualStack: $0.isDualStack, isSecure: $0.isSecure)
        }
        guard !bound.isEmpty else { return [] }
        let routed = [AddressFamily.ipv4, .ipv6].compactMap(Syscalls.routedAddress)
        return ServerURL.list(bound, interfaces: interfaces, routed: routed)
    }
}
