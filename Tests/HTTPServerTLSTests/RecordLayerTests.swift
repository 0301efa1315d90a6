import CTLSShims
import Testing

@testable import HTTPServerTLS

@Suite("RFC 8446 section 5: records after the handshake")
struct RecordLayerTests {
    private static let suites: [UInt32] = [0x1301, 0x1302, 0x1303]

    @Test("A connection that could not be allocated has no pending bytes")
    func noConnection() {
        let connection: UnsafeMutableRawPointer? = nil
        #expect(unsafe http_tls_pending(connection) == 0)
    }

    /// One side of a connection, and the buffer that it writes to.
    @safe
    private final class Side {
        let layer: RecordLayer
        let room = TLSRoom()
        let suite: UInt32
        private let secret: [UInt8]
        private var sealed: UInt64 = 0
        private var forger: UnsafeMutableRawPointer?

        init(_ suite: UInt32, receiving: [UInt8], sending: [UInt8], keyLimit: UInt64 = 1 << 24)
            throws
        {
            self.suite = suite
            secret = sending
            layer = try #require(
                RecordLayer(
                    suite: suite, receiving: receiving, sending: sending, keyLimit: keyLimit))
        }

        deinit { unsafe http_tls_direction_free(forger) }

        func takeOutput() -> [UInt8] {
            defer { room.clearOutput() }
            return unsafe Array(room.output)
        }

        func seal(_ bytes: [UInt8]) throws -> [UInt8] {
            try unsafe bytes.withUnsafeBytes { try unsafe layer.seal($0, into: room) }
            return takeOutput()
        }

        /// Seals a record that a correct peer does not send, with a separate sequence number.
        func forge(_ type: UInt8, _ content: [UInt8]) throws -> [UInt8] {
            if unsafe forger == nil { unsafe forger = http_tls_direction(suite, secret, 1) }
            let done = unsafe http_tls_seal(
                forger, room.shared, sealed, type, content, content.count)
            try #require(done == 1)
            sealed += 1
            return takeOutput()
        }

        /// Opens one record.
        func open(_ record: [UInt8]) throws -> (RecordLayer.Opened, [UInt8]) {
            var text = [UInt8](repeating: 0xaa, count: max(record.count, 1))
            let opened = try unsafe text.withUnsafeMutableBytes { text in
                guard let base = text.baseAddress else { return RecordLayer.Opened.nothing }
                return try unsafe record.withUnsafeBytes { try unsafe layer.open($0, into: base) }
            }
            if case .data(let count) = opened { return (opened, Array(text[..<count])) }
            return (opened, [])
        }

