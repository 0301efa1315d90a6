import HTTPCodecs
import TestSupport
import ToolkitSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A server that runs a closure for each connection, on a separate thread. The closure may send
/// invalid messages.
final class ScriptedPeer: Sendable {
    struct Failure: Error { let call: String }

    let port: UInt16
    private let descriptor: CInt
    private let accepted = Locked(0)

    /// - Parameters:
    ///   - address: an IPv4 address of this machine, 127.0.0.0/8.
    ///   - port: the port; 0 for any.
    ///   - script: the closure that handles a connection.
    init(
        address: UInt32 = 0x7F00_0001, port: UInt16 = 0,
        _ script: @escaping @Sendable (PeerConnection) -> Void
    ) throws {
        let descriptor = StreamSocket.make()
        var one: CInt = 1
        unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<CInt>.size))
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        name.sin_addr.s_addr = address.bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &name) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isBound, listen(descriptor, 64) == 0 else {
            close(descriptor)
            throw Failure(call: "bind")
        }
        self.descriptor = descriptor
        self.port = UInt16(bigEndian: name.sin_port)
        let accepted = accepted
        OwnThread.start {
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { break }
                StreamSocket.prepare(connection)
                let index = accepted.withLock { count in
                    count += 1
                    return count - 1
                }
                OwnThread.start { script(PeerConnection(connection, index)) }
            }
            close(descriptor)
        }
    }

    deinit { shutdown(descriptor, CInt(SHUT_RDWR)) }

    /// How many connections there were.
    var connectionCount: Int { accepted.withLock { $0 } }

    /// The URL of a path here.
    func url(_ path: String = "/", host: String = "127.0.0.1") -> String {
        "http://\(host):\(port)\(path)"
    }
}

/// A connection of a scripted peer, closed when the script is done with it.
final class PeerConnection: Sendable {
    private let descriptor: CInt
    /// 0 for the first one.
    let index: Int
    private let rest = Locked([UInt8]())

    init(_ descriptor: CInt, _ index: Int) {
        self.descriptor = descriptor
        self.index = index
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
    }

    deinit { close(descriptor) }

    /// The next bytes; empty at the end of the connection.
    func receive() -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 64 << 10) { room, count in
            count = unsafe max(0, recv(descriptor, room.baseAddress, room.count, 0))
        }
    }

    /// The head of the next request as text; nil at the end of the connection.
    func head() -> String? {
        var bytes = rest.withLock { $0 }
        while true {
            if let end = Self.headEnd(bytes) {
                let (head, left) = (Array(bytes[..<end]), Array(bytes[end...]))
                rest.withLock { $0 = left }
                return String(decoding: head, as: UTF8.self)
            }
            let more = receive()
            guard !more.isEmpty else { return nil }
            bytes += more
        }
    }

    private static func headEnd(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return (4...bytes.count).first { Array(bytes[($0 - 4)..<$0]) == [13, 10, 13, 10] }
    }

    /// A number of bytes of content, or fewer at the end of the connection.
    func content(_ count: Int) -> [UInt8] {
        var bytes = rest.withLock { rest in
            defer { rest = [] }
            return rest
        }
        while bytes.count < count {
            let more = receive()
            guard !more.isEmpty else { break }
            bytes += more
        }
        if bytes.count > count {
            let left = Array(bytes[count...])
            rest.withLock { $0 = left }
        }
        return Array(bytes.prefix(count))
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// False if the other side has closed the connection.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var start = 0
        while start < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe systemSend(
                    descriptor, bytes.baseAddress.map { unsafe $0 + start }, bytes.count - start,
                    StreamSocket.sendFlags)
            }
            guard count > 0 else { return false }
            start += count
        }
        return true
    }

    /// The number of unread bytes after a wait; all those in the socket count as one.
    func waitingBytes(milliseconds: CInt) -> Int {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let count = rest.withLock { $0.count }
        return unsafe poll(&request, 1, milliseconds) > 0 ? count + 1 : count
    }

    /// Closes both directions at once.
    func finish() { shutdown(descriptor, CInt(SHUT_RDWR)) }

    /// Closes only the direction to the other side.
    func finishSending() { shutdown(descriptor, CInt(SHUT_WR)) }

    /// Waits until the other side closes.
    func waitForEnd() {
        while !receive().isEmpty {}
    }

    /// Has the connection reset when it is closed.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }
}

private let systemSend = unsafe send

extension ScriptedPeer {
    /// A proxy that accepts every tunnel, and is also the server, which sends 407 as a proxy does.
    static func askingThroughTunnel(_ heads: Locked<[String]>) throws -> ScriptedPeer {
        try ScriptedPeer { connection in
            while let head = connection.head() {
                heads.withLock { $0.append(head) }
                connection.send(
                    head.hasPrefix("CONNECT ")
                        ? "HTTP/1.1 200 OK\r\n\r\n"
                        : "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"x\"\r\n"
                            + "Content-Length: 2\r\n\r\nno")
            }
        }
    }
}
