internal import Synchronization

/// Why a server could not begin to listen.
public enum ListenError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The address and port are taken by another socket.
    case addressInUse(String)
    /// The process may not bind the address, for example a port below 1024.
    case permissionDenied(String)
    /// No interface has this address, or the name cannot be resolved.
    case addressNotAvailable(String)
    /// The machine has no network interface of this name.
    case noSuchInterface(String)
    /// The path of a Unix socket is longer than the system allows, about 100 bytes.
    case pathTooLong(String)
    /// The server was shut down, or never started, so there is nothing to resume.
    case serverStopped
    /// Another system call failed.
    case system(String, SystemError)

    /// One line with the place and the error.
    public var description: String {
        switch self {
        case .addressInUse(let place): "\(place): address already in use"
        case .permissionDenied(let place): "\(place): permission denied"
        case .addressNotAvailable(let place): "\(place): no such address on this machine"
        case .noSuchInterface(let name): "\(name): no such network interface"
        case .pathTooLong(let path): "\(path): path too long for a Unix socket"
        case .serverStopped: "the server is stopped"
        case .system(let place, let error): "\(place): \(error)"
        }
    }

    init(_ place: String, _ error: SystemError) {
        self =
            switch error.listenFault {
            case .addressInUse: .addressInUse(place)
            case .permissionDenied: .permissionDenied(place)
            case .addressNotAvailable: .addressNotAvailable(place)
            case .pathTooLong: .pathTooLong(place)
            case nil: .system(place, error)
            }
    }
}

