import HTTPParser
import TestSupport
import Testing
import WebSocketFrames

extension FrameParser {
    /// Headers and payloads of a stream that arrives in pieces, then the error, as text.
    static func reading(
        _ pieces: [ArraySlice<UInt8>], role: WebSocketRole = .server, limit: Int64 = 1 << 20,
        allowsCompression: Bool = false
    ) -> [String] {
        var parser = FrameParser(
            role: role, messageLimit: limit, allowsCompression: allowsCompression)
        var (found, payload) = ([String](), [UInt8]())
        do throws(WebSocketError) {
            for piece in pieces { try parser.read(Array(piece), &found, &payload) }
        } catch {
            found.append("\(error)")
        }
        return found
    }

    private mutating func read(
        _ bytes: [UInt8], _ found: inout [String], _ payload: inout [UInt8]
    ) throws(WebSocketError) {
        var (bytes, position) = (bytes, 0)
        while let event = try next(&bytes, from: &position) {
            switch event {
            case .header(let header):
                let marks = (header.isFinal ? "" : "+") + (header.isCompressed ? "z" : "")
                found.append("\(header.opcode)\(marks) \(header.length)")
                payload = []
            case .payload(let range): payload += bytes[range]
            case .end: found.append(payload.count > 20 ? "\(payload.count)" : Escapes.text(payload))
            }
        }
    }

    private mutating func next(
        _ bytes: inout [UInt8], from position: inout Int
    ) throws(WebSocketError) -> Event? {
        try unsafe bytes.withUnsafeMutableBufferPointer { buffer throws(WebSocketError) in
            var span = unsafe MutableSpan(_unsafeElements: buffer)
            return try next(&span, from: &position)
        }
    }
}

/// Bytes of frames, and the events of the parser.
struct FrameCase: Sendable, CustomStringConvertible {
    var description: String
    var bytes: [UInt8]
    var role = WebSocketRole.client
    var limit: Int64 = 1 << 20
    var allowsCompression = false
    var found: [String]

    init(
        _ description: String, _ bytes: [UInt8], role: WebSocketRole = .client,
        limit: Int64 = 1 << 20, allowsCompression: Bool = false, _ found: String...
    ) {
        (self.description, self.bytes, self.role) = (description, bytes, role)
        (self.limit, self.allowsCompression, self.found) = (limit, allowsCompression, found)
    }

    static let all = examples + masks + lengths + limits + compression

    private static let hello = Array("Hello".utf8)

    /// The examples of section 5.7.
    static let examples = [
        FrameCase("an unmasked text", [0x81, 0x05] + hello, "text 5", "Hello"),
        FrameCase(
            "a masked text", [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58],
            role: .server, "text 5", "Hello"),
        FrameCase(
            "a fragmented text", [0x01, 0x03] + hello[..<3] + [0x80, 0x02] + hello[3...],
            "text+ 3", "Hel", "continuation 2", "lo"),
        FrameCase("a ping", [0x89, 0x05] + hello, "ping 5", "Hello"),
        FrameCase(
            "256 bytes", [0x82, 0x7E, 0x01, 0x00] + [UInt8](repeating: 7, count: 256),
            "binary 256", "256"),
        FrameCase(
            "64 KiB", [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0] + [UInt8](repeating: 7, count: 65_536),
            "binary 65536", "65536"),
    ]

    static let masks = [
        FrameCase(
            "a server's frame with a mask", [0x88, 0x00, 0x81, 0x80], "close 0", "",
            "unexpected mask in the frame at byte 2"),
        FrameCase(
            "a client's frame without a mask", [0x81, 0x00], role: .server,
            "missing mask in the frame at byte 0"),
    ]

