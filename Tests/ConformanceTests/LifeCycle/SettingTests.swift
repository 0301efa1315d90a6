import Dispatch
import HTTPParser
import HTTPServerCore
import HTTPServerKit
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

@Suite("Effects of server settings", .fewAtOnce, .timeLimit(.minutes(3)))
struct ServerSettingTests {
    #if os(Linux)
        @Test("The listening socket has the backlog of the configuration", arguments: [7, 200])
        func backlog(_ length: Int) async throws {
            let local = LocalServer { $0.backlog = length }
            _ = try await local.start()
            let listener = try #require(local.server.listeners.first)
            var info = tcp_info()
            var size = socklen_t(MemoryLayout<tcp_info>.size)
            let status = unsafe getsockopt(
                listener.descriptor, CInt(IPPROTO_TCP), TCP_INFO, &info, &size)
            // For a listening socket, the system reports its backlog here.
            #expect(status == 0 && info.tcpi_sacked == UInt32(length))
            await local.server.shutdown()
        }
    #endif

    @Test("Accepted sockets have TCP_NODELAY, so that small responses are sent at once")
    func noDelay() throws {
        let listener = try #require(
            try Listener.bind(host: "127.0.0.1", port: 0, backlog: 8).first)
        let client = try PlainSocket(port: try #require(listener.address.port))
        defer { withExtendedLifetime(client) {} }
        var peer = RawSocketAddress()
        var accepted = listener.accept(&peer)
        let end = ContinuousClock.now + .seconds(60)
        while accepted == .wouldBlock, ContinuousClock.now < end {
            accepted = listener.accept(&peer)
        }
        guard case .done(let number) = accepted else {
            Issue.record("no connection: \(accepted)")
            return
        }
        defer { Syscalls.close(CInt(number)) }
        var value: CInt = 0
        var size = socklen_t(MemoryLayout<CInt>.size)
        unsafe getsockopt(CInt(number), CInt(IPPROTO_TCP), TCP_NODELAY, &value, &size)
        #expect(value != 0)
    }

    @Test("The loops have the quality of service of the configuration")
    func loopQoS() async throws {
        let local = LocalServer { $0.loopQoS = .userInitiated }
        _ = try await local.start()
        #expect(local.server.loops.map(\.qos) == [.userInitiated, .userInitiated])
        await local.server.shutdown()
    }

    @Test(
        "The end of the last connection is reported after the interval, or at once if it is zero",
        arguments: [(Duration.zero, true), (.seconds(600), false)])
    func disconnectionInterval(_ interval: Duration, _ isAtOnce: Bool) async throws {
        let local = LocalServer { $0.disconnectionInterval = interval }
        let events = EventReader(local.server)
        let port = try await local.start()
        #expect(await LocalServer.serves(port))
        let end = ContinuousClock.now + .seconds(60)
        while local.server.connectionCount > 0, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(1))
        }
        await local.server.suspend()
        await local.server.shutdown()
        var names: [String] = []
        while let event = await events.next() {
            names.append(String("\(event)".prefix { $0.isLetter }))
            if names.last == "stopped" { break }
        }
        let middle = isAtOnce ? ["disconnected", "suspended"] : ["suspended", "disconnected"]
        #expect(names == ["started", "connected"] + middle + ["stopped"])
    }

    #if os(Linux)
        @Test(
            "A file is synchronized before it gets its name only if the caller requests it",
            arguments: [true, false])
        func synchronizes(_ isAsked: Bool) async throws {
            let directory = try ServerDirectory()
            let target = directory.path("file")
            let client = MemoryConnection(
                AsyncHandler { request in
                    do {
                        let count = try await request.body.stream(
                            toFile: target, synchronizes: isAsked)
                        return .text("\(count) bytes\n")
                    } catch {
                        return .text("\(error)\n")
                    }
                })
            client.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab")
            // From here on the content is written to a pipe, which cannot be synchronized.
            let file = try #require(await Self.openFile(below: directory.path("")))
            var ends: [CInt] = [0, 0]
            #expect(unsafe pipe(&ends) == 0)
            defer { for end in ends { Syscalls.close(end) } }
            #expect(dup2(ends[1], file) == file)
            client.send("cd")
            let shown = isAsked ? "fsync: Invalid argument" : "4 bytes"
            try await client.output(shown)
        }

        /// The open file whose path begins with the folder.
        private static func openFile(below folder: String) async -> CInt? {
            let end = ContinuousClock.now + .seconds(60)
            while ContinuousClock.now < end {
                for number in 3..<CInt(1_024) {
                    var target = [CChar](repeating: 0, count: 4_096)
                    let path = "/proc/self/fd/\(number)"
                    let count = unsafe readlink(path, &target, target.count - 1)
                    guard count > 0 else { continue }
                    let bytes = target[..<count].map(UInt8.init(bitPattern:))
                    if String(decoding: bytes, as: UTF8.self).hasPrefix(folder) { return number }
                }
                await Task.yield()
            }
            return nil
        }
    #endif
}
