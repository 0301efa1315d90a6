import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import URLClient

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

@Suite("Time limits of each phase", .timeLimit(.minutes(2)))
struct ConnectTimeoutTests {
    /// A port at which connections are neither accepted nor refused: its queue is full.
    private final class FullPort: Sendable {
        let port: UInt16
        private let descriptors: [CInt]

        init() throws {
            let listener = StreamSocket.make()
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            var all = [listener]
            let isFull = unsafe withUnsafeMutablePointer(to: &name) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    guard unsafe bind(listener, address, size) == 0, listen(listener, 0) == 0,
                        unsafe getsockname(listener, address, &size) == 0
                    else { return false }
                    for _ in 0..<8 {
                        let client = StreamSocket.make()
                        _ = fcntl(client, F_SETFL, O_NONBLOCK)
                        all.append(client)
                        _ = unsafe connect(client, address, size)
                        var request = pollfd(fd: client, events: Int16(POLLOUT), revents: 0)
                        if unsafe poll(&request, 1, 200) == 0 { return true }
                    }
                    return false
                }
            }
            port = UInt16(bigEndian: name.sin_port)
            descriptors = all
            guard isFull else { throw Program.Failure("the queue of a port does not fill") }
        }

        deinit { for descriptor in descriptors { close(descriptor) } }
    }

    private func error(
        _ url: String, _ timeouts: ClientTimeouts
    ) async -> ClientError? {
        var request = ClientRequest(.get, url)
        request.timeouts = timeouts
        return await failure { [request] in
            try await ClientSession(.ephemeral).data(for: request)
        }
    }

    @Test("Connecting ends at its own limit and at the total limit")
    func connecting() async throws {
        let full = try FullPort()
        let url = "http://127.0.0.1:\(full.port)/"
        let connect = await error(url, ClientTimeouts(connect: .milliseconds(150)))
        #expect(connect?.kind == .timedOut(.connect), "\(connect?.description ?? "-")")
        #expect(connect?.phase == .connecting && connect?.isSafeToRetry == true)
        #expect(connect?.urlErrorCode == -1001 && connect?.exitCode == 28)
        let total = await error(
            url, ClientTimeouts(connect: nil, idle: nil, total: .milliseconds(150)))
        #expect(total?.kind == .timedOut(.total), "\(total?.description ?? "-")")
        #expect(total?.phase == .connecting)
    }

    @Test("The limit for connecting does not apply to a slow response; the other limits do")
    func afterwards() async throws {
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            Pause.milliseconds(4_000)
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            connection.waitForEnd()
        }
        // Connecting takes less than a second here; the response takes longer than the limit.
        // Other tests may delay connecting; a limit on the response would end each attempt.
        var none = await error(peer.url(), ClientTimeouts(connect: .seconds(3)))
        for _ in 0..<4 where none != nil {
            none = await error(peer.url(), ClientTimeouts(connect: .seconds(3)))
        }
        #expect(none == nil, "\(none?.description ?? "-")")
        let first = await error(peer.url(), ClientTimeouts(firstByte: .milliseconds(200)))
        #expect(first?.kind == .timedOut(.firstByte) && first?.phase == .waiting)
        let whole = await error(peer.url(), ClientTimeouts(total: .milliseconds(200)))
        #expect(whole?.kind == .timedOut(.total))
    }

    @Test("The total limit counts all transactions, each of which is within the limits")
    func transactions() async throws {
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                Pause.milliseconds(150)
                let number = Int(head.split(separator: " ")[1].dropFirst()) ?? 0
                connection.send(
                    "HTTP/1.1 302 Found\r\nLocation: /\(number + 1)\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let error = await error(
            peer.url("/1"), ClientTimeouts(firstByte: .seconds(60), total: .milliseconds(800)))
        #expect(error?.kind == .timedOut(.total), "\(error?.description ?? "-")")
    }
}