        /// Opens all records of a stream; returns their application data and number of key updates.
        func openAll(_ stream: [UInt8]) throws -> (data: [UInt8], keyUpdates: Int) {
            var rest = stream
            var data: [UInt8] = []
            var keyUpdates = 0
            while let size = try unsafe rest.withUnsafeBytes({
                try unsafe RecordLayer.sizeOfFirst(in: $0)
            }) {
                let (opened, bytes) = try open(Array(rest[..<size]))
                data += bytes
                if case .keyUpdate = opened { keyUpdates += 1 }
                rest.removeFirst(size)
            }
            #expect(rest == [])
            return (data, keyUpdates)
        }
    }

    /// A server and its client.
    private func sides(
        _ suite: UInt32 = 0x1301, keyLimit: UInt64 = 1 << 24
    ) throws -> (server: Side, client: Side) {
        let size = suite == 0x1302 ? 48 : 32
        let one = (0..<size).map { UInt8($0) }
        let other = (0..<size).map { UInt8(200 - $0) }
        return (
            try Side(suite, receiving: one, sending: other, keyLimit: keyLimit),
            try Side(suite, receiving: other, sending: one)
        )
    }

    private func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = Array(hexadecimal.filter { !$0.isWhitespace })
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(digits[$0...($0 + 1)]), radix: 16)
        }
    }

    @Test("RFC 8448 section 3: the records of the example are opened and sealed")
    func example() throws {
        let client = bytes("9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5")
        let server = bytes("a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643")
        let side = try Side(0x1301, receiving: client, sending: server)
        let content = (0..<50).map { UInt8($0) }
        let (opened, data) = try side.open(
            bytes(
                """
                1703030043a23f7054b62c94d0affafe8228ba55cbefacea42f914aa66bcab3f2b9819a8a5b46b395bd54a
                9a20441e2b62974e1f5a6292a2977014bd1e3deae63aeebb21694915e4
                """))
        #expect(opened == .data(50) && data == content)
        #expect(try side.open(bytes("1703030013c9872760655666b74d7ff1153efd6db6d0b0e3")).0 == .end)
        // The first record of the example is the ticket.
        _ = try side.seal([1])
        #expect(
            try side.seal(content)
                == bytes(
                    """
                    17030300432e937e11ef4ac740e538ad36005fc4a46932fc3225d05f82aa1b36e30efaf97d90e6dffc
                    602dcb501a59a8fcc49c4bf2e5f0a21c0047c2abf332540dd032e167c2955d
                    """))
        try side.layer.seal(alert: 0, into: side.room)
        #expect(side.takeOutput() == bytes("1703030013b58fd67166ebf599d24720cfbe7efa7a8864a9"))
    }

    @Test(
        "Content of any size is sealed in the fewest records, and opened again",
        arguments: suites)
    func sizes(_ suite: UInt32) throws {
        let (server, client) = try sides(suite)
        for size in [1, 2, 15, 16, 17, 1_000, 16_383, 16_384, 16_385, 40_000] {
            let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            let records = try server.seal(content)
            #expect(records.count == size + (size + 16_383) / 16_384 * 22, "\(size)")
            #expect(try client.openAll(records).data == content, "\(size)")
            #expect(try server.openAll(client.seal(content)).data == content, "\(size)")
        }
        #expect(try server.seal([]) == [])
    }

    @Test("Both sides change to their next keys", arguments: suites)
    func keyUpdates(_ suite: UInt32) throws {
        let (server, client) = try sides(suite)
        for _ in 0..<3 {
            let before = try server.seal([1])
            try server.layer.updateKeys(into: server.room)
            let update = server.takeOutput()
            let behind = try server.seal([2])
            #expect(try client.open(before).1 == [1])
            #expect(try client.open(update).0 == .keyUpdate(isRequest: false))
            #expect(try client.open(behind).1 == [2])
            // The other direction has separate keys.
            #expect(try server.open(client.seal([3])).1 == [3])
        }
    }

    @Test("RFC 8446 section 5.5: a key seals at most the limit of records")
    func keyLimit() throws {
        let (server, client) = try sides(keyLimit: 4)
        var stream: [UInt8] = []
        for number in 0..<UInt8(12) { stream += try server.seal([number]) }
        // Of four records, three contain content, and the last one announces the next key.
        let (data, keyUpdates) = try client.openAll(stream)
        #expect(data == Array(0..<12))
        #expect(keyUpdates == 2)
    }

    @Test(
        "A record that is changed, cut, reordered, repeated or from this side is refused",
        arguments: suites)
    func changes(_ suite: UInt32) throws {
        let (server, client) = try sides(suite)
        let record = try client.seal([1, 2, 3])
        for index in record.indices where index != 0 {
            var changed = record
            changed[index] ^= 1
            #expect(throws: RecordLayer.Failure.badRecord, "\(index)") { try server.open(changed) }
        }
        for count in 0..<record.count {
            #expect(throws: RecordLayer.Failure.badRecord, "\(count)") {
                try server.open(Array(record[..<count]))
            }
        }
        let second = try client.seal([4])
        #expect(throws: RecordLayer.Failure.badRecord) { try server.open(second) }
        #expect(try server.open(record).1 == [1, 2, 3])
        #expect(throws: RecordLayer.Failure.badRecord) { try server.open(record) }
        #expect(try server.open(second).1 == [4])
        #expect(throws: RecordLayer.Failure.badRecord) { try server.open(server.seal([5])) }
    }

    @Test(
        "The size of the first record is read from the beginning of a stream",
        arguments: [
            ([], nil), ([23, 3, 3, 0], nil), ([23, 3, 3, 0, 1], nil), ([23, 3, 3, 0, 1, 9], 6),
            ([23, 3, 3, 0, 1, 9, 23], 6), ([23, 3, 3, 0, 0], 5), ([23, 3, 1, 0, 1, 9], 6),
            ([23, 3, 3, 0x41, 0], nil),
        ] as [([UInt8], Int?)])
    func firstSize(_ stream: [UInt8], _ size: Int?) throws {
        #expect(
            try unsafe stream.withUnsafeBytes { try unsafe RecordLayer.sizeOfFirst(in: $0) } == size
        )
    }

    @Test(
        "An invalid record is refused at its first five bytes",
        arguments: [
            ([20, 3, 3, 0, 1, 1], 10), ([21, 3, 3, 0, 2, 2, 40], 10), ([22, 3, 3, 0, 1], 10),
            ([0, 0, 0, 0, 0], 10), ([255, 0, 0, 0, 0], 10), ([23, 3, 3, 0x41, 1], 22),
            ([23, 3, 3, 0xff, 0xff], 22),
        ] as [([UInt8], UInt8)])
    func badBeginnings(_ stream: [UInt8], _ alert: UInt8) {
        let failure = #expect(throws: RecordLayer.Failure.self) {
            try unsafe stream.withUnsafeBytes { try unsafe RecordLayer.sizeOfFirst(in: $0) }
        }
        #expect(failure?.alert == alert)
    }

    /// Contents of records that a client with the right keys sends.
    private static let meanings:
        [(type: UInt8, content: [UInt8], opened: RecordLayer.Opened?, alert: UInt8?)] = [
            (23, [], .nothing, nil),
            // Padding, of any length (section 5.4).
            (0, [7, 23], .data(1), nil),
            (0, [7, 23, 0, 0, 0, 0], .data(1), nil),
            (0, [23] + [UInt8](repeating: 0, count: 16_383), .nothing, nil),
            (0, [23] + [UInt8](repeating: 0, count: 16_384), nil, 22),
            (0, [], nil, 10),
            (0, [0, 0, 0], nil, 10),
            (23, [UInt8](repeating: 1, count: 16_385), nil, 22),
            // Unknown types.
            (19, [1], nil, 10),
            (24, [1], nil, 10),
            (255, [], nil, 10),
            // change_cipher_spec is never encrypted.
            (20, [1], nil, 10),
            (21, [1, 0], .end, nil),
            (21, [2, 0], .end, nil),
            (21, [1, 90], .nothing, nil),
            (21, [1, 20], nil, nil),
            (21, [2, 40], nil, nil),
            (21, [], nil, 10),
            (21, [1], nil, 50),
            (21, [1, 0, 1], nil, 50),
            (22, [24, 0, 0, 1, 0], .keyUpdate(isRequest: false), nil),
            (22, [24, 0, 0, 1, 1], .keyUpdate(isRequest: true), nil),
            (22, [24, 0, 0, 1, 2], nil, 47),
            (22, [24, 0, 0, 0], nil, 50),
            (22, [24, 0, 0, 2, 0, 0], nil, 50),
            // No bytes may follow it with the old keys.
            (22, [24, 0, 0, 1, 0, 24, 0, 0, 1, 0], nil, 50),
            (22, [], nil, 10),
            (22, [24], nil, 10),
            (22, [1, 0, 0, 1, 0], nil, 10),
            (22, [11, 0, 0, 0], nil, 10),
        ]

    @Test("Each content of a record is handled according to the specification", arguments: meanings)
    func contents(
        _ type: UInt8, _ content: [UInt8], _ opened: RecordLayer.Opened?, _ alert: UInt8?
    ) throws {
        let (server, client) = try sides()
        let record = try client.forge(type, content)
        guard let opened else {
            let failure = #expect(throws: RecordLayer.Failure.self) { try server.open(record) }
            #expect(failure?.alert == alert)
            return
        }
        #expect(try server.open(record).0 == opened)
    }

    @Test("32 records without content in a row are accepted, and the 33rd is refused")
    func silence() throws {
        let (server, client) = try sides()
        for _ in 0..<3 {
            for _ in 0..<32 { #expect(try server.open(client.forge(23, [])).0 == .nothing) }
            #expect(try server.open(client.forge(23, [1])).0 == .data(1))
        }
        for _ in 0..<32 { _ = try server.open(client.forge(21, [1, 90])) }
        let failure = #expect(throws: RecordLayer.Failure.self) {
            try server.open(client.forge(23, []))
        }
        #expect(failure?.alert == 10)
    }

    @Test("There is no record layer for other cipher suites")
    func otherSuites() {
        let secret = [UInt8](repeating: 1, count: 48)
        for suite: UInt32 in [0, 0x1300, 0x1304, 0x1305, 0xc02b] {
            #expect(RecordLayer(suite: suite, receiving: secret, sending: secret) == nil)
        }
    }
}
