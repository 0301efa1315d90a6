import TestSupport
import Testing
import ToolkitSystem

@testable import HTTPServerTLS

@Suite("RFC 8446 section 5: the records of a transport, and the calls that send them")
struct TransportRecordsTests {
    private static let versions = [TLSClient.tls12, TLSClient.tls13]

    // MARK: Few system calls

    @Test(
        "The ticket is sent with the response to a request at or right after the handshake's end",
        arguments: [false, true])
    func heldTicket(_ isBehind: Bool) throws {
        let pair = TLSPair(try .test(), TLSClient(version: TLSClient.tls13))
        try pair.shakeHandsWithRequest([1, 2]) { _ in if isBehind { pair.sendFromClient() } }
        #expect(pair.socket.sends == [])
        #expect(pair.send([3]) == .done(1))
        // A ticket of more than 200 bytes, and a record of 23.
        #expect(pair.socket.sends.count == 1 && pair.socket.sent.count > 200)
        #expect(pair.readByClient() == [3])
        #expect(pair.client.session != nil)
        pair.owner.turn()
        #expect(pair.socket.sends.count == 1)
    }

    @Test("A ticket without a response is sent in the same turn, or with close_notify")
    func lonelyTicket() throws {
        for closes in [false, true] {
            let pair = TLSPair(try .test(), TLSClient(version: TLSClient.tls13))
            try pair.shakeHandsWithRequest([1])
            if closes { pair.transport.close() } else { pair.owner.turn() }
            #expect(pair.socket.sends.count == 1)
            #expect(pair.readByClient() == [])
            #expect(pair.client.isClosed == closes)
            #expect(pair.client.session != nil)
        }
    }

