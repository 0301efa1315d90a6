import HTTPParser
import HTTPServerAddresses
import HTTPServerCore
import HTTPServerKit
import HTTPToolkitTesting
import TestSupport
import Testing
import ToolkitSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

@Suite("Listening")
struct ListenerTests {
    @Test("Errors of accept that concern one connection are distinguished from others")
    func acceptErrors() {
        let passing = [ECONNABORTED, EPROTO, EPERM, ENETDOWN, ENETUNREACH, EHOSTDOWN, EHOSTUNREACH]
        #expect(passing.allSatisfy(ListeningSocket.concernsOneConnection))
        let others = [EMFILE, ENFILE, ENOBUFS, ENOMEM, EINVAL, EBADF, ENOTSOCK, EOPNOTSUPP, EAGAIN]
        #expect(!others.contains(where: ListeningSocket.concernsOneConnection))
    }

    @Test(
        "Port 0 chooses one free port for all addresses",
        arguments: ["127.0.0.1", "localhost", "*"])
    func anyPort(_ host: String) throws {
        let listeners = try Listener.bind(host: host, port: 0, backlog: 8)
        let ports = listeners.compactMap(\.address.port)
        #expect(ports.count == listeners.count)
        #expect(Set(ports).count == 1)
        #expect(ports.allSatisfy { $0 != 0 })
    }

