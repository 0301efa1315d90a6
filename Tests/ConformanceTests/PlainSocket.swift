import TestSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A client socket that does not know HTTP. It never blocks a thread of the tests, and fails if
/// nothing happens for a minute.
final class PlainSocket {
    struct Failure: Error, CustomStringConvertible { let description: String }

    private let descriptor: CInt
    private var buffer: [UInt8] = []
    private let tls: TLSClient?

    /// - Parameters:
    ///   - from: the last number of the local address, 127.0.0.x.
    ///   - isSecure: whether it uses TLS, whose handshake begins with the first `send`.
    init(port: UInt16, from host: UInt32 = 1, isSecure: Bool = false) throws {
        tls = isSecure ? TLSClient() : nil
        descriptor = StreamSocket.make()
        StreamSocket.sendAtOnce(descriptor)
        if host != 1 {
            let isBound = unsafe Self.withAddress(host, port: 0) { address, size in
                unsafe bind(descriptor, address, size) == 0
            }
            guard isBound else { throw Failure(description: "cannot bind to 127.0.0.\(host)") }
        }
        // On this machine a connection is made at once. Waiting on another thread could take longer
        // than the ten seconds that a server allows for a head, while other tests use the threads.
        guard Self.connect(descriptor, port: port) == 0 else {
            throw Failure(description: "cannot connect to port \(port)")
        }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    deinit { close(descriptor) }

    private static func connect(_ descriptor: CInt, port: UInt16) -> CInt {
        unsafe withAddress(1, port: port) { address, size in
            unsafe systemConnect(descriptor, address, size)
        }
    }

    private static func withAddress<Result>(
        _ host: UInt32, port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = (UInt32(0x7F00_0000) | host).bigEndian
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Waits on a separate thread until the socket can be read or written.
    private func isReady(_ events: CInt) async -> Bool {
        await OwnThread.run { [descriptor] in
            var request = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            return unsafe poll(&request, 1, 60_000) > 0
        }
    }

    func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) async throws {
        guard let tls else { return try await sendPlain(bytes) }
        try await shakeHands(tls)
        tls.write(bytes)
        try await sendPlain(tls.take())
    }

    private func shakeHands(_ tls: TLSClient) async throws {
        while true {
            let state = tls.shakeHands()
            try await sendPlain(tls.take())
            switch state {
            case .complete: return
            case .failed: throw Failure(description: "the handshake failed")
            case .unfinished:
                let bytes = try await receivePlain()
                guard !bytes.isEmpty else { throw Failure(description: "the server closed") }
                tls.feed(bytes)
            }
        }
    }

    private func sendPlain(_ bytes: [UInt8]) async throws {
        let flags = StreamSocket.sendFlags
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { all in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: all[sent...])
                return unsafe systemSend(descriptor, rest.baseAddress, rest.count, flags)
            }
            if count > 0 {
                sent += count
            } else if errno != EINTR {
                let isWaiting = errno == EAGAIN
                guard isWaiting, await isReady(POLLOUT) else {
                    throw Failure(description: isWaiting ? "nothing can be sent" : "cannot send")
                }
            }
        }
    }

    /// Ends the stream to the server; reading is still possible.
    func endWriting() {
        if let tls {
            tls.close()
            // The socket has space for the few bytes of the alert.
            let alert = tls.take()
            _ = unsafe alert.withUnsafeBytes {
                unsafe systemSend(descriptor, $0.baseAddress, $0.count, StreamSocket.sendFlags)
            }
        }
        #if os(Linux)
            _ = shutdown(descriptor, CInt(SHUT_WR))
        #else
            _ = shutdown(descriptor, SHUT_WR)
        #endif
    }

    /// Makes `close` send a reset instead of an end.
    func resetOnClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        let size = socklen_t(MemoryLayout<linger>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, size)
    }

    /// At least one received byte; empty at the end of the stream or after a reset.
    func receive() async throws -> [UInt8] {
        guard let tls else { return try await receivePlain() }
        while true {
            guard let content = tls.read() else { return [] }
            if !content.isEmpty { return content }
            let bytes = try await receivePlain()
            guard !bytes.isEmpty else { return [] }
            tls.feed(bytes)
        }
    }

    private func receivePlain() async throws -> [UInt8] {
        while true {
            var failure: CInt = 0
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: 64 << 10) { room, count in
                let result = unsafe recv(descriptor, room.baseAddress, room.count, 0)
                if result < 0 { failure = errno }
                count = max(0, result)
            }
            if failure == EINTR { continue }
            guard failure == EAGAIN else { return piece }
            guard await isReady(POLLIN) else {
                throw Failure(description: "nothing came for a minute")
            }
        }
    }

    /// Everything up to the end of the stream.
    func receiveAll() async throws -> [UInt8] {
        var all = buffer
        buffer = []
        while true {
            let piece = try await receive()
            if piece.isEmpty { return all }
            all += piece
        }
    }

    /// Bytes up to and including `mark`.
    func receive(through mark: String) async throws -> String {
        let mark = Array(mark.utf8)
        while true {
            if let end = buffer.end(of: mark) {
                defer { buffer.removeFirst(end) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            try await more()
        }
    }

    func receive(count: Int) async throws -> [UInt8] {
        while buffer.count < count { try await more() }
        defer { buffer.removeFirst(count) }
        return Array(buffer[..<count])
    }

    private func more() async throws {
        let piece = try await receive()
        guard !piece.isEmpty else { throw Failure(description: "the server closed") }
        buffer += piece
    }

    /// A response whose content has a Content-Length.
    func response() async throws -> PlainResponse {
        let head = try await receive(through: "\r\n\r\n")
        var response = PlainResponse(head: head)
        response.content = try await receive(count: Int(response["content-length"] ?? "0") ?? 0)
        return response
    }
}

/// A received response.
struct PlainResponse {
    var status: Int
    var head: String
    var content: [UInt8] = []

    init(head: String) {
        self.head = head
        let words = head.split(separator: " ", maxSplits: 2)
        status = words.count > 1 ? Int(words[1]) ?? 0 : 0
    }

    var text: String { String(decoding: content, as: UTF8.self) }

    /// The value of the first field of that name, in lower case.
    subscript(name: String) -> String? {
        for line in head.split(separator: "\r\n").dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == name else { continue }
            return parts[1].drop { $0 == " " }.description
        }
        return nil
    }
}

extension [UInt8] {
    /// The index after the first occurrence of `mark`.
    fileprivate func end(of mark: [UInt8]) -> Int? {
        guard count >= mark.count, let first = mark.first else { return nil }
        for start in 0...(count - mark.count) where self[start] == first {
            if self[start..<(start + mark.count)].elementsEqual(mark) { return start + mark.count }
        }
        return nil
    }
}

private let systemConnect = unsafe connect
private let systemSend = unsafe send
