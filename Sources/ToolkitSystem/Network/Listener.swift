internal import Synchronization

/// Why a server could not begin to listen.
public enum ListenError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The address and port are taken by another socket.
    case addressInUse(String)
    /// The process may not bind there, as for ports below 1024.
    case permissionDenied(String)
    /// No interface has this address, or the name cannot be resolved.
    case addressNotAvailable(String)
    /// The machine has no network interface of this name.
    case noSuchInterface(String)
    /// The path of a Unix socket is longer than the system allows, about 100 bytes.
    case pathTooLong(String)
    /// The server was shut down, or never started, so there is nothing to resume.
    case serverStopped
    /// Another call of the system failed.
    case system(String, SystemError)

    /// One line that says what and where.
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

/// A socket that accepts connections. All loops of a server poll the same one.
package final class Listener: Sendable {
    package let descriptor: CInt
    package let address: SocketAddress
    /// Where to bind again.
    private let raw: RawSocketAddress
    /// Whether an IPv6 socket takes IPv4 connections, too, as inherited ones may.
    package var isDualStack: Bool { Syscalls.isDualStack(descriptor) }
    /// The file to remove when a Unix socket is closed.
    private let file: UnixSocketFile?
    /// Whether the socket came from outside: once closed, this process could not bind it again.
    package let isInherited: Bool
    private let closed = Atomic<Bool>(false)
    /// The layers between its sockets and their connections, from the socket up.
    package let layers = Locked<[any TransportLayer]>([])

    /// Whether its connections are encrypted.
    package var isSecure: Bool { layers.withLock { $0.contains { $0.isSecure } } }

    private init(_ descriptor: CInt, file: UnixSocketFile? = nil, isInherited: Bool = false) {
        self.descriptor = descriptor
        self.file = file
        self.isInherited = isInherited
        raw = ListeningSocket.address(of: descriptor)
        address = raw.address ?? .unix(file?.path ?? "")
    }

    deinit {
        // A start that has failed leaves an inherited socket to the next one.
        if isInherited, !isClosed { return }
        close()
        Syscalls.close(descriptor)
    }

    /// Whether it was closed.
    package var isClosed: Bool { closed.load(ordering: .acquiring) }

    /// Stops listening at once, from any thread; connections in the backlog are refused.
    ///
    /// The number of the descriptor stays taken until the last owner is gone, so that a loop in the
    /// middle of `accept` cannot reach another socket by it.
    package func close() {
        guard !closed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        file?.remove()
        Syscalls.replaceByNull(descriptor)
    }

    /// Binds once more where this one, which is closed, was bound. An inherited one cannot be
    /// closed and opened again, so it stays what it is.
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

    /// Whether it still listens, as far as the system says.
    package var isAlive: Bool { !isClosed && ListeningSocket.listens(descriptor) }

    /// Binds to every address that `host` stands for, at one port for all.
    ///
    /// One family that works is enough: a machine without IPv6 serves IPv4.
    package static func bind(
        host: String, port: UInt16, family: AddressFamily? = nil, backlog: Int
    ) throws(ListenError) -> [Listener] {
        let addresses = try RawSocketAddress.resolve(host: host, port: port, family: family)
        return try bind(addresses, place: "\(host) port \(port)", backlog: backlog)
    }

    /// Binds to every address that an interface has now, at one port for all.
    package static func bind(
        interface name: String, port: UInt16, family: AddressFamily? = nil, backlog: Int
    ) throws(ListenError) -> [Listener] {
        let addresses = try RawSocketAddress.addresses(
            ofInterface: name, port: port, family: family)
        return try bind(addresses, place: "interface \(name) port \(port)", backlog: backlog)
    }

    /// With port 0 the first address chooses and the others follow; when one of them finds that
    /// port taken, all try another.
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
                // A taken port decides below, whatever is wrong with other addresses.
                if failure == nil || error == .addressInUse(place) { failure = error }
            }
        }
        // A port that is taken in one family is taken: half a server would surprise.
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
    /// - Parameter permissions: who may connect, as in chmod(2); `nil` for what the umask leaves.
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

    /// Takes over a descriptor that already listens, as service managers hand them on.
    package static func inherit(_ descriptor: CInt) throws(ListenError) -> Listener {
        do throws(SystemError) {
            try ListeningSocket.inherit(descriptor)
            return Listener(descriptor, isInherited: true)
        } catch {
            throw ListenError("descriptor \(descriptor)", error)
        }
    }

    /// Whether a connection waits to be taken.
    package var hasWaitingConnection: Bool { ListeningSocket.hasWaiting(descriptor) }

    /// Takes one connection that waits.
    /// - Returns: its descriptor, `.wouldBlock` for none, or why it could not be had.
    package func accept(_ peer: inout RawSocketAddress) -> IOResult {
        ListeningSocket.accept(descriptor, &peer)
    }
}
