internal import HTTPServerAddresses
import HTTPServerCore
internal import ToolkitSystem

/// The host in the address that is shown, which users can type on other machines.
enum ShownHost {
    /// - Parameters:
    ///   - host: the host that the user named.
    ///   - server: the server, which listens.
    ///   - isInterface: whether `host` is the name of a network interface.
    static func text(_ host: String, of server: HTTPServer, isInterface: Bool = false) -> String {
        // Clients cannot connect to a wildcard address, so the best real address is shown.
        if isInterface || isAll(host) { return server.primaryURL?.authorityHost ?? "localhost" }
        return host.contains(":") ? "[\(host)]" : host
    }

    /// Whether a host stands for all addresses of the machine.
    static func isAll(_ host: String) -> Bool {
        if host.isEmpty || host == "*" { return true }
        return RawSocketAddress.bytes(host)?.allSatisfy { $0 == 0 } ?? false
    }

    /// Whether a host is a loopback address.
    static func isLoopback(_ host: String) -> Bool {
        RawSocketAddress.bytes(host).map { AddressScope($0) == .loopback } ?? false
    }

    /// Whether a host may be an address that cannot be reached from everywhere; a name may.
    static func isPrivate(_ host: String) -> Bool {
        guard let bytes = RawSocketAddress.bytes(host), !isAll(host) else { return true }
        return AddressScope(bytes) != .global
    }
}
