import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import WebSocketFrames

/// The parameters of compression in Autobahn's families 12 and 13.
struct DeflateFamily: Sendable, CustomStringConvertible {
    var description: String
    var deflate: DeflateExtension?

    static let all = [
        DeflateFamily(description: "none", deflate: nil),
        DeflateFamily(description: "12 and 13.1", deflate: kept(15)),
        DeflateFamily(description: "13.2", deflate: DeflateExtension()),
        DeflateFamily(description: "13.3", deflate: kept(9)),
        DeflateFamily(description: "13.4", deflate: kept(15)),
        DeflateFamily(
            description: "13.5", deflate: DeflateExtension(serverWindowBits: 9, clientWindowBits: 9)
        ),
        DeflateFamily(
            description: "13.6", deflate: DeflateExtension(serverWindowBits: 8, clientWindowBits: 8)
        ),
        DeflateFamily(description: "13.7", deflate: kept(8)),
    ]

    private static func kept(_ bits: Int) -> DeflateExtension {
        DeflateExtension(
            serverKeepsContext: true, clientKeepsContext: true, serverWindowBits: bits,
            clientWindowBits: bits)
    }
}

@Suite("Exchange between server and client; Autobahn test suite, families 12 and 13")
struct DialogueTests {
    /// Passes bytes from one machine to the other.
    private static func carry(
        _ output: inout ByteBuffer, cutAt cut: Int, to machine: inout WebSocketMachine,
        answers: inout ByteBuffer
    ) -> [WebSocketEvent] {
        let bytes = output.content
        output.removeAll()
        let cut = min(cut, bytes.count)
        return machine.receive(Array(bytes[..<cut]), into: &answers)
            + machine.receive(Array(bytes[cut...]), into: &answers)
    }

    private static let messages: [WebSocketMessage] = [
        .text("Grüße"), .binary([0, 1, 2, 255]), .text(""),
        .text(String(repeating: "ab", count: 40)),
        .binary([UInt8](repeating: 9, count: 50)),
    ]

    @Test(
        "server and client exchange messages, ping and close, split at each position",
        arguments: DeflateFamily.all)
    func dialogue(_ family: DeflateFamily) throws {
        var (cut, length) = (0, 1)
        while cut <= length {
            length = try dialogue(family, cutAt: cut)
            cut += 1
        }
        #expect(cut > 90)
    }