    @Test("A key update that is requested with the first request is answered after the ticket")
    func ticketAndNewKeys() throws {
        let pair = TLSPair(try .test(), TLSClient(version: TLSClient.tls13))
        try pair.shakeHandsWithRequest([1]) { #expect($0.updateKeys()) }
        #expect(pair.send([2]) == .done(1))
        #expect(pair.readByClient() == [2])
        #expect(pair.client.session != nil)
    }

    @Test(
        "close_notify is sent once, with the last bytes",
        arguments: versions, [(3, nil), (3, 10), (200_000, nil), (200_000, 10), (200_000, 66_000)])
    func lastBytes(_ version: CInt, _ load: (count: Int, credit: Int?)) throws {
        let pair = TLSPair(try .test(), TLSClient(version: version))
        try pair.shakeHands()
        let wanted = TLSPair.content(load.count)
        pair.socket.sends = []
        pair.transport.sendsLast()
        var sent = 0
        var got: [UInt8] = []
        pair.socket.credit = load.credit
        while sent < wanted.count {
            #expect(!pair.client.isClosed)
            if case .done(let count) = pair.send(Array(wanted[sent...])) { sent += count }
            if sent < wanted.count { got += pair.readByClient() }
            pair.socket.credit = load.credit
        }
        let calls = pair.socket.sends.count
        pair.transport.shutdownWriting()
        #expect(pair.socket.isShutDown)
        pair.transport.close()
        #expect(pair.socket.sends.count == calls)
        got += pair.readByClient()
        #expect(got == wanted)
        #expect(pair.client.isClosed)
    }

    // MARK: Records without OpenSSL

    @Test("The record layer takes over connections of TLS 1.3 from OpenSSL", arguments: versions)
    func takeOver(_ version: CInt) throws {
        let pair = TLSPair(try .test(), TLSClient(version: version))
        try pair.shakeHands()
        let transport = try #require(pair.transport as? TLSTransport)
        #expect((transport.records != nil) == (version == TLSClient.tls13))
    }

    @Test(
        "Each cipher suite works with OpenSSL's client, also in a resumed session",
        arguments: [
            "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256",
        ])
    func suites(_ suite: String) throws {
        let context = try TLSContext.test { $0.cipherSuites = suite }
        let wanted = TLSPair.content(40_000)
        var session: TLSClient.Session?
        for isResumed in [false, true] {
            let pair = TLSPair(
                context, TLSClient(version: TLSClient.tls13, session: session))
            try pair.shakeHands()
            #expect(pair.client.isResumed == isResumed)
            #expect(pair.owner.facts.security?.value.cipher == suite)
            let transport = try #require(pair.transport as? TLSTransport)
            #expect(transport.records != nil)
            for _ in 0..<3 {
                #expect(pair.send(wanted) == .done(wanted.count))
                #expect(pair.readByClient() == wanted)
                pair.client.write(wanted)
                #expect(pair.client.updateKeys())
                pair.client.write([1])
                pair.sendFromClient()
                #expect(pair.receiveAll() == wanted + [1])
            }
            session = pair.client.session
        }
    }

    @Test(
        "RFC 6066 section 4: a client that requests short records can send and receive",
        arguments: versions)
    func shortRecords(_ version: CInt) throws {
        let pair = TLSPair(try .test(), TLSClient(version: version))
        pair.client.limitRecords()
        try pair.shakeHands()
        let wanted = TLSPair.content(5_000)
        #expect(pair.send(wanted) == .done(wanted.count))
        #expect(pair.readByClient() == wanted)
        pair.client.write(wanted)
        pair.sendFromClient()
        #expect(pair.receiveAll() == wanted)
    }

    @Test("A read without new bytes keeps the incomplete record", arguments: versions)
    func emptyReads(_ version: CInt) throws {
        let pair = TLSPair(try .test(), TLSClient(version: version))
        try pair.shakeHands()
        pair.client.write([1, 2, 3])
        let record = pair.client.take()
        for byte in record.dropLast() {
            pair.socket.inbox.append([byte])
            for _ in 0..<3 { #expect(pair.receive().result == .wouldBlock) }
        }
        pair.socket.inbox.append([record[record.count - 1]])
        #expect(pair.receive().bytes == [1, 2, 3])
        // A key update and a part of the next record, after a read that fills its buffer.
        pair.client.write([4, 5])
        #expect(version == TLSClient.tls12 || pair.client.updateKeys())
        pair.client.write([6])
        let last = pair.client.take()
        pair.socket.inbox.append(Array(last.dropLast(2)))
        #expect(pair.receive(2).bytes == [4, 5])
        pair.owner.turn()
        for _ in 0..<3 { #expect(pair.receive().result == .wouldBlock) }
        pair.socket.inbox.append(Array(last.suffix(2)))
        #expect(pair.receive().bytes == [6])
    }

    @Test(
        "An invalid record after a full read is refused without another event", arguments: versions
    )
    func badRecordBehind(_ version: CInt) throws {
        let pair = TLSPair(try .test(), TLSClient(version: version))
        try pair.shakeHands()
        pair.client.write([1, 2, 3])
        pair.socket.inbox.append(pair.client.take() + [99, 3, 3, 0, 1, 0])
        #expect(pair.receive(3).bytes == [1, 2, 3])
        pair.owner.turn()
        #expect(pair.owner.inputs == 1)
        #expect(pair.receive().result == .invalidInput)
        #expect(pair.owner.failures.count == 1)
    }

    @Test("Key updates requested after our close_notify are not answered, and nothing is sent")
    func keyUpdateBehindEnd() throws {
        let pair = TLSPair(try .test(), TLSClient(version: TLSClient.tls13))
        try pair.shakeHands()
        pair.transport.shutdownWriting()
        pair.socket.sends = []
        pair.socket.fails = true
        for _ in 0..<3 {
            #expect(pair.client.updateKeys())
            pair.client.write([1])
            pair.sendFromClient()
            #expect(pair.receiveAll() == [1])
        }
        #expect(pair.socket.sends == [] && !pair.socket.interest.contains(.write))
    }

    @Test(
        "A failed socket ends the connection, and the transport does not wait for it",
        arguments: [false, true])
    func brokenSocket(_ blocksFirst: Bool) throws {
        let pair = TLSPair(try .test(), TLSClient(version: TLSClient.tls13))
        try pair.shakeHands()
        #expect(pair.client.updateKeys())
        if blocksFirst {
            pair.socket.credit = 0
            pair.sendFromClient()
            #expect(pair.receive().result == .wouldBlock)
            #expect(pair.socket.interest.contains(.write))
        }
        pair.socket.fails = true
        if !blocksFirst { pair.sendFromClient() }
        _ = pair.receive()
        pair.transport.becameWritable()
        #expect(!pair.socket.interest.contains(.write))
        let inputs = pair.owner.inputs
        pair.owner.turn()
        #expect(pair.owner.inputs == inputs + 1)
        #expect(pair.receive().result == .invalidInput)
    }

    @Test("Requested key updates are answered, up to a limit for a client that does not read")
    func keyUpdates() throws {
        let pair = TLSPair(try .test(), TLSClient(version: TLSClient.tls13))
        try pair.shakeHands()
        #expect(pair.client.updateKeys())
        pair.client.write([1])
        pair.sendFromClient()
        #expect(pair.receiveAll() == [1])
        #expect(pair.send([2]) == .done(1))
        #expect(pair.readByClient() == [2])
        // From now on it reads nothing, but sends content, so that the limit of empty records does
        // not apply.
        pair.socket.credit = 0
        var count = 0
        while count < 20_000, pair.owner.inputs == 0 {
            guard pair.client.updateKeys() else { break }
            pair.client.write([1])
            pair.sendFromClient()
            #expect(pair.receive().bytes == [1])
            pair.owner.turn()
            count += 1
        }
        // A response has 27 bytes, and at most 256 KiB of them are kept.
        #expect((9_700...9_720).contains(count))
        #expect(pair.receive().result == .invalidInput)
    }
}
