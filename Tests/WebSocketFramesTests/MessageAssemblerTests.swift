import HTTPParser
import TestSupport
import Testing
import WebSocketFrames

@Suite("RFC 6455 section 5.4: fragments; section 8.1: UTF-8")
struct MessageAssemblerTests {
    private func message(
        _ kind: WebSocketMessage.Kind, _ pieces: [[UInt8]], limit: Int64 = 1 << 20
    ) throws(WebSocketError) -> WebSocketMessage {
        var assembler = MessageAssembler(limit: limit)
        assembler.begin(kind)
        for piece in pieces { try assembler.append(piece.span) }
        return try assembler.finish()
    }

    @Test("fragments are joined to one message")
    func joins() throws {
        let pieces = "Grüße, 🌍!".utf8.map { [$0] }
        #expect(try message(.text, pieces) == .text("Grüße, 🌍!"))
        #expect(try message(.binary, pieces + [[0xFF]]).bytes == pieces.flatMap(\.self) + [0xFF])
        #expect(try message(.text, []) == .text(""))
    }

    @Test("the limit is the sum of all fragments", arguments: [(9, true), (10, true), (11, false)])
    func limits(count: Int, fits: Bool) throws {
        for size in [1, 2, 5, count] {
            let bytes = [UInt8](repeating: 0x41, count: count)
            let pieces = stride(from: 0, to: count, by: size).map {
                Array(bytes[$0..<min($0 + size, count)])
            }
            guard !fits else {
                #expect(try message(.text, pieces, limit: 10).bytes == bytes)
                continue
            }
            #expect(throws: WebSocketError(.messageTooLong)) {
                try message(.text, pieces, limit: 10)
            }
        }
    }

    @Test("text cut at each place is valid UTF-8 if the standard library accepts it")
    func agreesWithStandardLibrary() {
        var random = SeededGenerator(seed: 11)
        let letters: [[UInt8]] = [
            [0x61], [0xC3, 0xA4], [0xE2, 0x82, 0xAC], [0xF0, 0x9F, 0x8C, 0x8D], [0x80],
            [0xED, 0xA0],
            [0xF4, 0x90], [0xC0], [UInt8](repeating: 0x62, count: 40),
        ]
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0...6, using: &random)).flatMap { _ in
                letters[Int.random(in: 0..<letters.count, using: &random)]
            }
            let expected = String(validating: bytes, as: UTF8.self)
            for cut in stride(from: 0, through: bytes.count, by: max(1, bytes.count / 8)) {
                let found = Result { () throws(WebSocketError) in
                    try message(.text, [Array(bytes[..<cut]), Array(bytes[cut...])])
                }
                let right: Result<WebSocketMessage, WebSocketError> =
                    expected.map { .success(.text($0)) } ?? .failure(WebSocketError(.invalidText))
                #expect(found == right)
            }
        }
    }

    @Test("pieces are returned as they arrive, and count towards the limit")
    func pieces() throws {
        var assembler = MessageAssembler(limit: 4)
        assembler.begin(.text)
        try assembler.append([0x61, 0xC3].span)
        #expect(
            try assembler.takePiece(isLast: false)
                == WebSocketPiece(.text, [0x61, 0xC3], isLast: false))
        #expect(throws: WebSocketError(.invalidText)) { try assembler.takePiece(isLast: true) }
        try assembler.append([0xA4, 0x62].span)
        #expect(throws: WebSocketError(.messageTooLong)) { try assembler.append([0x63].span) }
        #expect(
            try assembler.takePiece(isLast: true)
                == WebSocketPiece(.text, [0xA4, 0x62], isLast: true))
    }

    @Test("an announced length takes no memory, and fragments only as much as their bytes")
    func memory() {
        var machine = WebSocketMachine(
            role: .client, options: .init(messageBytes: 1 << 40), at: .zero)
        var output = ByteBuffer()
        let announced: [UInt8] = [0x02, 127, 0, 0, 0, 0xFF, 0, 0, 0, 0]
        #expect(machine.receive(announced, into: &output).isEmpty)
        #expect(machine.bufferedCapacity == 0)
        var other = WebSocketMachine(role: .client, at: .zero)
        _ = other.receive([0x02, 0], into: &output)
        for index in 0..<10_000 {
            _ = other.receive(index % 10 == 0 ? [0x00, 1, 0x41] : [0x00, 0], into: &output)
        }
        #expect(other.bufferedCapacity >= 1_000)
        #expect(other.bufferedCapacity <= 4_096)
    }
}