    /// - Returns: the number of bytes that the client sent.
    private func dialogue(_ family: DeflateFamily, cutAt cut: Int) throws -> Int {
        let options = WebSocketOptions(compressionFloor: 0)
        var client = WebSocketMachine(
            role: .client, deflate: family.deflate, options: options, at: .zero)
        var server = WebSocketMachine(
            role: .server, deflate: family.deflate, options: options, at: .zero)
        var requests = ByteBuffer()
        var answers = ByteBuffer()
        for message in Self.messages { try client.send(message, into: &requests) }
        try client.send(piece: [0xC3].span, of: .text, isLast: false, into: &requests)
        try client.ping([7], into: &requests)
        try client.send(piece: [0xA4].span, of: .text, isLast: true, into: &requests)
        client.close(.normal, reason: "done", at: .zero, into: &requests)
        let count = requests.count
        let read = Self.carry(&requests, cutAt: cut, to: &server, answers: &answers)
        let end = WebSocketEnd(.normal, reason: "done", cause: .peer)
        #expect(
            read == Self.messages.map { .message($0) }
                + [.ping([7]), .message(.text("ä")), .closed(end)])
        #expect(server.closesTransport == true)
        let answered = Self.carry(&answers, cutAt: cut, to: &client, answers: &requests)
        #expect(answered == [.pong([7]), .closed(WebSocketEnd(.normal, cause: .local))])
        #expect(client.transportEnded() == nil)
        return count
    }

    @Test(
        "messages of all sizes are exchanged in both directions, whole and in fragments",
        arguments: DeflateFamily.all)
    func echo(_ family: DeflateFamily) async throws {
        var random = SeededGenerator(seed: 3)
        for fragmentBytes in [Int.max, 256] {
            let options = WebSocketOptions(fragmentBytes: fragmentBytes)
            let pool = ContentCodingPool()
            var client = WebSocketMachine(
                role: .client, deflate: family.deflate, options: options, pool: pool, at: .zero)
            var server = WebSocketMachine(
                role: .server, deflate: family.deflate, options: options, pool: pool, at: .zero)
            for size in [16, 64, 256, 511, 512, 1_024, 4_096, 8_192, 16_384, 65_536, 131_072] {
                for isText in [true, false] {
                    // Gives other tests time to handle responses.
                    await Task.yield()
                    let letters = (0..<size).map { index in
                        UInt8(ascii: "a")
                            + UInt8.random(in: 0...(index / 64 % 2 == 0 ? 3 : 25), using: &random)
                    }
                    let message: WebSocketMessage =
                        isText ? .text(String(decoding: letters, as: UTF8.self)) : .binary(letters)
                    var there = ByteBuffer()
                    var back = ByteBuffer()
                    try client.send(message, into: &there)
                    if family.deflate != nil, family.deflate?.clientWindowBits ?? 0 > 8, size >= 512
                    {
                        #expect(PlainFrame.read(there.content).first?.reserved == 4)
                        #expect(there.count < size)
                    }
                    let cut = Int.random(in: 0...there.count, using: &random)
                    let read = Self.carry(&there, cutAt: cut, to: &server, answers: &back)
                    #expect(read == [.message(message)])
                    try server.send(message, into: &back)
                    #expect(
                        Self.carry(&back, cutAt: cut, to: &client, answers: &there) == [
                            .message(message)
                        ])
                    if size < 512 {
                        #expect(PlainFrame.read(back.content).allSatisfy { $0.reserved == 0 })
                    }
                }
            }
        }
    }

    @Test(
        "a compressed stream has the same events at every split",
        arguments: DeflateFamily.all.filter { $0.deflate != nil })
    func compressedSplits(_ family: DeflateFamily) throws {
        let deflate = try #require(family.deflate)
        var sender = WebSocketMachine(
            role: .client, deflate: deflate, options: .init(compressionFloor: 0), at: .zero)
        var output = ByteBuffer()
        for message in Self.messages { try sender.send(message, into: &output) }
        var streams = [output.content]
        // The last byte of the stream is changed.
        streams.append(streams[0].dropLast() + [streams[0][streams[0].count - 1] ^ 0xFF])
        // Invalid text in a compressed message, then an invalid block.
        let invalid: [UInt8] = [0xC1, 0x06, 0x00, 0x02, 0x00, 0xFD, 0xFF, 0xFF]
        streams.append(
            PlainFrame(opcode: 1, reserved: 4, payload: Array(invalid[2...]) + [0x80, 0xFF]).bytes(
                by: .client))
        streams.append(PlainFrame(opcode: 1, reserved: 4, payload: [0x07]).bytes(by: .client))
        for stream in streams {
            for deliversPieces in [false, true] {
                let (_, disagreement) = WebSocketMachine.checkedOutcome(
                    of: stream, deflate: deflate, options: .init(deliversPieces: deliversPieces))
                #expect(disagreement == nil)
            }
        }
    }

    @Test("a compressed message with an invalid block, text or size fails")
    func compressedFailures() throws {
        func outcome(_ payload: [UInt8], opcode: UInt8 = 1, limit: Int64 = 100) -> String {
            let frame = PlainFrame(opcode: opcode, reserved: 4, payload: payload)
            return WebSocketMachine.checkedOutcome(
                of: frame.bytes(by: .client), deflate: DeflateExtension(),
                options: .init(messageBytes: limit)
            ).outcome.description
        }
        #expect(outcome([0x07]) == "invalidCompressedData-1007 wrote-1007")
        #expect(
            outcome([0x00, 0x02, 0x00, 0xFD, 0xFF, 0xC3, 0x28, 0x00])
                == "invalidText-1007 wrote-1007")
        var deflater = try MessageDeflater()
        for (count, fits) in [(99, true), (100, true), (101, false)] {
            var payload: [UInt8] = []
            deflater.deflate(
                [UInt8](repeating: 0x41, count: count).span, isLast: true, into: &payload)
            #expect(
                outcome(payload, opcode: 2)
                    == (fits ? "binary(\(count))" : "messageTooLong-1009 wrote-1009"))
        }
        var bomb: [UInt8] = []
        deflater.deflate([UInt8](repeating: 0, count: 3 << 20).span, isLast: true, into: &bomb)
        #expect(outcome(bomb, opcode: 2, limit: 1 << 30) == "ratioTooHigh-1009 wrote-1009")
    }
}
