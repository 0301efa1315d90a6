import WebSocketFrames

// Families 6 and 7.
extension AutobahnRule {
    private static let kosme: [UInt8] = Array("κόσμε".utf8)
    private static let edited: [UInt8] = Array("edited".utf8)
    private static let ok = "peer-1000 wrote-1000"
    private static let wrong = "invalidText-1007 wrote-1007"

    private static func valid(_ number: String, _ texts: [[UInt8]]) -> [AutobahnRule] {
        texts.enumerated().map { index, bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            let shown = text.count > 20 ? "\(bytes.count)" : text
            return AutobahnRule(
                "\(number).\(index + 1)", [.text(bytes), .close()], "text(\(shown)) \(ok)")
        }
    }

    private static func invalid(_ number: String, _ texts: [[UInt8]]) -> [AutobahnRule] {
        texts.enumerated().map { index, bytes in
            AutobahnRule("\(number).\(index + 1)", [.text(bytes), .close()], wrong)
        }
    }

    private static let fragmented: [AutobahnRule] = [
        AutobahnRule("6.1.1", [.text(""), .close()], "text() \(ok)"),
        AutobahnRule(
            "6.1.2",
            [
                .text("", isFinal: false), .continuation("", isFinal: false), .continuation(""),
                .close(),
            ],
            "text() \(ok)"),
        AutobahnRule(
            "6.1.3",
            [
                .text("", isFinal: false), .continuation("middle", isFinal: false),
                .continuation(""), .close(),
            ], "text(middle) \(ok)"),
        AutobahnRule("6.2.1", [.text("Hello-µ@ß"), .close()], "text(Hello-µ@ß) \(ok)"),
        AutobahnRule(
            "6.2.2", [.text("Hello-µ", isFinal: false), .continuation("@ß"), .close()],
            "text(Hello-µ@ß) \(ok)"),
        AutobahnRule(
            "6.2.3",
            Array("Hello-µ@ß".utf8).enumerated().map {
                PlainFrame(
                    opcode: $0.offset == 0 ? 1 : 0, isFinal: $0.offset == 10, payload: [$0.element])
            } + [.close()], "text(Hello-µ@ß) \(ok)"),
    ]

    /// A text with an error in the middle, in one frame and in fragments. 6.4 requires failure at
    /// the first invalid byte.
    private static let failing: [AutobahnRule] = [
        AutobahnRule(
            "6.3.1", [.text(kosme + [0xED, 0xA0, 0x80] + edited)], wrong,
            failsAfter: 6 + kosme.count + 2),
        AutobahnRule(
            "6.4.1",
            [
                .text(kosme, isFinal: false),
                .continuation([0xF4, 0x90, 0x80, 0x80], isFinal: false),
                .continuation(edited),
            ], wrong, failsAfter: 6 + kosme.count + 6 + 2),
        AutobahnRule(
            "6.4.2",
            [
                .text(kosme + [0xF4], isFinal: false), .continuation([0x90], isFinal: false),
                .continuation([0x80, 0x80]),
            ], wrong, failsAfter: 6 + kosme.count + 1 + 6 + 1),
        AutobahnRule(
            "6.4.3", [.text(kosme + [0xF4, 0x90, 0x80, 0x80] + edited)], wrong,
            failsAfter: 6 + kosme.count + 2),
    ]

