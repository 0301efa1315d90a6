import TestSupport
import Testing
import ToolkitSystem

@testable import HTTPServerTLS

@Suite("RFC 8446: the transport between a socket and its connection")
struct TransportTests {
    private static let versions = [TLSClient.tls12, TLSClient.tls13]

    @Test("Reading with buffers of any size gives the same plaintext", arguments: versions)
    func rooms(_ version: CInt) throws {
        let pair = TLSPair(try .test(), TLSClient(version: version))
        try pair.shakeHands()
        // More than one record, and the last one is short.
        let wanted = TLSPair.content(20_001)
        let sizes = Array(1...64) + Array(stride(from: 65, to: 20_000, by: 311)) + [16_384, 20_000]
        for size in sizes {
            pair.client.write(wanted)
            pair.sendFromClient()
            #expect(pair.receiveAll(size) == wanted, "\(size)")
        }
    }

    @Test("Ciphertext in pieces of any size gives the same plaintext", arguments: versions)
    func pieces(_ version: CInt) throws {
        let pair = TLSPair(try .test(), TLSClient(version: version))
        try pair.shakeHands()
        let wanted = TLSPair.content(300)
        for size in 1...400 {
            pair.client.write(wanted)
            var rest = pair.client.take()[...]
            var got: [UInt8] = []
            while !rest.isEmpty {
                pair.socket.inbox.append(Array(rest.prefix(size)))
                rest = rest.dropFirst(size)
                got += pair.receiveAll()
            }
            #expect(got == wanted, "\(size)")
        }
    }

    @Test(
        "A handshake with a long chain completes over a socket that accepts 500 bytes per call",
        arguments: versions)
    func longChain(_ version: CInt) throws {
        let good = try MadeCertificate.common.get()
        let other = try MadeCertificate("An authority", isAuthority: true).text
        let chain = good.text + String(repeating: other, count: 70)
        let context = try TLSContext(
            TLSConfiguration(certificates: [
                TLSCertificate(chain: .bytes(Array(chain.utf8)), key: good.key)
            ]))
        let pair = TLSPair(context, TLSClient(version: version))
        pair.socket.sendLimit = 500
        _ = pair.client.shakeHands()
        pair.sendFromClient()
        _ = pair.receive()
        #expect(pair.socket.interest == [.read, .write])
        var sent = pair.socket.sent.count
        while pair.socket.interest.contains(.write) {
            pair.transport.becameWritable()
            #expect(pair.socket.sent.count > sent)
            sent = pair.socket.sent.count
        }
        #expect(sent > 20_000)
        #expect(pair.socket.interest == .read)
        pair.sendToClient()
        pair.socket.sendLimit = .max
        try pair.shakeHands()
        #expect(pair.send([1, 2, 3]) == .done(3))
        #expect(pair.readByClient() == [1, 2, 3])
    }

    @Test("Bytes count as sent when the system has accepted their records")
    func taken() throws {
        let pair = TLSPair(try .test())
        try pair.shakeHands()
        pair.socket.credit = 10
        #expect(pair.send([1, 2, 3]) == .wouldBlock)
        #expect(pair.socket.interest.contains(.write))
        #expect(pair.send([1, 2, 3]) == .wouldBlock)
        pair.socket.credit = nil
        #expect(pair.send([1, 2, 3]) == .done(3))
        #expect(!pair.socket.interest.contains(.write))
        #expect(pair.readByClient() == [1, 2, 3])
    }

    @Test(
        "A slow reader gets a whole file or array, and the transport holds back no sent bytes",
        arguments: [false, true])
    func slowReader(_ isFile: Bool) throws {
        let pair = TLSPair(try .test())
        try pair.shakeHands()
        let wanted = TLSPair.content(1 << 20)
        let folder = try ServerDirectory()
        var queue = OutputQueue()
        if isFile {
            try folder.write("file", wanted)
            let file = OpenFile(owning: try Syscalls.openFile(folder.path("file")))
            queue.append(file, offset: 0, count: Int64(wanted.count))
        } else {
            queue.append(wanted)
        }
        pair.socket.sends = []
        var got: [UInt8] = []
        var total: Int64 = 0
        for turn in 0..<10_000 {
            pair.socket.credit = 1 + turn * 7_919 % 40_000
            let (progress, count) = queue.send(to: pair.transport)
            total += count
            // The system has accepted all counted bytes, so the client can read them.
            got += pair.readByClient()
            #expect(got.count >= total)
            guard case .blocked = progress else { break }
        }
        #expect(total == wanted.count)
        #expect(got == wanted)
    }

