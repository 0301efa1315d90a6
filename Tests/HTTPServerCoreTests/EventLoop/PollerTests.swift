import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

@Suite("Poller")
struct PollerTests {
    /// Two ends of a connection; the second one is the peer's.
    private func connection() throws -> (own: CInt, peer: CInt) {
        var ends: [CInt] = [-1, -1]
        try #require(unsafe socketpair(AF_UNIX, SocketKind.stream, 0, &ends) == 0)
        for end in ends { StreamSocket.prepare(end) }
        return (ends[0], ends[1])
    }

    /// The same over TCP, whose two directions end independently.
    private func tcpConnection() throws -> (own: CInt, peer: CInt) {
        let listener = try Listener.bind(host: "127.0.0.1", port: 0, backlog: 1)[0]
        defer { listener.close() }
        let peer = StreamSocket.make()
        var address = ListeningSocket.address(of: listener.descriptor)
        let status = unsafe address.withPointer { unsafe connect(peer, $0, $1.pointee) }
        try #require(status == 0)
        var raw = RawSocketAddress()
        guard case .done(let own) = listener.accept(&raw) else {
            throw SystemError("accept")
        }
        return (CInt(own), peer)
    }

    private func events(_ poller: Poller, milliseconds: CInt = 0) -> [PollEvent] {
        var events: [PollEvent] = []
        _ = poller.wait(milliseconds: milliseconds) {
        } each: {
            events.append($0)
        }
        return events
    }

    @Test("Without interest only the loss of the peer is reported")
    func lostPeer() throws {
        let poller = try Poller()
        let (own, peer) = try connection()
        defer { close(own) }
        #expect(poller.add(own, [.read], token: 7))
        poller.modify(own, [], token: 7)
        // The connection is readable and writable, and neither is reported.
        #expect(unsafe write(peer, "x", 1) == 1)
        #expect(events(poller).isEmpty)
        close(peer)
        let lost = events(poller, milliseconds: 20_000)
        #expect(lost.map(\.token) == [7] && lost.first?.isHungUp == true)
        poller.remove(own)
        #expect(events(poller).isEmpty)
    }

    @Test("Readable and writable are reported only while there is interest")
    func interest() throws {
        let poller = try Poller()
        let (own, peer) = try connection()
        defer {
            close(own)
            close(peer)
        }
        #expect(poller.add(own, [], token: 7))
        #expect(unsafe write(peer, "x", 1) == 1)
        #expect(events(poller).isEmpty)
        poller.modify(own, [.read], token: 7)
        let readable = events(poller, milliseconds: 20_000)
        #expect(readable.count == 1 && readable.first?.isReadable == true)
        poller.modify(own, [.write], token: 7)
        let writable = events(poller, milliseconds: 20_000)
        #expect(writable.count == 1 && writable.first?.isWritable == true)
        #expect(writable.first?.isReadable == false && writable.first?.isHungUp == false)
        poller.modify(own, [], token: 7)
        #expect(events(poller).isEmpty)
        // A poller may be woken by another thread.
        poller.wake()
        #expect(events(poller, milliseconds: 20_000).map(\.token) == [Poller.wakeToken])
    }

    @Test(
        "The end of the own direction is not reported as the loss of the peer",
        arguments: [PollInterest.read, []])
    func ownEnd(_ before: PollInterest) throws {
        let poller = try Poller()
        let (own, peer) = try tcpConnection()
        defer { close(own) }
        #expect(poller.add(own, before, token: 7))
        Syscalls.shutdownWriting(own)
        poller.modify(own, .endedWriting, token: 7)
        #expect(events(poller).isEmpty)
        #expect(unsafe write(peer, "x", 1) == 1)
        #expect(events(poller).isEmpty)
        close(peer)
        let lost = events(poller, milliseconds: 20_000)
        #expect(lost.map(\.token) == [7] && lost.first?.isHungUp == true)
    }
}
