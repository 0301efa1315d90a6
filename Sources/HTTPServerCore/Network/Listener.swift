internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif
#if os(Linux)
    internal import CHTTPServerShims
#endif

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
        switch error.code {
        case EADDRINUSE: self = .addressInUse(place)
        case EACCES, EPERM: self = .permissionDenied(place)
        case EADDRNOTAVAIL, EAFNOSUPPORT: self = .addressNotAvailable(place)
        case ENAMETOOLONG: self = .pathTooLong(place)
        default: self = .system(place, error)
        }
    }
}

/// A socket that accepts connections. All loops of a server poll the same one.
package final class Listener: Sendable {
    package let descriptor: CInt
    package let address: SocketAddress
    /// Where to bind again.
    private let raw: RawSocketAddress
    /// The address, and whether it stands for both families.
    package var bound: BoundAddress {
        BoundAddress(address, isDualStack: Syscalls.isDualStack(descriptor))
    }
    /// The path to remove when a Unix socket is closed.
    private let path: String?
    /// Whether the socket came from outside: once closed, this process could not bind it again.
    package let isInherited: Bool
    private let closed = Atomic<Bool>(false)

    private init(_ descriptor: CInt, path: String? = nil, isInherited: Bool = false) {
        self.descriptor = descriptor
        self.path = path
        self.isInherited = isInherited
        var raw = RawSocketAddress()
        _ = unsafe raw.withPointer { unsafe getsockname(descriptor, $0, $1) }
        self.raw = raw
        address = raw.address ?? .unix(path ?? "")
    }

    deinit {
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
        if let path { unsafe unlink(path) }
        Syscalls.replaceByNull(descriptor)
    }

    /// Binds once more where this one, which is closed, was bound. An inherited one cannot be
    /// closed and opened again, so it stays what it is.
    package func reopened(backlog: Int) throws(ListenError) -> Listener {
        if isInherited {
            if isClosed {
                throw .system("the inherited socket", SystemError("accept", code: EBADF))
            }
            return self
        }
        if let path { return try Self.bind(unixPath: path, backlog: backlog) }
        var raw = raw
        return try Self.open(&raw, place: address.description, backlog: backlog)
    }

    /// Whether it still listens, as far as the system says.
    package var isAlive: Bool { !isClosed && Self.listens(descriptor) }

    private static func listens(_ descriptor: CInt) -> Bool {
        var listens: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        let status = unsafe getsockopt(
            descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length)
        return status == 0 && listens != 0
    }

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
    private static func bind(
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
                failure = failure ?? error
            }
        }
        // A port that is taken in one family is taken: half a server would surprise.
        if let failure, listeners.isEmpty || failure == .addressInUse(place) { throw failure }
        return listeners
    }

    private static func open(
        _ address: inout RawSocketAddress, place: String, backlog: Int, path: String? = nil
    ) throws(ListenError) -> Listener {
        let family = CInt(address.storage.ss_family)
        #if os(Linux)
            // A program that is started at this moment must not keep the port.
            let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #else
            let type = SOCK_STREAM
        #endif
        let descriptor = socket(family, type, 0)
        guard descriptor >= 0 else { throw ListenError(place, SystemError("socket")) }
        Syscalls.setNonBlocking(descriptor)
        if family != AF_UNIX {
            _ = Syscalls.setOption(descriptor, level: SOL_SOCKET, SO_REUSEADDR, 1)
            // Accepted sockets inherit it, which saves a call for each.
            _ = Syscalls.setOption(descriptor, level: CInt(IPPROTO_TCP), TCP_NODELAY, 1)
        }
        if family == AF_INET6 {
            _ = Syscalls.setOption(descriptor, level: CInt(IPPROTO_IPV6), IPV6_V6ONLY, 1)
        }
        #if canImport(Darwin)
            _ = Syscalls.setOption(descriptor, level: SOL_SOCKET, SO_NOSIGPIPE, 1)
        #endif
        let length = address.length
        let bound = unsafe address.withPointer { pointer, _ in
            #if canImport(Darwin)
                return unsafe Darwin.bind(descriptor, pointer, length)
            #else
                return unsafe Glibc.bind(descriptor, pointer, length)
            #endif
        }
        guard bound == 0, listen(descriptor, CInt(backlog)) == 0 else {
            let error = SystemError(bound == 0 ? "listen" : "bind")
            Syscalls.close(descriptor)
            throw ListenError(place, error)
        }
        return Listener(descriptor, path: path)
    }

    /// Listens on a Unix socket. A socket file without a listener is replaced.
    package static func bind(unixPath path: String, backlog: Int) throws(ListenError) -> Listener {
        var address = RawSocketAddress()
        guard address.setUnixPath(path) else {
            throw path.isEmpty
                ? .system(path, SystemError("bind", code: ENOENT)) : .pathTooLong(path)
        }
        do throws(ListenError) {
            return try open(&address, place: path, backlog: backlog, path: path)
        } catch ListenError.addressInUse {
            guard isSocket(path), isStale(&address) else { throw .addressInUse(path) }
            unsafe unlink(path)
            return try open(&address, place: path, backlog: backlog, path: path)
        }
    }

    /// Only a socket may be replaced: the path may be that of a regular file.
    private static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    private static func isStale(_ address: inout RawSocketAddress) -> Bool {
        #if os(Linux)
            let probe = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        #else
            let probe = socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        guard probe >= 0 else { return false }
        defer { Syscalls.close(probe) }
        let length = address.length
        return unsafe address.withPointer { pointer, _ in
            unsafe connect(probe, pointer, length) != 0 && errno == ECONNREFUSED
        }
    }

    /// Takes over a descriptor that already listens, as service managers hand them on.
    package static func inherit(_ descriptor: CInt) throws(ListenError) -> Listener {
        var listens: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) == 0
        else { throw ListenError("descriptor \(descriptor)", SystemError("getsockopt")) }
        guard listens != 0 else {
            throw .system("descriptor \(descriptor)", SystemError("listen", code: EINVAL))
        }
        Syscalls.setNonBlocking(descriptor)
        return Listener(descriptor, isInherited: true)
    }

    /// Whether a connection waits to be taken.
    var hasNewcomer: Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&request, 1, 0) > 0
    }

    /// Takes one connection that waits.
    /// - Returns: its descriptor, `.wouldBlock` for none, or why it could not be had.
    package func accept(_ peer: inout RawSocketAddress) -> IOResult {
        peer.length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        while true {
            let descriptor = unsafe peer.withPointer { address, length in
                #if os(Linux)
                    return unsafe http_server_accept(self.descriptor, address, length)
                #else
                    return unsafe Darwin.accept(self.descriptor, address, length)
                #endif
            }
            if descriptor >= 0 {
                #if canImport(Darwin)
                    Syscalls.setNonBlocking(descriptor)
                    _ = Syscalls.setOption(descriptor, level: SOL_SOCKET, SO_NOSIGPIPE, 1)
                #endif
                return .done(Int(descriptor))
            }
            let code = errno
            if code == EINTR || Self.concernsOneConnection(code) { continue }
            return code == EAGAIN ? .wouldBlock : .failed(code)
        }
    }

    /// Whether an error of `accept` concerns one waiting connection, and not the others. Linux
    /// reports network errors of a connection there: a pause would let one peer delay the others.
    package static func concernsOneConnection(_ code: CInt) -> Bool {
        #if os(Linux)
            if code == ENONET { return true }
        #endif
        switch code {
        case ECONNABORTED, EPROTO, EPERM, ENOPROTOOPT, ENETDOWN, ENETUNREACH, EHOSTDOWN,
            EHOSTUNREACH:
            return true
        default: return false
        }
    }
}

extension RawSocketAddress {
    fileprivate mutating func setUnixPath(_ path: String) -> Bool {
        let bytes = Array(path.utf8)
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        guard !bytes.isEmpty, bytes.count < MemoryLayout<sockaddr_un>.size - offset else {
            return false
        }
        storage.ss_family = sa_family_t(AF_UNIX)
        length = socklen_t(offset + bytes.count + 1)
        unsafe withUnsafeMutableBytes(of: &storage) { room in
            for index in bytes.indices { unsafe room[offset + index] = bytes[index] }
            unsafe room[offset + bytes.count] = 0
        }
        return true
    }
}
