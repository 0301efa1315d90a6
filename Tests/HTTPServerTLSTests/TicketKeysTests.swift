import TestSupport
import Testing
import ToolkitSystem

@testable import HTTPServerTLS

@Suite("RFC 5077: keys of session tickets")
struct TicketKeysTests {
    private static let versions = [TLSClient.tls12, TLSClient.tls13]

    private func table(_ keys: TicketKeys) throws -> CertificateTable {
        let pair = try MadeCertificate.common.get().pair
        return try CertificateTable(TLSConfiguration(certificates: [pair]), keys: keys)
    }

    private func session(_ table: CertificateTable, _ version: CInt) throws -> TLSClient.Session {
        let pair = TLSPair(table, TLSClient(version: version))
        try pair.shakeHands()
        // The ticket of TLS 1.3 is read with the content.
        _ = pair.send([1])
        _ = pair.readByClient()
        return try #require(pair.client.session)
    }

    private func isResumed(
        _ table: CertificateTable, _ version: CInt, _ session: TLSClient.Session
    ) throws -> Bool {
        let pair = TLSPair(table, TLSClient(version: version, session: session))
        try pair.shakeHands()
        #expect(pair.owner.facts.security?.value.isResumed == pair.client.isResumed)
        return pair.client.isResumed
    }

    @Test(
        "A session is resumed by another table with the same keys, but not with other keys",
        arguments: versions)
    func resumption(_ version: CInt) throws {
        let keys = try TicketKeys(now: 0)
        let session = try session(try table(keys), version)
        #expect(try isResumed(try table(keys), version, session))
        #expect(try !isResumed(try table(try TicketKeys(now: 0)), version, session))
    }

    @Test("RFC 8446 appendix C.4: each connection gets a new ticket, also resumed ones")
    func newTickets() throws {
        let table = try table(try TicketKeys(now: 0))
        var session = try session(table, TLSClient.tls13)
        var tickets: Set = [session.ticket]
        for count in 2...5 {
            let pair = TLSPair(table, TLSClient(version: TLSClient.tls13, session: session))
            try pair.shakeHands()
            #expect(pair.client.isResumed)
            _ = pair.send([1])
            _ = pair.readByClient()
            session = try #require(pair.client.session)
            tickets.insert(session.ticket)
            #expect(tickets.count == count)
        }
    }

    @Test("A key is used for three periods, and then discarded", arguments: versions)
    func rotation(_ version: CInt) throws {
        let keys = try TicketKeys(now: 0)
        let table = try table(keys)
        let session = try session(table, version)
        for (time, isKnown) in [
            (TicketKeys.period - 1, true), (TicketKeys.period, true),
            (2 * TicketKeys.period, true), (3 * TicketKeys.period, false),
        ] {
            keys.rotate(now: time)
            #expect(try isResumed(table, version, session) == isKnown, "\(time)")
        }
    }

    @Test(
        "A key is discarded after three periods even without any connection meanwhile",
        arguments: [(1, true), (2, true), (3, false), (4, false), (1_000, false)])
    func pause(_ periods: UInt64, _ isKnown: Bool) throws {
        let keys = try TicketKeys(now: 0)
        let table = try table(keys)
        let session = try session(table, TLSClient.tls12)
        keys.rotate(now: periods * TicketKeys.period)
        #expect(try isResumed(table, TLSClient.tls12, session) == isKnown)
    }

    @Test(
        "A ticket is not accepted after three periods, even if keys are rotated late",
        arguments: versions)
    func lateRotations(_ version: CInt) throws {
        let keys = try TicketKeys(now: 0)
        let table = try table(keys)
        let session = try session(table, version)
        keys.rotate(now: 2 * TicketKeys.period - 1)
        #expect(try isResumed(table, version, session))
        keys.rotate(now: 4 * TicketKeys.period - 2)
        #expect(try !isResumed(table, version, session))
    }

    @Test(
        "Only a file of whole keys of 80 bytes is accepted",
        arguments: [0, 1, 79, 80, 81, 160, 240, 241, 320])
    func file(_ count: Int) throws {
        let keys = try TicketKeys(now: 0)
        let bytes = [UInt8](repeating: 7, count: count)
        guard count % 80 != 0 || count == 0 else { return try keys.use(bytes, from: "k") }
        let error = #expect(throws: TLSError.self) { try keys.use(bytes, from: "k") }
        #expect(
            error?.description
                == "k: the file cannot be used: expected keys of 80 bytes each, found \(count) bytes"
        )
    }

    @Test("Servers with keys of the same file resume each other's sessions, without new keys")
    func shared() throws {
        let bytes = (0..<240).map { UInt8($0) }
        let (one, two) = (try TicketKeys(now: 0), try TicketKeys(now: 0))
        for keys in [one, two] { try keys.use(bytes, from: "k") }
        two.rotate(now: .max - 1)
        let session = try session(try table(one), TLSClient.tls13)
        #expect(try isResumed(try table(two), TLSClient.tls13, session))
        // The file has a new first key, and the other keys are moved by one.
        try two.use([UInt8](repeating: 9, count: 80) + bytes.prefix(160), from: "k")
        #expect(try isResumed(try table(two), TLSClient.tls13, session))
    }
}
