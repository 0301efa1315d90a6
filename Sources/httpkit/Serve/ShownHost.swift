internal import HTTPServerAddresses
import HTTPServerCore
internal import ToolkitSystem

/// The host of the address that is shown, so that people can type it elsewhere.
enum ShownHost {
    /// - Parameters:
    ///   - host: what was asked for.
    ///   - server: the server, which listens.
    ///   - isInterface: whether that is the name of a network interface.
    static func text(_ host: String, of server: HTTPServer, isInterface: Bool = false) -> String {
        // Nobody can connect to a wildcard address, so the best real address is shown.
        if isInterface || isAll(host) { return server.primaryURL?.authorityHost ?? "localhost" }
        return host.contains(":") ? "[\(host)]" : host
    }

    /// Whether a host stands for all addresses of the machine.
    static func isAll(_ host: String) -> Bool {
        if host.isEmpty || host == "*" { return true }
        return RawSocketAddress.bytes(host)?.allSatisfy { $0 == 0 } ?? false
    }

    /// Whether an address is of this machine alone.
    static func isLoopback(_ host: String) -> Bool {
        RawSocketAddress.bytes(host).map { AddressScope($0) == .loopback } ?? false
    }

    /// Whether it may stand for an address that cannot be reached from everywhere.
    static func isPrivate(_ host: String) -> Bool {
        guard let bytes = RawSocketAddress.bytes(host), !isAll(host) else { return true }
        return AddressScope(bytes) != .global
    }
}
