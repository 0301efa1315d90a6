import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import WebSocketFrames

@Suite("RFC 7692 section 7.2: compressed messages")
struct MessageDeflateTests {
    private static let limits = ContentDecodingLimits(outputBytes: 4 << 20)

    private func inflated(
        _ messages: [[UInt8]], keepsContext: Bool, by count: Int = .max,
        limits: ContentDecodingLimits = limits
    ) throws(CodecError) -> [String] {
        var inflater = try MessageInflater(limits: limits, keepsContext: keepsContext)
        var texts: [String] = []
        for message in messages {
            var output: [UInt8] = []
            for start in stride(from: 0, to: message.count, by: min(count, max(message.count, 1))) {
                let end = min(message.count, start + min(count, message.count))
                try inflater.inflate(message.span.extracting(start..<end), into: &output)
            }
            try inflater.finish(into: &output)
            texts.append(String(decoding: output, as: UTF8.self))
        }
        return texts
    }

    private static let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]

    /// The examples of section 7.2.3: the messages of a connection, and their texts.
    static let examples: [([[UInt8]], [String])] = [
        ([hello], ["Hello"]),
        ([hello, [0xF2, 0x00, 0x11, 0x00, 0x00]], ["Hello", "Hello"]),
        ([[0x00, 0x05, 0x00, 0xFA, 0xFF] + Array("Hello".utf8) + [0x00]], ["Hello"]),
        // A block with BFINAL set, as the only message and before another message.
        ([[0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]], ["Hello"]),
        (
            [[0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00], [0xF2, 0x00, 0x11, 0x00, 0x00]],
            ["Hello", "Hello"]
        ),
        (
            [[0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00]],
            ["Hello"]
        ),
        ([[0x00]], [""]),
        // Section 7.2.1 requires an empty block at the end, which may have BFINAL set.
        ([[0x01]], [""]),
        ([[0x00, 0x05, 0x00, 0xFA, 0xFF] + Array("Hello".utf8) + [0x01]], ["Hello"]),
        ([hello + [0x00, 0x00, 0xFF, 0xFF, 0x01], hello], ["Hello", "Hello"]),
    ]

    @Test("the RFC's examples are read, whole and in pieces", arguments: examples)
    func readsExamples(messages: [[UInt8]], texts: [String]) throws {
        for count in [1, 2, 3, 1_000] {
            #expect(try inflated(messages, keepsContext: true, by: count) == texts)
        }
    }

    @Test("A compressed message that is sent in 22,500 small pieces is received")
    func smallCompressedPieces() throws {
        let options = WebSocketOptions(messageBytes: 100_000)
        let deflate = DeflateExtension()
        var client = WebSocketMachine(role: .client, deflate: deflate, options: options, at: .zero)
        var output = ByteBuffer()
        let piece = Array("1234".utf8)
        let last = 90_000 / piece.count - 1
        for index in 0...last {
            try client.send(
                piece: piece.span, of: .binary, isLast: index == last, into: &output)
        }
        var server = WebSocketMachine(role: .server, deflate: deflate, options: options, at: .zero)
        var bytes = output.content
        var position = 0
        var answer = ByteBuffer()
        var received = 0
        unsafe bytes.withUnsafeMutableBufferPointer { bytes in
            var span = unsafe MutableSpan(_unsafeElements: bytes)
            while let event = server.next(&span, from: &position, at: .zero, into: &answer) {
                guard case .message(let message) = event else {
                    Issue.record("\(event)")
                    return
                }
                received += message.bytes.count
            }
        }
        #expect(received == 90_000)
    }

    @Test("without a kept context a message that refers to the previous one is refused")
    func needsContext() {
        let messages = [Self.hello, [0xF2, 0x00, 0x11, 0x00, 0x00]]
        #expect(throws: CodecError.self) { try inflated(messages, keepsContext: false) }
    }

    @Test("a message that ends inside of a block is refused")
    func refusesTruncated() {
        for count in 0..<Self.hello.count - 1 {
            #expect(throws: CodecError.self, "\(count) bytes") {
                try inflated([Array(Self.hello[..<count])], keepsContext: false)
            }
        }
    }

    @Test("the writer produces the bytes of the RFC's first example")
    func writesExample() throws {
        var deflater = try MessageDeflater()
        var output: [UInt8] = []
        deflater.deflate(Array("Hello".utf8).span, isLast: true, into: &output)
        #expect(output == Self.hello)
    }

    @Test("written messages are read with each size of the window", arguments: 8...15)
    func roundTrip(windowBits: Int) throws {
        var random = SeededGenerator(seed: UInt64(windowBits))
        for keepsContext in [false, true] {
            var deflater = try MessageDeflater(windowBits: windowBits, keepsContext: keepsContext)
            var (texts, messages) = ([String](), [[UInt8]]())
            for length in [0, 0, 1, 5, 300, 0, 5_000, 5_000, 70_000] {
                let text = String(
                    (0..<length).map { _ in
                        Character(["a", "b", "ä"].randomElement(using: &random) ?? "c")
                    })
                var output: [UInt8] = []
                // In two pieces, of which either may be empty.
                let bytes = Array(text.utf8)
                let cut = Int.random(in: 0...bytes.count, using: &random)
                deflater.deflate(bytes.span.extracting(..<cut), isLast: false, into: &output)
                deflater.deflate(bytes.span.extracting(cut...), isLast: true, into: &output)
                texts.append(text)
                messages.append(output)
            }
            #expect(try inflated(messages, keepsContext: keepsContext) == texts)
            #expect(try inflated(messages, keepsContext: keepsContext, by: 7) == texts)
        }
    }

    @Test("a stream of a pool is used for several messages, one after another")
    func poolIsShared() throws {
        let pool = ContentCodingPool(idleLimit: 1)
        for index in 0..<3 {
            var output: [UInt8] = []
            do {
                var deflater = try MessageDeflater(pool: pool)
                deflater.deflate(Array("Hello".utf8).span, isLast: true, into: &output)
            }
            #expect(output == Self.hello, "message \(index)")
            #expect(pool.idleCount == 1)
        }
    }

    @Test(
        "a message above the limit is refused, one at the limit is not",
        arguments: [(99, true), (100, true), (101, false)])
    func outputLimit(count: Int, fits: Bool) throws {
        var deflater = try MessageDeflater()
        var message: [UInt8] = []
        deflater.deflate([UInt8](repeating: 0x41, count: count).span, isLast: true, into: &message)
        let limits = ContentDecodingLimits(outputBytes: 100)
        for step in [1, 1_000] {
            let found = Result { () throws(CodecError) in
                try inflated([message, message], keepsContext: false, by: step, limits: limits)
                    .count
            }
            switch found {
            case .success(let messages): #expect(fits && messages == 2)
            case .failure(let error): #expect(!fits && error.kind == .outputTooLong)
            }
        }
    }

    @Test("a message that expands more than 100:1 above 1 MiB is refused")
    func ratio() throws {
        for (size, fits) in [(1 << 20, true), (2 << 20, false)] {
            var deflater = try MessageDeflater()
            var message: [UInt8] = []
            deflater.deflate([UInt8](repeating: 0, count: size).span, isLast: true, into: &message)
            let found = Result { () throws(CodecError) in
                try inflated([message], keepsContext: false)
            }
            switch found {
            case .success: #expect(fits)
            case .failure(let error): #expect(!fits && error.kind == .ratioTooHigh)
            }
        }
    }
}
