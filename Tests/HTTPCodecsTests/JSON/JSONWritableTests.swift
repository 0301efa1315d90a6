import Foundation
import HTTPCodecs
import HTTPParser
import Testing

@Suite("JSON: types that are JSONWritable")
struct JSONWritableTests {
    private struct Item: JSONWritable {
        var name = "a \"name\"\n"
        var count: Int8 = -128
        var price: Double? = 2.5
        var discount: Float?
        var tags = ["x", "ü\u{1}\\"]

        func write(to json: inout JSONWriter) {
            json.beginObject()
            json.write("name", name)
            json.write("count", count)
            json.write("price", price)
            json.write("discount", discount)
            json.write("tags", tags)
            json.endObject()
        }

        private enum CodingKeys: CodingKey { case name, count, price, discount, tags }

        // As the compiler generates it, but with `null`.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encode(count, forKey: .count)
            try container.encode(price, forKey: .price)
            try container.encode(discount, forKey: .discount)
            try container.encode(tags, forKey: .tags)
        }
    }

    /// A value that a closure writes.
    private struct Text: JSONWritable {
        let body: @Sendable (inout JSONWriter) -> Void

        func write(to json: inout JSONWriter) { body(&json) }
        func encode(to encoder: any Encoder) throws { try "encoded".encode(to: encoder) }
    }

    private func text(
        with options: JSONOptions = JSONOptions(),
        _ body: @escaping @Sendable (inout JSONWriter) -> Void
    ) throws -> String {
        var json = JSONBody()
        json.options = options
        return String(decoding: try json.encode(Text(body: body)), as: UTF8.self)
    }

    private func same<Value: JSONWritable>(_ value: Value) throws {
        let json = JSONBody()
        let written = try json.encode(value)
        let encodable: any Encodable = value
        let encoded = try json.encode(encodable)
        #expect(
            String(decoding: written, as: UTF8.self) == String(decoding: encoded, as: UTF8.self))
    }

    @Test("The written JSON is the same as by `Encodable`")
    func kinds() throws {
        try same(Item())
        try same([Item(), Item(name: "", price: nil, discount: 0.1, tags: [])])
        try same([[1, 2], [], [3]])
        try same(["key \u{1F600}\"": 1])
        try same([String: Int]())
        try same([Int64.min, Int64.max])
        try same([UInt64.min, UInt64.max])
        try same([0.0, -0.0, 1e300, .leastNonzeroMagnitude, 0.1, 1_000_000, 1e16, -2.5])
        try same([Float.pi, 1e-10, 16_777_216])
        try same([true, false])
        try same([nil, "a", nil])
        try same("text")
        try same(7 as UInt16)
    }

    @Test("Nested objects, arrays and names are written")
    func nesting() throws {
        let written = try text { json in
            json.beginArray()
            json.writeNull()
            json.beginObject()
            json.write(name: "a\"\u{1}" as StaticString)
            json.beginArray()
            json.beginArray()
            json.endArray()
            json.write(1)
            json.endArray()
            json.write(name: String("ö"))
            json.beginObject()
            json.endObject()
            json.write("b", true)
            json.endObject()
            json.write("x")
            json.endArray()
        }
        #expect(written == #"[null,{"a\"\u0001":[[],1],"ö":{},"b":true},"x"]"#)
    }

    @Test(
        "Nesting is written up to the greatest depth that is read",
        arguments: [63, 64, 65, 200, 512, 513])
    func depth(_ depth: Int) throws {
        let write = {
            try text { json in
                for level in 0..<depth {
                    if level % 3 == 0 {
                        json.beginArray()
                    } else {
                        json.beginObject()
                        json.write(name: "a")
                    }
                }
                json.writeNull()
                for level in (0..<depth).reversed() {
                    if level % 3 == 0 { json.endArray() } else { json.endObject() }
                }
            }
        }
        guard depth <= JSONBody.greatestDepth else {
            #expect(throws: EncodingError.self) { try write() }
            return
        }
        var expected = "null"
        for level in (0..<depth).reversed() {
            expected = level % 3 == 0 ? "[" + expected + "]" : "{\"a\":" + expected + "}"
        }
        #expect(try write() == expected)
    }

    /// Wrong calls, each with a part of its error's description.
    private static let wrongCalls: [(String, @Sendable (inout JSONWriter) -> Void)] = [
        ("nothing was written", { _ in }),
        (
            "a value is at a wrong place",
            {
                $0.write(1); $0.write(2)
            }
        ),
        (
            "a value is at a wrong place",
            {
                $0.write(1); $0.beginArray(); $0.endArray()
            }
        ),
        ("was not ended", { $0.beginObject() }),
        (
            "was not ended",
            {
                $0.beginArray(); $0.write(1)
            }
        ),
        ("an object ends at a wrong place", { $0.endObject() }),
        ("an array ends at a wrong place", { $0.endArray() }),
        (
            "an array ends at a wrong place",
            {
                $0.beginObject(); $0.endArray()
            }
        ),
        (
            "an object ends at a wrong place",
            {
                $0.beginArray(); $0.endObject()
            }
        ),
        (
            "an object ends at a wrong place",
            {
                $0.beginObject(); $0.write(name: "a"); $0.endObject()
            }
        ),
        (
            "a value is at a wrong place",
            {
                $0.beginObject(); $0.write(1); $0.endObject()
            }
        ),
        (
            "a value is at a wrong place",
            {
                $0.beginObject(); $0.writeNull(); $0.endObject()
            }
        ),
        (
            "a value is at a wrong place",
            {
                $0.beginObject(); $0.write("a", 1); $0.write(2); $0.endObject()
            }
        ),
        (
            "a name is at a wrong place",
            {
                $0.write(name: "a"); $0.write(1)
            }
        ),
        (
            "a name is at a wrong place",
            {
                $0.beginArray(); $0.write("a", 1); $0.endArray()
            }
        ),
        (
            "a name is at a wrong place",
            {
                $0.beginObject(); $0.write(name: "a"); $0.write("b", 1); $0.endObject()
            }
        ),
        ("no number inf", { $0.write(Double.infinity) }),
        ("no number nan", { $0.write([Float.nan]) }),
    ]

    @Test(
        "A value that writes invalid JSON throws an error that names the mistake",
        arguments: wrongCalls.indices
    )
    func mistake(_ number: Int) throws {
        let (detail, body) = Self.wrongCalls[number]
        let error = #expect(throws: EncodingError.self) { try text(body) }
        guard case .invalidValue(_, let context) = error else {
            Issue.record("another error: \(error as Any)")
            return
        }
        #expect(context.debugDescription.contains(detail), "\(context.debugDescription)")
    }

    @Test("With options that change the form, and inside other types, encode(to:) writes the value")
    func encoded() throws {
        for change: (inout JSONOptions) -> Void in [
            { $0.names = .snakeCase }, { $0.sortsNames = true }, { $0.isIndented = true },
        ] {
            var options = JSONOptions()
            change(&options)
            #expect(try text(with: options) { $0.write("written") } == "\"encoded\"")
        }
        #expect(try text { $0.write("written") } == "\"written\"")
        struct Outer: Encodable { var inner: Text }
        let bytes = try JSONBody().encode(Outer(inner: Text { $0.write("written") }))
        #expect(String(decoding: bytes, as: UTF8.self) == "{\"inner\":\"encoded\"}")
    }
}

