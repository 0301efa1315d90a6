import ArgumentParser
internal import HTTPServerAddresses
import HTTPServerCore
internal import HTTPServerKit
internal import ToolkitSystem

/// Where `serve` listens.
struct ListenFlags: ParsableArguments {
    @Option(help: "The address, name or network interface to listen at; * for all.")
    var host = "127.0.0.1"

    @Option(name: .shortAndLong, help: "The port; 0 for any free one.")
    var port: UInt16 = 8080

    @Option(
        help: ArgumentHelp(
            "Listen at a Unix socket instead of --host and --port.",
            discussion: """
                A stale socket is replaced; a socket with a listener, and any other file, is not. \
                Sockets that systemd passes (LISTEN_FDS) replace all of these.
                """, valueName: "path"))
    var unixSocket: String?

    @Option(
        help: ArgumentHelp(
            "The permissions of the Unix socket, as for chmod; by default 660, owner and group.",
            valueName: "mode"))
    var unixSocketMode: SocketMode?

    func validate() throws {
        if unixSocketMode != nil, unixSocket == nil {
            throw ValidationError("--unix-socket-mode needs --unix-socket")
        }
        if unixSocket?.isEmpty == true {
            throw ValidationError("--unix-socket takes a path")
        }
    }

    var isInterface: Bool {
        (try? NetworkInterface.all())?.contains { $0.name == host } ?? false
    }

    /// The place to listen at. Call this once, before anything else: it removes the sockets of a
    /// service manager from the environment.
    func place() -> ListenPlace {
        do throws(InheritedSocketError) {
            let sockets = try InheritedSocket.fromSystemd()
            if !sockets.isEmpty { return ListenPlace(sockets) }
        } catch {
            fail(error.description)
        }
        if let unixSocket {
            let permissions = unixSocketMode?.permissions ?? 0o660
            return ListenPlace(
                endpoints: [.unix(path: unixSocket, permissions: permissions)], host: nil,
                isPrivate: false)
        }
        return ListenPlace(
            endpoints: [isInterface ? .interface(host, port: port) : .tcp(host: host, port: port)],
            host: host, isPrivate: ShownHost.isPrivate(host))
    }
}

/// The endpoints at which a server will listen.
struct ListenPlace {
    let endpoints: [ServerConfiguration.Endpoint]
    /// The host as the user named it; `nil` if the sockets determine it.
    let host: String?
    /// Whether an address may be private, so that a page elsewhere could reach it only through a
    /// browser here. No browser connects to a Unix socket.
    let isPrivate: Bool

    init(endpoints: [ServerConfiguration.Endpoint], host: String?, isPrivate: Bool) {
        (self.endpoints, self.host, self.isPrivate) = (endpoints, host, isPrivate)
    }

    init(_ sockets: [InheritedSocket]) {
        let addresses = sockets.compactMap {
            ListeningSocket.address(of: $0.descriptor).address
        }
        self.init(
            endpoints: sockets.map(\.endpoint), host: nil,
            isPrivate: addresses.contains { $0.port != nil && ShownHost.isPrivate($0.host) })
    }

    /// The beginning of a listening server's URLs; `unix:` and the path for a Unix socket; `nil`
    /// without an address.
    func base(of server: HTTPServer, isSecure: Bool, isInterface: Bool) -> String? {
        let addresses = server.addresses
        guard let address = addresses.first(where: { $0.port != nil }) ?? addresses.first else {
            return nil
        }
        guard let port = address.port else { return "\(address)" }
        let shown = ShownHost.text(host ?? address.host, of: server, isInterface: isInterface)
        return "\(isSecure ? "https" : "http")://\(shown):\(port)"
    }
}

/// The permissions of a socket, as octal digits.
struct SocketMode: ExpressibleByArgument {
    let permissions: UInt16

    init?(argument: String) {
        guard 3...4 ~= argument.utf8.count, argument.utf8.allSatisfy({ 0x30...0x37 ~= $0 }),
            let number = UInt16(argument, radix: 8), number <= 0o777
        else { return nil }
        permissions = number
    }
}
