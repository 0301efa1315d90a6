import HTTPServerCore
import HTTPServerKit
import Testing

@Suite("RFC 9110, 14: Range Requests")
struct ByteRangeTests {
    /// A decision as text for a table.
    static func text(_ field: String?, _ length: Int64) -> String {
        switch RangeDecision(field: field, length: length) {
        case .whole: "whole"
        case .unsatisfiable: "unsatisfiable"
        case .single(let range): "\(range.first)-\(range.last)"
        case .several(let ranges):
            ranges.map { "\($0.first)-\($0.last)" }.joined(separator: " ")
        }
    }

    @Test(
        "14.1.2: A range is clamped to the content",
        arguments: [
            ("bytes=0-0", 10, "0-0"), ("bytes=0-9", 10, "0-9"), ("bytes=0-", 10, "0-9"),
            ("bytes=9-", 10, "9-9"), ("bytes=5-100", 10, "5-9"), ("bytes=-1", 10, "9-9"),
            ("bytes=-10", 10, "0-9"), ("bytes=-11", 10, "0-9"), ("Bytes=2-3", 10, "2-3"),
            ("bytes= 2-3 ", 10, "2-3"), ("bytes=,2-3,", 10, "2-3"), ("bytes=002-0003", 10, "2-3"),
            ("bytes=0-9223372036854775807", 10, "0-9"),
            ("bytes=0-9223372036854775808", 10, "0-9"),
            ("bytes=3-99999999999999999999999999", 10, "3-9"),
            ("bytes=-99999999999999999999999999", 10, "0-9"),
            ("bytes=0-0", 1, "0-0"), ("bytes=-5", 1, "0-0"),
            ("bytes=9223372036854775806-", .max, "9223372036854775806-9223372036854775806"),
            ("bytes=0-", .max, "0-9223372036854775806"),
        ] as [(String, Int64, String)])
    func single(field: String, length: Int64, decision: String) {
        #expect(Self.text(field, length) == decision)
    }

    @Test(
        "15.5.17: Ranges after the end cannot be satisfied",
        arguments: [
            ("bytes=10-", 10), ("bytes=10-20", 10), ("bytes=-0", 10), ("bytes=10-,11-12,-0", 10),
            ("bytes=0-", 0), ("bytes=0-0", 0), ("bytes=-0", 0), ("bytes=1-", 1),
            ("bytes=9223372036854775807-", .max), ("bytes=9223372036854775808-", 10),
            ("bytes=99999999999999999999-999999999999999999999", 10),
        ] as [(String, Int64)])
    func unsatisfiable(field: String, length: Int64) {
        #expect(Self.text(field, length) == "unsatisfiable")
    }

    @Test(
        "14.2: Malformed fields and other units are ignored",
        arguments: [
            "", "bytes", "bytes=", "bytes=,", "bytes=-", "bytes=--1", "bytes=1", "bytes=a-b",
            "bytes=5-4", "bytes=0-1,5-4", "bytes=+1-2", "bytes=1-+2", "bytes=0x1-2", "bytes=1 - 2",
            "bytes=1-2 3-4", "bytes=1-2;3-4", "bytes=1-2-3", "bytes =1-2", " bytes=1-2",
            "bytes:1-2", "items=0-1", "bytes=\u{661}-2", "bytes=1-2,x", "bytes=1-2\0", "=1-2",
        ])
    func ignored(field: String) {
        #expect(Self.text(field, 10) == "whole")
    }

    @Test("Without the field, or for a suffix of empty content, the whole content is sent")
    func whole() {
        #expect(Self.text(nil, 10) == "whole")
        #expect(Self.text("bytes=-5", 0) == "whole")
    }

    @Test(
        "15.3.7.2: Adjacent ranges are joined, and the requested order is kept",
        arguments: [
            ("bytes=0-1,4-5", "0-1 4-5"),
            ("bytes=4-5,0-1", "4-5 0-1"),
            ("bytes=0-1,2-3", "0-3"),
            ("bytes=0-5,3-8", "0-8"),
            ("bytes=0-8,3-5", "0-8"),
            ("bytes=8-,0-1,4-5,1-2", "8-9 0-2 4-5"),
            ("bytes=6-7,0-1,5-5", "5-7 0-1"),
            ("bytes=0-1,20-30", "0-1"),
            ("bytes=20-30,-2,0-0", "8-9 0-0"),
            ("bytes=0-0,0-0,0-0", "0-0"),
            ("bytes=0-,-1", "0-9"),
        ])
    func several(field: String, decision: String) {
        #expect(Self.text(field, 10) == decision)
    }

    @Test(
        "Up to sixteen parts are sent; for more the whole content is",
        arguments: [(15, false), (16, false), (17, true), (200, true)])
    func partLimit(count: Int, isWhole: Bool) {
        let field = "bytes=" + (0..<count).map { "\($0 * 10)-\($0 * 10)" }.joined(separator: ",")
        let decision = RangeDecision(field: field, length: 10_000)
        #expect((decision == .whole) == isWhole)
    }

    @Test(
        "Up to two hundred ranges are parsed; a longer field is ignored",
        arguments: [(199, "0-0"), (200, "0-0"), (201, "whole")])
    func rangeLimit(count: Int, decision: String) {
        let field = "bytes=" + [String](repeating: "0-0", count: count).joined(separator: ",")
        #expect(Self.text(field, 10) == decision)
    }

    @Test("Parts never overlap, and are together shorter than the content")
    func sums() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            let length = Int64.random(in: 1...60, using: &random)
            let specs = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                let first = Int64.random(in: 0...70, using: &random)
                return "\(first)-\(first + Int64.random(in: 0...20, using: &random))"
            }
            let field = "bytes=" + specs.joined(separator: ",")
            guard case .several(let parts) = RangeDecision(field: field, length: length) else {
                continue
            }
            let ascending = parts.sorted { $0.first < $1.first }
            let areApart = zip(ascending, ascending.dropFirst()).allSatisfy {
                $0.last + 1 < $1.first
            }
            #expect(areApart && parts.count > 1, "\(field) of \(length)")
            #expect(parts.map(\.count).reduce(0, +) < length, "\(field) of \(length)")
        }
    }

    @Test("14.4: Content-Range names the part and the length")
    func contentRange() throws {
        let range = try #require(ByteRange(first: 0, last: 99))
        #expect(range.contentRange(ofLength: 1_000) == "bytes 0-99/1000")
        #expect(range.count == 100)
        #expect(ByteRange.unsatisfiedContentRange(ofLength: 0) == "bytes */0")
    }

    @Test(
        "A range is never empty and never negative",
        arguments: [(1, 0), (-1, 5), (-2, -1), (0, .max), (.max, .max)] as [(Int64, Int64)])
    func refusal(first: Int64, last: Int64) {
        #expect(ByteRange(first: first, last: last) == nil)
    }
}
