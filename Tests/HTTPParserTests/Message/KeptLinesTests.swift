import HTTPParser
import Testing

@Suite("Fields whose lines are kept for later responses")
struct KeptLinesTests {
    private func head(_ fields: HTTPFields) throws(HTTPMessageError) -> String {
        var serializer = ResponseSerializer()
        var buffer = ByteBuffer()
        try serializer.head(.ok, fields: fields, framing: .length(0), into: &buffer)
        return String(decoding: buffer.bytes.copied, as: UTF8.self)
    }

    private let sample: HTTPFields = [
        "ETag": "\"1\"", "Vary": "Accept", "X-Empty": "", "Cache-Control": "no-cache",
        "vary": "Origin",
    ]

    /// Every kind of change of a section.
    private static let changes: [@Sendable (inout HTTPFields) -> Void] = [
        { _ in },
        { $0.append("X-New", "1") },
        { $0.append(HTTPField("vary", "Cookie")) },
        { $0["ETag"] = "\"2\"" },
        { $0["etag"] = nil },
        { $0["X-New"] = "1" },
        { $0["X-New"] = nil },
        { $0["Vary"] = "*" },
        { $0.remove("X-Empty") },
        { $0.remove("X-New") },
        { $0.reserveCapacity(20) },
        { $0 = ["A": "b"] },
        {
            $0.append("X-New", "1")
            $0["ETag"] = "\"3\""
            $0.append("X-New", "2")
        },
        {
            $0.append("X-New", "1")
            $0.keepLines()
            $0.append("X-Last", "2")
        },
    ]

    @Test(
        "Kept and other fields are equal and written as the same bytes after any change",
        arguments: changes.indices)
    func same(_ number: Int) throws {
        var (plain, kept) = (sample, sample)
        kept.keepLines()
        let before = kept
        Self.changes[number](&plain)
        Self.changes[number](&kept)
        let heads = (try head(kept), try head(plain))
        #expect(heads.0 == heads.1)
        #expect(kept == plain && kept.hashValue == plain.hashValue)
        #expect(Array(kept) == Array(plain))
        for name: HTTPFieldName in ["etag", "Vary", "X-New", "X-Last", "Cookie", "X-Empty", "A"] {
            #expect(kept[name] == plain[name])
            #expect(kept.contains(name) == plain.contains(name))
            #expect(kept.values(of: name) == plain.values(of: name))
        }
        // The earlier copy has not changed.
        let copies = (try head(before), try head(sample))
        #expect(copies.0 == copies.1)
    }

    private final class Notes: Sendable {}

    @Test("Notes are kept until a field is changed or appended", arguments: changes.indices)
    func notes(_ number: Int) {
        let notes = Notes()
        var fields = sample
        fields.keepLines(notes: notes)
        Self.changes[number](&fields)
        #expect(fields.notes == nil || fields.notes === notes && fields == sample)
        if number == 0 { #expect(fields.notes === notes) }
        fields.keepLines()
        #expect(fields.notes == nil)
    }

    @Test("A name of any length is found, also if it is 64 bytes longer than another")
    func lengths() {
        var fields = HTTPFields()
        for length in [1, 5, 63, 64, 65, 128] {
            fields.append(
                HTTPFieldName(unchecked: String(repeating: "a", count: length)), "\(length)")
        }
        fields.keepLines()
        for length in 1...200 {
            let name = HTTPFieldName(unchecked: String(repeating: "A", count: length))
            #expect(fields[name] == ([1, 5, 63, 64, 65, 128].contains(length) ? "\(length)" : nil))
        }
    }

    @Test(
        "Invalid fields are refused when they are written, with kept lines as without",
        arguments: [
            HTTPField("A", "b\r\nC: d"), HTTPField("Content-Length", "5"),
            HTTPField(HTTPFieldName(unchecked: "A B"), "c"),
        ])
    func refused(_ bad: HTTPField) {
        for index in 0...2 {
            var (plain, kept): (HTTPFields, HTTPFields) = (["A": "1"], ["A": "1"])
            for step in 0...2 {
                if step == index { kept.keepLines() }
                let field = step == 1 ? bad : HTTPField("B", "\(step)")
                kept.append(field)
                plain.append(field)
            }
            let expected = #expect(throws: HTTPMessageError.self) { try head(plain) }
            let error = #expect(throws: HTTPMessageError.self) { try head(kept) }
            #expect("\(error as Any)" == "\(expected as Any)")
        }
    }
}