    @Test("Sending a file that is shorter than expected fails")
    func shortFile() throws {
        let pair = TLSPair(try .test())
        try pair.shakeHands()
        let folder = try ServerDirectory()
        try folder.write("file", TLSPair.content(1_000))
        var queue = OutputQueue()
        let file = OpenFile(owning: try Syscalls.openFile(folder.path("file")))
        queue.append(file, offset: 0, count: 2_000)
        #expect(queue.send(to: pair.transport) == (.blocked, 1_000))
        #expect(queue.send(to: pair.transport) == (.fileFailed, 0))
    }

    @Test("Two handshakes per turn take a step, and all handshakes complete")
    func turns() throws {
        let loop = TLSPair.Loop()
        let context = try TLSContext.test()
        let pairs = (0..<7).map { _ in TLSPair(context, on: loop) }
        for pair in pairs { pair.beginHandshake() }
        let begun = { pairs.count { !$0.socket.sent.isEmpty } }
        #expect(begun() == 2)
        // Their input is read meanwhile, so that the poller has nothing to report.
        #expect(pairs.allSatisfy { $0.socket.inbox.isEmpty && $0.socket.interest.contains(.read) })
        // A connection that is read again meanwhile is queued only once.
        #expect(pairs[6].receive().result == .wouldBlock)
        var inputs = Array(repeating: 0, count: pairs.count)
        for expected in [4, 6, 7] {
            for pair in pairs { pair.owner.turn() }
            for (index, pair) in pairs.enumerated() where pair.owner.inputs > inputs[index] {
                inputs[index] = pair.owner.inputs
                _ = pair.receive()
            }
            #expect(begun() == expected)
        }
        #expect(inputs == [0, 0, 1, 1, 1, 1, 1])
        for pair in pairs {
            // All connections of the loop share the count, so each owner runs its work.
            for other in pairs { other.owner.turn() }
            pair.sendToClient()
            try pair.shakeHands()
        }
    }

    @Test("A waiting handshake reads a limited number of bytes, and leaves the rest to the system")
    func longWait() throws {
        let loop = TLSPair.Loop()
        let context = try TLSContext.test()
        let pairs = (0..<3).map { _ in TLSPair(context, on: loop) }
        let waiting = pairs[2].socket
        for pair in pairs {
            pair.beginHandshake(with: pair.socket === waiting ? TLSPair.content(5_000) : [])
        }
        for _ in 0..<8 where waiting.interest.contains(.read) {
            #expect(pairs[2].receive().result == .wouldBlock)
        }
        #expect(!waiting.interest.contains(.read))
        let left = waiting.inbox.reduce(0) { $0 + $1.count }
        #expect(left > 0 && left < 5_000)
        // A late event changes nothing, and is not the end of the stream.
        #expect(pairs[2].receive().result == .wouldBlock)
        #expect(waiting.inbox.reduce(0) { $0 + $1.count } == left)
        for pair in pairs { pair.owner.turn() }
        #expect(waiting.interest.contains(.read))
    }

    @Test("The end of a client's stream is reported while its handshake waits")
    func endWhileWaiting() throws {
        let loop = TLSPair.Loop()
        let context = try TLSContext.test()
        let pairs = (0..<3).map { _ in TLSPair(context, on: loop) }
        for pair in pairs { pair.beginHandshake() }
        pairs[2].socket.hasEnded = true
        #expect(pairs[2].receive().result == .done(0))
    }

    @Test("A connection that is closed while its handshake waits is skipped")
    func closedWhileWaiting() throws {
        let loop = TLSPair.Loop()
        let context = try TLSContext.test()
        let pairs = (0..<4).map { _ in TLSPair(context, on: loop) }
        for pair in pairs { pair.beginHandshake() }
        pairs[2].transport.close()
        for pair in pairs { pair.owner.turn() }
        #expect(pairs.map(\.owner.inputs) == [0, 0, 0, 1])
    }