    @Test("TCP keep-alive probes a silent peer after a minute")
    func keepAlive() throws {
        let listener = try #require(try Listener.bind(host: "127.0.0.1", port: 0, backlog: 8).first)
        let port = try #require(listener.address.port)
        var server = try RawSocketAddress.resolve(host: "127.0.0.1", port: port, family: nil)
        let client = StreamSocket.make()
        defer { close(client) }
        let length = server[0].length
        #expect(
            unsafe server[0].withPointer { address, _ in unsafe connect(client, address, length) }
                == 0)
        var peer = RawSocketAddress()
        guard case .done(let accepted) = listener.accept(&peer) else {
            Issue.record("no connection")
            return
        }
        defer { close(CInt(accepted)) }
        #if canImport(Darwin)
            let idle = TCP_KEEPALIVE
        #else
            let idle = TCP_KEEPIDLE
        #endif
        #expect(option(SOL_SOCKET, SO_KEEPALIVE, of: CInt(accepted)) != 0)
        #expect(option(CInt(IPPROTO_TCP), idle, of: CInt(accepted)) == 60)
    }

    private func option(_ level: CInt, _ name: CInt, of descriptor: CInt) -> CInt {
        var value: CInt = -1
        var length = socklen_t(MemoryLayout<CInt>.size)
        _ = unsafe getsockopt(descriptor, level, name, &value, &length)
        return value
    }

    @Test("localhost binds both available families at one port")
    func bothFamilies() throws {
        let hosts = try Listener.bind(host: "localhost", port: 0, backlog: 8).map(\.address.host)
        #expect(hosts == ["127.0.0.1", "::1"] || hosts == ["127.0.0.1"])
    }

    @Test("A port in use is reported in one line")
    func addressInUse() throws {
        let first = try Listener.bind(host: "127.0.0.1", port: 0, backlog: 8)
        let port = try #require(first.first?.address.port)
        let error = #expect(throws: ListenError.self) {
            try Listener.bind(host: "127.0.0.1", port: port, backlog: 8)
        }
        #expect(error == .addressInUse("127.0.0.1 port \(port)"))
        #expect(error?.description == "127.0.0.1 port \(port): address already in use")
        let both = #expect(throws: ListenError.self) {
            try Listener.bind(host: "localhost", port: port, backlog: 8)
        }
        #expect(both == .addressInUse("localhost port \(port)"))
        withExtendedLifetime(first) {}
    }

    @Test("A port in use is reported even if another address fails, too", arguments: [true, false])
    func mixedFailures(_ takenIsFirst: Bool) throws {
        let first = try Listener.bind(host: "127.0.0.1", port: 0, backlog: 8)
        let port = try #require(first.first?.address.port)
        let taken = try RawSocketAddress.resolve(host: "127.0.0.1", port: port, family: nil)
        let foreign = try RawSocketAddress.resolve(host: "192.0.2.1", port: port, family: nil)
        let addresses = takenIsFirst ? taken + foreign : foreign + taken
        #expect(throws: ListenError.addressInUse("both")) {
            try Listener.bind(addresses, place: "both", backlog: 8)
        }
        withExtendedLifetime(first) {}
    }

    @Test("The family can be restricted", arguments: ["localhost", "*", "127.0.0.1"])
    func oneFamily(_ host: String) throws {
        let listeners = try Listener.bind(host: host, port: 0, family: .ipv4, backlog: 8)
        #expect(listeners.map(\.address.host) == [host == "*" ? "0.0.0.0" : "127.0.0.1"])
    }

    @Test("An address of the other family is not available")
    func otherFamily() {
        #expect(throws: ListenError.addressNotAvailable("127.0.0.1")) {
            try Listener.bind(host: "127.0.0.1", port: 0, family: .ipv6, backlog: 8)
        }
        #expect(throws: ListenError.addressNotAvailable("::1")) {
            try Listener.bind(host: "::1", port: 0, family: .ipv4, backlog: 8)
        }
    }

    @Test("An interface binds all its addresses at one port")
    func interface() throws {
        let loopback = try #require(
            try NetworkInterface.all().first { $0.flags.contains(.loopback) })
        let listeners = try Listener.bind(interface: loopback.name, port: 0, backlog: 8)
        #expect(Set(listeners.compactMap(\.address.port)).count == 1)
        #expect(Set(listeners.map(\.address.host)) == Set(loopback.addresses.map(\.host)))
        let one = try Listener.bind(interface: loopback.name, port: 0, family: .ipv4, backlog: 8)
        #expect(one.allSatisfy { !$0.address.host.contains(":") })
        #expect(!one.isEmpty)
    }

    @Test("An unknown interface is an error")
    func noSuchInterface() {
        let error = #expect(throws: ListenError.self) {
            try Listener.bind(interface: "nothing7", port: 0, backlog: 8)
        }
        #expect(error == .noSuchInterface("nothing7"))
        #expect(error?.description == "nothing7: no such network interface")
    }

    @Test("A closed listener frees its port")
    func freesPort() throws {
        var first = try Listener.bind(host: "127.0.0.1", port: 0, backlog: 8)
        let port = try #require(first.first?.address.port)
        first = []
        let second = try Listener.bind(host: "127.0.0.1", port: port, backlog: 8)
        #expect(second.first?.address == .ipv4("127.0.0.1", port: port))
    }

    @Test(
        "An address that is not available is an error",
        arguments: ["192.0.2.1", "not a host", "256.0.0.1"])
    func notAvailable(_ host: String) {
        let error = #expect(throws: ListenError.self) {
            try Listener.bind(host: host, port: 0, backlog: 8)
        }
        guard case .addressNotAvailable? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    // MARK: Unix sockets

    @Test("A Unix socket is made and removed")
    func unixSocket() throws {
        let directory = try ServerDirectory()
        let path = directory.path("socket")
        do {
            let listener = try Listener.bind(unixPath: path, backlog: 8)
            #expect(listener.address == .unix(path))
            #expect(directory.exists("socket"))
            withExtendedLifetime(listener) {}
        }
        #expect(!directory.exists("socket"))
    }

    @Test("A complete request is handled although its client has disconnected")
    func unixClientThatIsGone() async throws {
        let directory = try ServerDirectory()
        let path = directory.path("socket")
        let requests = ServerLog<String>()
        let handler = SyncHandler { request in
            requests.add(request.path)
            return Response(.noContent)
        }
        let server = HTTPServer(
            ServerConfiguration(endpoints: [.unix(path: path)]), handler: handler)
        try await server.start()
        for number in 0..<20 {
            let client = StreamSocket.connect(unixPath: path)
            let text = "PUT /\(number) HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"
            let count = unsafe send(client, text, text.utf8.count, StreamSocket.sendFlags)
            #expect(count == text.utf8.count)
            close(client)
            #expect(await requests.first() == "/\(number)")
        }
        await server.shutdown()
    }

    @Test("A Unix socket in use is not replaced")
    func unixInUse() throws {
        let directory = try ServerDirectory()
        let first = try Listener.bind(unixPath: directory.path("socket"), backlog: 8)
        let error = #expect(throws: ListenError.self) {
            try Listener.bind(unixPath: directory.path("socket"), backlog: 8)
        }
        #expect(error == .addressInUse(directory.path("socket")))
        #expect(directory.exists("socket"))
        withExtendedLifetime(first) {}
    }

    @Test("A stale Unix socket is replaced")
    func unixStale() throws {
        let directory = try ServerDirectory()
        try directory.makeStaleSocket("socket")
        #expect(directory.exists("socket"))
        let listener = try Listener.bind(unixPath: directory.path("socket"), backlog: 8)
        #expect(listener.address == .unix(directory.path("socket")))
    }

    @Test("A regular file at the path of a Unix socket is not replaced")
    func unixOverFile() throws {
        let directory = try ServerDirectory()
        try directory.write("file", "precious")
        #expect(throws: ListenError.addressInUse(directory.path("file"))) {
            try Listener.bind(unixPath: directory.path("file"), backlog: 8)
        }
        #expect(directory.exists("file"))
    }

    @Test(
        "A Unix socket has the requested permissions, also when it is opened again",
        arguments: [0o600, 0o660, 0o666, 0o777])
    func unixPermissions(_ permissions: UInt16) throws {
        let directory = try ServerDirectory()
        let path = directory.path("socket")
        let listener = try Listener.bind(unixPath: path, permissions: permissions, backlog: 8)
        var status = stat()
        #expect(unsafe lstat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == mode_t(permissions))
        listener.close()
        let again = try listener.reopened(backlog: 8)
        #expect(unsafe lstat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == mode_t(permissions))
        withExtendedLifetime(again) {}
    }

    @Test("Closing does not remove a socket that has replaced the closed one")
    func unixReplaced() throws {
        let directory = try ServerDirectory()
        let path = directory.path("socket")
        let first = try Listener.bind(unixPath: path, backlog: 8)
        #expect(unsafe unlink(path) == 0)
        let second = try Listener.bind(unixPath: path, backlog: 8)
        first.close()
        #expect(directory.exists("socket") && second.isAlive)
    }

    @Test("A Unix socket with a full backlog is in use, and the check does not block")
    func unixFull() throws {
        let directory = try ServerDirectory()
        let path = directory.path("socket")
        let first = try Listener.bind(unixPath: path, backlog: 0)
        var clients: [CInt] = []
        defer { for client in clients { close(client) } }
        var isFull = false
        while !isFull, clients.count < 64 {
            let client = StreamSocket.connect(unixPath: path)
            isFull = client < 0
            if client >= 0 { clients.append(client) }
        }
        #expect(isFull)
        #expect(throws: ListenError.addressInUse(path)) {
            try Listener.bind(unixPath: path, backlog: 8)
        }
        withExtendedLifetime(first) {}
    }

    @Test("Of several concurrent listeners at a stale socket exactly one succeeds")
    func unixTogether() async throws {
        let directory = try ServerDirectory()
        for _ in 0..<20 {
            try directory.makeStaleSocket("socket")
            let path = directory.path("socket")
            let listeners = await withTaskGroup(of: Listener?.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        await OwnThread.run { try? Listener.bind(unixPath: path, backlog: 8) }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }.compactMap(\.self)
            }
            #expect(listeners.count == 1)
            let client = StreamSocket.connect(unixPath: path)
            #expect(client >= 0)
            close(client)
        }
    }

    @Test("A foreign lock on the folder prevents only the replacement of a stale socket")
    func unixFolderLocked() async throws {
        let directory = try ServerDirectory()
        try directory.makeStaleSocket("stale")
        let folder = unsafe open(directory.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(folder) }
        #expect(flock(folder, LOCK_EX | LOCK_NB) == 0)
        let (free, stale) = (directory.path("free"), directory.path("stale"))
        let listener = await OwnThread.run { try? Listener.bind(unixPath: free, backlog: 8) }
        #expect(listener?.isAlive == true)
        let other = await OwnThread.run { try? Listener.bind(unixPath: stale, backlog: 8) }
        #expect(other == nil && directory.exists("stale"))
        #expect(flock(folder, LOCK_UN) == 0)
        let again = await OwnThread.run { try? Listener.bind(unixPath: stale, backlog: 8) }
        #expect(again?.isAlive == true)
    }

    @Test("A path that is too long, or has no folder, is an error")
    func unixBadPath() {
        let long = String(repeating: "a", count: 200)
        #expect(throws: ListenError.pathTooLong(long)) {
            try Listener.bind(unixPath: long, backlog: 8)
        }
        for path in ["", "/nothing/there/socket"] {
            let error = #expect(throws: ListenError.self) {
                try Listener.bind(unixPath: path, backlog: 8)
            }
            guard case .system(let place, _)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(place == path)
        }
    }

    // MARK: Closing and opening again

    @Test("A closed listener accepts nothing, and can be opened again at its address")
    func closing() throws {
        let first = try #require(
            try Listener.bind(host: "127.0.0.1", port: 0, backlog: 8).first)
        #expect(first.isAlive)
        first.close()
        #expect(first.isClosed && !first.isAlive)
        var raw = RawSocketAddress()
        guard case .failed = first.accept(&raw) else {
            Issue.record("a closed listener accepts")
            return
        }
        let second = try first.reopened(backlog: 8)
        #expect(second.address == first.address)
        #expect(second.descriptor != first.descriptor)
        first.close()
        #expect(second.isAlive)
    }

    @Test("A Unix socket can be opened again, and the end of the closed one does not remove it")
    func unixAgain() throws {
        let directory = try ServerDirectory()
        var first: Listener? = try Listener.bind(unixPath: directory.path("socket"), backlog: 8)
        first?.close()
        #expect(!directory.exists("socket"))
        let second = try first?.reopened(backlog: 8)
        first = nil
        #expect(directory.exists("socket"))
        #expect(second?.isAlive == true)
    }

    @Test("An inherited socket cannot be opened again once it is closed")
    func inherited() throws {
        let own = try #require(try Listener.bind(host: "127.0.0.1", port: 0, backlog: 8).first)
        let listener = try Listener.inherit(duplicate(of: own.descriptor))
        #expect(try listener.reopened(backlog: 8) === listener)
        listener.close()
        #expect(throws: ListenError.self) { try listener.reopened(backlog: 8) }
        #expect(own.isAlive)
    }

    private func duplicate(of descriptor: CInt) -> CInt { dup(descriptor) }

    @Test("Addresses are written as in an authority")
    func descriptions() {
        #expect(SocketAddress.ipv4("127.0.0.1", port: 80).description == "127.0.0.1:80")
        #expect(SocketAddress.ipv6("::1", port: 80).description == "[::1]:80")
        #expect(SocketAddress.unix("/a").description == "unix:/a")
        #expect(SocketAddress.unix("").host == "unix")
        #expect(SocketAddress.unix("/a").port == nil)
    }
}