@Suite("JSON texts that are read many bytes at a time")
struct JSONTextTests {
    private struct Note: JSONReadable, Equatable {
        var text: String

        init(reading json: inout JSONReader) throws {
            text = ""
            try json.beginObject()
            while let name = try json.nextName() {
                if name == "text" { text = try json.next() }
            }
        }
    }

    /// Pieces of text with their decoded forms; `nil` where JSON forbids the piece.
    private static let pieces: [(String, String?)] = [
        ("\\\"", "\""), ("\\\\", "\\"), ("\u{7F}", "\u{7F}"), ("ü", "ü"),
        ("\u{1F600}", "\u{1F600}"),
        ("!", "!"), ("#", "#"), ("[", "["), ("]", "]"), (" ", " "), ("\\u0041", "A"),
        ("\u{1F}", nil),
        ("\u{0}", nil), ("\n", nil),
    ]

    @Test(
        "A special piece is decoded, or refused, at every place of texts of many lengths",
        arguments: pieces.indices)
    func places(_ number: Int) throws {
        let (piece, meaning) = Self.pieces[number]
        for length in [0, 1, 7, 8, 9, 15, 16, 17, 31, 64, 79, 80, 81, 96, 143, 144, 145, 160, 210] {
            for place in 0...length {
                let parts = [place, length - place].map { String(repeating: "x", count: $0) }
                let bytes = Array("{\"text\":\"\(parts[0])\(piece)\(parts[1])\"}".utf8)
                guard let meaning else {
                    let error = #expect(throws: CodecError.self) {
                        try JSONBody().decode(Note.self, from: bytes)
                    }
                    #expect(error?.offset == Int64(9 + place))
                    continue
                }
                let note = try JSONBody().decode(Note.self, from: bytes)
                #expect(note.text == parts[0] + meaning + parts[1])
                let value = try JSONBody().decode([String: String].self, from: bytes)
                #expect(value == ["text": note.text])
            }
        }
    }

    @Test("A text that is cut at any byte is refused")
    func cut() throws {
        let whole = Array("{\"text\":\"\(String(repeating: "x", count: 150))\"}".utf8)
        for length in 0..<whole.count {
            #expect(throws: CodecError.self) {
                try JSONBody().decode(Note.self, from: Array(whole[..<length]))
            }
        }
    }
}