/// A socket that accepts connections. All loops of a server poll the same listener.
package final class Listener: Sendable {
    package let descriptor: CInt
    package let address: SocketAddress
    /// The address to bind again.
    private let raw: RawSocketAddress
    /// Whether an IPv6 socket accepts IPv4 connections, too, as inherited sockets may.
    package var isDualStack: Bool { Syscalls.isDualStack(descriptor) }
    /// The file to remove when a Unix socket is closed.
    private let file: UnixSocketFile?
    /// Whether another program opened the socket; this process could not bind it again.
    package let isInherited: Bool
    private let closed = Atomic<Bool>(false)
    /// The layers between accepted sockets and their connections, from the socket up.
    package let layers = Locked<[any TransportLayer]>([])

    /// Whether accepted connections are encrypted.
    package var isSecure: Bool { layers.withLock { $0.contains { $0.isSecure } } }

    private init(_ descriptor: CInt, file: UnixSocketFile? = nil, isInherited: Bool = false) {
        self.descriptor = descriptor
        self.file = file
        self.isInherited = isInherited
        raw = ListeningSocket.address(of: descriptor)
        address = raw.address ?? .unix(file?.path ?? "")
    }

    deinit {
        // A failed start leaves an inherited socket open for the next start.
        if isInherited, !isClosed { return }
        close()
        Syscalls.close(descriptor)
    }

    /// Whether the listener was closed.
    package var isClosed: Bool { closed.load(ordering: .acquiring) }

    /// Stops listening immediately; connections in the backlog are refused. Any thread may call it.
    ///
    /// The descriptor's number stays in use until the last owner releases the listener, so that a
    /// loop in the middle of `accept` cannot reach another socket.
    package func close() {
        guard !closed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        file?.remove()
        Syscalls.replaceByNull(descriptor)
    }

    /// Binds the address of this closed listener again. An inherited listener, which cannot be
    /// bound again, is returned itself if it is still open.
    package func reopened(backlog: Int) throws(ListenError) -> Listener {
        let again = try bindAgain(backlog)
        let same = layers.withLock { $0 }
        if again !== self { again.layers.withLock { $0 = same } }
        return again
    }

    private func bindAgain(_ backlog: Int) throws(ListenError) -> Listener {
        if isInherited {
            if isClosed {
                throw .system("the inherited socket", .closed("accept"))
            }
            return self
        }
        if let file {
            return try Self.bind(
                unixPath: file.path, permissions: file.permissions, backlog: backlog)
        }
        var raw = raw
        return try Self.open(&raw, place: address.description, backlog: backlog)
    }

    /// Whether the socket still listens, according to the system.
    package var isAlive: Bool { !isClosed && ListeningSocket.listens(descriptor) }

    /// Binds to every address that `host` stands for, all at the same port.
    ///
    /// One family is enough: a machine without IPv6 serves IPv4.
    package static func bind(
        host: String, port: UInt16, family: AddressFamily? = nil, backlog: Int
    ) throws(ListenError) -> [Listener] {
        let addresses = try RawSocketAddress.resolve(host: host, port: port, family: family)
        return try bind(addresses, place: "\(host) port \(port)", backlog: backlog)
    }

    /// Binds to every address that an interface has now, all at the same port.
    package static func bind(
        interface name: String, port: UInt16, family: AddressFamily? = nil, backlog: Int
    ) throws(ListenError) -> [Listener] {
        let addresses = try RawSocketAddress.addresses(
            ofInterface: name, port: port, family: family)
        return try bind(addresses, place: "interface \(name) port \(port)", backlog: backlog)
    }

    /// With port 0, the first address gets a free port, and the others use the same port. If it is
    /// taken at another address, all addresses try another port.
    package static func bind(
        _ addresses: [RawSocketAddress], place: String, backlog: Int
    ) throws(ListenError) -> [Listener] {
        let isAnyPort = addresses.first?.address?.port == 0
        for _ in 0..<(isAnyPort ? 16 : 0) {
            do throws(ListenError) {
                return try bindAll(addresses, place: place, backlog: backlog)
            } catch ListenError.addressInUse {
                continue
            }
        }
        return try bindAll(addresses, place: place, backlog: backlog)
    }

    private static func bindAll(
        _ wanted: [RawSocketAddress], place: String, backlog: Int
    ) throws(ListenError) -> [Listener] {
        var addresses = wanted
        var listeners: [Listener] = []
        var failure: ListenError?
        for index in addresses.indices {
            if let bound = listeners.first?.address.port { addresses[index].setPort(bound) }
            do throws(ListenError) {
                listeners.append(try open(&addresses[index], place: place, backlog: backlog))
            } catch {
                // A taken port has precedence over other errors; see below.
                if failure == nil || error == .addressInUse(place) { failure = error }
            }
        }
        // A port that is taken in one family counts as taken: half a server would surprise.
        if let failure, listeners.isEmpty || failure == .addressInUse(place) { throw failure }
        return listeners
    }

    private static func open(
        _ address: inout RawSocketAddress, place: String, backlog: Int
    ) throws(ListenError) -> Listener {
        do throws(SystemError) {
            return Listener(try ListeningSocket.open(&address, backlog: backlog))
        } catch {
            throw ListenError(place, error)
        }
    }

    /// Listens on a Unix socket. A socket file without a listener is replaced.
    /// - Parameter permissions: the mode of the file, which decides who may connect; `nil` for the
    ///   mode that the umask leaves.
    package static func bind(
        unixPath path: String, permissions: UInt16? = nil, backlog: Int
    ) throws(ListenError) -> Listener {
        guard !path.isEmpty else { throw .system(path, .missing("bind")) }
        do throws(SystemError) {
            let (descriptor, file) = try UnixSocketFile.listen(
                at: path, permissions: permissions, backlog: backlog)
            return Listener(descriptor, file: file)
        } catch {
            throw ListenError(path, error)
        }
    }

    /// Takes over a listening socket that a service manager passed to the process.
    package static func inherit(_ descriptor: CInt) throws(ListenError) -> Listener {
        do throws(SystemError) {
            try ListeningSocket.inherit(descriptor)
            return Listener(descriptor, isInherited: true)
        } catch {
            throw ListenError("descriptor \(descriptor)", error)
        }
    }

    /// Whether a connection waits to be accepted.
    package var hasWaitingConnection: Bool { ListeningSocket.hasWaiting(descriptor) }

    /// Accepts one waiting connection.
    /// - Returns: its descriptor, `.wouldBlock` if none waits, or the error.
    package func accept(_ peer: inout RawSocketAddress) -> IOResult {
        ListeningSocket.accept(descriptor, &peer)
    }
}