    static let lengths = [
        FrameCase(
            "125 as 16 bits", [0x82, 126, 0, 125], "length not minimal in the frame at byte 0"),
        FrameCase(
            "65,535 as 64 bits", [0x82, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF],
            "length not minimal in the frame at byte 0"),
        FrameCase("the top bit", [0x82, 127, 0x80], "length too large in the frame at byte 0"),
        FrameCase(
            "2^63 - 1", [0x82, 127, 0x7F] + [UInt8](repeating: 0xFF, count: 7),
            "message too long in the frame at byte 0"),
        FrameCase(
            "2^63 - 1 without a limit", [0x82, 127, 0x7F] + [UInt8](repeating: 0xFF, count: 7),
            limit: .max, "binary 9223372036854775807"),
        FrameCase(
            "a sum above 2^63 - 1",
            [0x02, 1, 0, 0x80, 127, 0x7F] + [UInt8](repeating: 0xFF, count: 7),
            limit: .max, "binary+ 1", #"\0"#, "message too long in the frame at byte 3"),
    ]

    static let limits = [
        FrameCase("below the limit", [0x82, 3, 1, 1, 1], limit: 4, "binary 3", #"\x01\x01\x01"#),
        FrameCase("at the limit", [0x82, 1, 1], limit: 1, "binary 1", #"\x01"#),
        FrameCase(
            "above the limit", [0x82, 2], limit: 1, "message too long in the frame at byte 0"),
        FrameCase(
            "fragments above the limit", [0x02, 1, 1, 0x00, 0, 0x00, 1], limit: 1,
            "binary+ 1", #"\x01"#, "continuation+ 0", "",
            "message too long in the frame at byte 5"),
        FrameCase(
            "control frames do not count", [0x02, 1, 1, 0x89, 1, 1, 0x80, 0], limit: 1,
            "binary+ 1", #"\x01"#, "ping 1", #"\x01"#, "continuation 0", ""),
    ]

    static let compression = [
        FrameCase("RSV1 of a text", [0xC1, 0], allowsCompression: true, "textz 0", ""),
        FrameCase(
            "RSV1 of a continuation", [0x41, 0, 0xC0, 0], allowsCompression: true,
            "text+z 0", "", "reserved bits in the frame at byte 2"),
        FrameCase(
            "RSV1 of a ping", [0xC9, 0], allowsCompression: true,
            "reserved bits in the frame at byte 0"),
        FrameCase(
            "RSV2", [0xA1, 0], allowsCompression: true, "reserved bits in the frame at byte 0"),
        FrameCase("RSV1 unasked", [0xC1, 0], "reserved bits in the frame at byte 0"),
    ]
}

@Suite("RFC 6455 section 5.2: frames")
struct FrameParserTests {
    @Test("frames are read as in the table at every split", arguments: FrameCase.all)
    func readsFrames(_ one: FrameCase) {
        let bytes = one.bytes
        func read(_ pieces: [ArraySlice<UInt8>]) -> [String] {
            FrameParser.reading(
                pieces, role: one.role, limit: one.limit, allowsCompression: one.allowsCompression)
        }
        #expect(read([bytes[...]]) == one.found)
        #expect(read(bytes.indices.map { bytes[$0...$0] }) == one.found)
        for cut in 0...min(bytes.count, 300) {
            #expect(read([bytes[..<cut], bytes[cut...]]) == one.found)
        }
    }

    @Test(
        "the writer's frames have the shortest form of their length",
        arguments: [0, 1, 125, 126, 127, 65_535, 65_536, 70_001])
    func writesFrames(count: Int) {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
        for role in [WebSocketRole.server, .client] {
            let key = role == .client ? MaskingKey(0x3D21_FA37) : nil
            var output = ByteBuffer()
            FrameWriter(role: role).write(payload.span, as: .binary, maskingKey: key, into: &output)
            #expect(output.content == PlainFrame.binary(payload).bytes(by: role))
            let header = WebSocketFrameHeader(.binary, length: Int64(count), maskingKey: key)
            #expect(output.count == header.byteCount + count)
        }
    }

    @Test("a message is written in fragments", arguments: [1, 2, 3, 9, 10, 11])
    func writesFragments(fragmentBytes: Int) {
        let payload = Array("0123456789".utf8)
        var output = ByteBuffer()
        FrameWriter(role: .server).writeMessage(
            payload.span, as: .text, fragmentBytes: fragmentBytes, into: &output)
        let frames = PlainFrame.read(output.content)
        #expect(frames.count == (10 + fragmentBytes - 1) / fragmentBytes)
        #expect(frames.flatMap(\.payload) == payload)
        #expect(frames.map(\.opcode) == [1] + frames.dropFirst().map { _ in 0 })
        #expect(frames.map(\.isFinal) == frames.dropLast().map { _ in false } + [true])
    }

    @Test("the mask is applied by exclusive or to payloads of any length")
    func masks() {
        var random = SeededGenerator(seed: 5)
        for count in Array(0...140) + [1_000, 4_099] {
            let plain = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let word = UInt32.random(in: 0...UInt32.max, using: &random)
            let mask = (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32($0 * 8)) }
            var masked = plain
            unsafe masked.withUnsafeMutableBufferPointer { buffer in
                var span = unsafe MutableSpan(_unsafeElements: buffer)
                MaskingKey(word).apply(to: &span)
            }
            #expect(masked == plain.enumerated().map { $0.element ^ mask[$0.offset % 4] })
        }
    }
}
