import WebSocketFrames

/// A case of the Autobahn test suite: the frames that its client sends, and the expected result.
struct AutobahnRule: Sendable, CustomStringConvertible {
    var number: String
    var frames: [PlainFrame]
    /// The events in order, and the close code that is written.
    var expected: String
    /// The number of bytes after which an invalid stream must fail, in cases that check it.
    var failsAfter: Int?

    init(_ number: String, _ frames: [PlainFrame], _ expected: String, failsAfter: Int? = nil) {
        (self.number, self.frames, self.expected) = (number, frames, expected)
        self.failsAfter = failsAfter
    }

    var description: String { number }

    static let all: [AutobahnRule] =
        framing + pings + reservedBits + opcodes + fragmentation + text + closing + closeCodes

    private static func stars(_ count: Int) -> String { String(repeating: "*", count: count) }
    private static func bytes(_ count: Int) -> [UInt8] { Array(repeating: 0xFE, count: count) }
    private static let ok = "peer-1000 wrote-1000"
    private static let failed = "wrote-1002"

    static let framing: [AutobahnRule] = [0, 125, 126, 127, 128, 65_535, 65_536]
        .enumerated().flatMap { index, count in
            [
                AutobahnRule(
                    "1.1.\(index + 1)", [.text(stars(count)), .close()],
                    "text(\(count > 20 ? "\(count)" : "")) \(ok)"),
                AutobahnRule(
                    "1.2.\(index + 1)", [.binary(bytes(count)), .close()],
                    "binary(\(count)) \(ok)"),
            ]
        }

    static let pings: [AutobahnRule] = [
        AutobahnRule("2.1", [.ping(), .close()], "ping(0) \(ok)"),
        AutobahnRule("2.2", [.ping("Hello, world!"), .close()], "ping(13) \(ok)"),
        AutobahnRule(
            "2.3", [PlainFrame(opcode: 9, payload: [0, 0xFF, 0xFE, 0xFD]), .close()],
            "ping(4) \(ok)"),
        AutobahnRule(
            "2.4", [PlainFrame(opcode: 9, payload: bytes(125)), .close()], "ping(125) \(ok)"),
        AutobahnRule(
            "2.5", [PlainFrame(opcode: 9, payload: bytes(126)), .close()],
            "controlTooLong-1002 \(failed)", failsAfter: 2),
        AutobahnRule("2.7", [.pong(), .close()], "pong(0) \(ok)"),
        AutobahnRule("2.8", [.pong("unsolicited"), .close()], "pong(11) \(ok)"),
        AutobahnRule(
            "2.9", [.pong("unsolicited"), .ping("ping"), .close()], "pong(11) ping(4) \(ok)"),
        AutobahnRule(
            "2.10", (0..<10).map { .ping("payload-\($0)") } + [.close()],
            String(repeating: "ping(9) ", count: 10) + ok),
    ]

    static let reservedBits: [AutobahnRule] = [
        AutobahnRule(
            "3.1", [.text("x").reserving(4)], "reservedBits-1002 \(failed)", failsAfter: 1),
        AutobahnRule(
            "3.2", [.text("a"), .text("b").reserving(2), .ping()],
            "text(a) reservedBits-1002 \(failed)", failsAfter: 8),
        AutobahnRule(
            "3.3", [.text("a"), .text("b").reserving(3), .ping()],
            "text(a) reservedBits-1002 \(failed)", failsAfter: 8),
        AutobahnRule(
            "3.4", [.text("a"), .text("b").reserving(1), .ping()],
            "text(a) reservedBits-1002 \(failed)", failsAfter: 8),
        AutobahnRule(
            "3.5", [.binary([0]).reserving(5)], "reservedBits-1002 \(failed)", failsAfter: 1),
        AutobahnRule("3.6", [.ping().reserving(6)], "reservedBits-1002 \(failed)", failsAfter: 1),
        AutobahnRule("3.7", [.close().reserving(7)], "reservedBits-1002 \(failed)", failsAfter: 1),
    ]

    static let opcodes: [AutobahnRule] = [3, 11].flatMap { (first: UInt8) in
        (UInt8(0)..<5).map { index in
            let frame = PlainFrame(opcode: first + index, payload: index == 1 ? [1, 2] : [])
            let number = "4.\(first == 3 ? 1 : 2).\(index + 1)"
            guard index > 1 else {
                return AutobahnRule(
                    number, [frame, .ping()], "reservedOpcode-1002 \(failed)", failsAfter: 1)
            }
            return AutobahnRule(
                number, [.text("a"), frame, .ping()], "text(a) reservedOpcode-1002 \(failed)",
                failsAfter: 8)
        }
    }

    private static func fragments(_ count: Int, ping: Bool) -> [PlainFrame] {
        (0..<count).flatMap { index -> [PlainFrame] in
            let (word, isFinal) = ("f\(index)", index == count - 1)
            return [
                index == 0 ? .text(word, isFinal: isFinal) : .continuation(word, isFinal: isFinal)
            ] + (ping && !isFinal ? [.ping("p")] : [])
        }
    }

    static let fragmentation: [AutobahnRule] = [
        AutobahnRule(
            "5.1", [PlainFrame(opcode: 9, isFinal: false), .continuation("x")],
            "fragmentedControl-1002 \(failed)", failsAfter: 1),
        AutobahnRule(
            "5.2", [PlainFrame(opcode: 10, isFinal: false), .continuation("x")],
            "fragmentedControl-1002 \(failed)", failsAfter: 1),
        AutobahnRule("5.3", fragments(2, ping: false) + [.close()], "text(f0f1) \(ok)"),
        AutobahnRule("5.6", fragments(2, ping: true) + [.close()], "ping(1) text(f0f1) \(ok)"),
        AutobahnRule(
            "5.9", [.continuation("x"), .text("a")], "unexpectedContinuation-1002 \(failed)",
            failsAfter: 1),
        AutobahnRule(
            "5.12", [.continuation("x", isFinal: false), .text("a")],
            "unexpectedContinuation-1002 \(failed)", failsAfter: 1),
        AutobahnRule(
            "5.15", fragments(2, ping: false) + [.continuation("x", isFinal: false), .text("a")],
            "text(f0f1) unexpectedContinuation-1002 \(failed)", failsAfter: 17),
        AutobahnRule(
            "5.16",
            [.continuation("x", isFinal: false), .text("a", isFinal: false), .continuation("b")],
            "unexpectedContinuation-1002 \(failed)", failsAfter: 1),
        AutobahnRule(
            "5.17", [.continuation("x"), .text("a", isFinal: false), .continuation("b")],
            "unexpectedContinuation-1002 \(failed)", failsAfter: 1),
        AutobahnRule(
            "5.18", [.text("a", isFinal: false), .text("b")],
            "unfinishedMessage-1002 \(failed)", failsAfter: 8),
        AutobahnRule(
            "5.19", fragments(5, ping: true) + [.close()],
            "ping(1) ping(1) ping(1) ping(1) text(f0f1f2f3f4) \(ok)"),
    ]
}