    @Test("Closed connections use no turns of waiting ones, and their memory is released")
    func closedTakeNothing() throws {
        let loop = TLSPair.Loop()
        let context = try TLSContext.test()
        let first = (0..<2).map { _ in TLSPair(context, on: loop) }
        for pair in first { pair.beginHandshake() }
        var closed = (0..<3).map { _ in TLSPair(context, on: loop) }
        for pair in closed {
            pair.beginHandshake()
            pair.transport.close()
        }
        let live = TLSPair(context, on: loop)
        live.beginHandshake()
        weak var lost: TLSTransport?
        lost = closed.last?.transport as? TLSTransport
        #expect(lost != nil)
        // The others are closed, but still in memory.
        closed.removeLast()
        #expect(lost == nil)
        for pair in first { pair.owner.turn() }
        #expect(live.owner.inputs == 1)
        #expect(closed.map(\.owner.inputs) == [0, 0])
    }

    @Test("Clients that connect and close do not fill the queue of waiting handshakes")
    func closedInRows() throws {
        let loop = TLSPair.Loop()
        let context = try TLSContext.test()
        // The first two take a step without waiting.
        let live = (0..<5).map { _ in TLSPair(context, on: loop) }
        for pair in live { pair.beginHandshake() }
        let room = try #require(live[0].transport as? TLSTransport).room
        for _ in 0..<200 {
            let pair = TLSPair(context, on: loop)
            pair.beginHandshake()
            #expect(room.waiting.count <= TLSRoom.leastWaitingLimit)
        }
        for expected in [[0, 0, 1, 1, 0], [0, 0, 1, 1, 1]] {
            live[0].owner.turn()
            #expect(live.map(\.owner.inputs) == expected)
        }
    }

    // MARK: Ends

    @Test("A regular end sends close_notify", arguments: versions)
    func closeNotify(_ version: CInt) throws {
        for closesAtOnce in [false, true] {
            let pair = TLSPair(try .test(), TLSClient(version: version))
            try pair.shakeHands()
            if !closesAtOnce {
                pair.transport.shutdownWriting()
                #expect(pair.socket.isShutDown)
            }
            pair.transport.close()
            #expect(pair.readByClient() == [] && pair.client.isClosed)
            #expect(pair.socket.isClosed)
        }
    }

    @Test(
        "A reset connection sends no close_notify, so that the client notices the cut",
        arguments: versions)
    func cutOff(_ version: CInt) throws {
        let pair = TLSPair(try .test(), TLSClient(version: version))
        try pair.shakeHands()
        #expect(pair.send([1]) == .done(1))
        pair.transport.closesByReset()
        pair.transport.close()
        #expect(pair.readByClient() == [1] && !pair.client.isClosed)
        #expect(pair.socket.isReset)
    }

    @Test("close_notify waits for the socket, and the end of the stream for close_notify")
    func lateCloseNotify() throws {
        let pair = TLSPair(try .test())
        try pair.shakeHands()
        pair.socket.credit = 3
        pair.transport.shutdownWriting()
        #expect(!pair.socket.isShutDown)
        pair.socket.credit = nil
        pair.transport.becameWritable()
        #expect(pair.socket.isShutDown)
        #expect(pair.readByClient() == [] && pair.client.isClosed)
    }

    @Test("A client that has ended its stream still gets its response", arguments: versions)
    func halfClosed(_ version: CInt) throws {
        for says in [true, false] {
            let pair = TLSPair(try .test(), TLSClient(version: version))
            try pair.shakeHands()
            pair.client.write([7])
            if says { pair.client.close() }
            pair.sendFromClient()
            pair.socket.hasEnded = true
            #expect(pair.receive().bytes == [7])
            #expect(pair.receive().result == .done(0))
            #expect(pair.send([8]) == .done(1))
            #expect(pair.readByClient() == [8])
        }
    }

    @Test("Bytes after the end of a stream do not affect another connection", arguments: versions)
    func behindTheEnd(_ version: CInt) throws {
        let loop = TLSPair.Loop()
        let context = try TLSContext.test()
        let ending = TLSPair(context, TLSClient(version: version), on: loop)
        let other = TLSPair(context, TLSClient(version: version), on: loop)
        for pair in [ending, other] { try pair.shakeHands() }
        ending.client.close()
        ending.socket.inbox.append(ending.client.take() + [0x17, 3, 3, 0, 1, 0])
        #expect(ending.receive().result == .done(0))
        other.client.write([7])
        other.sendFromClient()
        #expect(other.receive().bytes == [7])
    }
}