    static let text: [AutobahnRule] =
        fragmented + failing
        + valid("6.5", [kosme])
        + (1..<11).flatMap { count -> [AutobahnRule] in
            let prefix = Array(kosme.prefix(count))
            let isWhole = String(validating: prefix, as: UTF8.self) != nil
            return isWhole ? valid("6.6/\(count)", [prefix]) : invalid("6.6/\(count)", [prefix])
        }
        + valid("6.7", [[0], [0xC2, 0x80], [0xE0, 0xA0, 0x80], [0xF0, 0x90, 0x80, 0x80]])
        + invalid("6.8", [[0xF8, 0x88, 0x80, 0x80, 0x80], [0xFC, 0x84, 0x80, 0x80, 0x80, 0x80]])
        + valid("6.9", [[0x7F], [0xDF, 0xBF], [0xEF, 0xBF, 0xBF], [0xF4, 0x8F, 0xBF, 0xBF]])
        + invalid("6.10", [[0xF7, 0xBF, 0xBF, 0xBF], [0xFB, 0xBF, 0xBF, 0xBF, 0xBF]])
        + valid("6.11", [[0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80], [0xEF, 0xBF, 0xBD]])
        + invalid("6.11b", [[0xF4, 0x90, 0x80, 0x80]])
        + invalid("6.12", [[0x80], [0xBF], [0x80, 0xBF], [0x80, 0xBF, 0x80], Array(0x80...0xBF)])
        + invalid(
            "6.13",
            [(0xC0...0xDF), (0xE0...0xEF), (0xF0...0xF7), (0xFC...0xFD)].map {
                $0.flatMap { [$0, 0x20] }
            })
        + invalid("6.14", [[0xC0], [0xE0, 0x80], [0xF0, 0x80, 0x80], [0xDF], [0xEF, 0xBF]])
        + invalid("6.15", [[0xC0, 0xE0, 0x80, 0xF0, 0x80, 0x80, 0xDF, 0xEF, 0xBF]])
        + invalid("6.16", [[0xFE], [0xFF], [0xFE, 0xFE, 0xFF, 0xFF]])
        + invalid("6.17", [[0xC0, 0xAF], [0xE0, 0x80, 0xAF], [0xF0, 0x80, 0x80, 0xAF]])
        + invalid("6.18", [[0xC1, 0xBF], [0xE0, 0x9F, 0xBF], [0xF0, 0x8F, 0xBF, 0xBF]])
        + invalid("6.19", [[0xC0, 0x80], [0xE0, 0x80, 0x80], [0xF0, 0x80, 0x80, 0x80]])
        + invalid("6.20", [[0xED, 0xA0, 0x80], [0xED, 0xAD, 0xBF], [0xED, 0xBF, 0xBF]])
        + invalid(
            "6.21", [[0xED, 0xA0, 0x80, 0xED, 0xB0, 0x80], [0xED, 0xAF, 0xBF, 0xED, 0xBF, 0xBF]])
        + valid(
            "6.22", (1...16).map { Array(String(UnicodeScalar($0 << 16 | 0xFFFE) ?? "?").utf8) })
        + valid("6.23", (0xFFF9...0xFFFF).map { Array(String(UnicodeScalar($0) ?? "?").utf8) })

    static let closing: [AutobahnRule] = [
        AutobahnRule("7.1.1", [.text("Hello"), .close()], "text(Hello) \(ok)"),
        AutobahnRule("7.1.2", [.close(), .close()], ok),
        AutobahnRule("7.1.3", [.close(), .ping()], ok),
        AutobahnRule("7.1.4", [.close(), .text("Hello")], ok),
        AutobahnRule("7.1.5", [.text("a", isFinal: false), .close(), .continuation("b")], ok),
        AutobahnRule(
            "7.1.6", [.text([UInt8](repeating: 0x2A, count: 1 << 18)), .close(), .ping()],
            "text(262144) \(ok)"),
        AutobahnRule("7.3.1", [.close(nil)], "peer-1005 wrote-close"),
        AutobahnRule(
            "7.3.2", [PlainFrame(opcode: 8, payload: [0x61])],
            "invalidClosePayload-1002 wrote-1002", failsAfter: 2),
        AutobahnRule("7.3.3", [.close()], ok),
        AutobahnRule("7.3.4", [.close(1000, Array("Hello World!".utf8))], ok),
        AutobahnRule("7.3.5", [.close(1000, [UInt8](repeating: 0x2A, count: 123))], ok),
        AutobahnRule(
            "7.3.6", [.close(1000, [UInt8](repeating: 0x2A, count: 124))],
            "controlTooLong-1002 wrote-1002", failsAfter: 2),
        AutobahnRule(
            "7.5.1", [.close(1000, kosme + [0xED, 0xA0, 0x80] + edited)], wrong,
            failsAfter: 6 + 2 + kosme.count + 2),
    ]

    private static let goodCodes = [
        1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999,
    ]
    private static let badCodes = [
        ("7.9", [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999]),
        ("7.13", [5000, 65_535]),
    ]

    static let closeCodes: [AutobahnRule] =
        goodCodes.enumerated().map { index, code in
            AutobahnRule("7.7.\(index + 1)", [.close(code)], "peer-\(code) wrote-\(code)")
        }
        + badCodes.flatMap { family, codes in
            codes.enumerated().map { index, code in
                AutobahnRule(
                    "\(family).\(index + 1)", [.close(code, [0x78])],
                    "invalidCloseCode-1002 wrote-1002", failsAfter: 8)
            }
        }
}
