import Foundation
import HTTPCodecs
import Testing

@Suite("JSON without Foundation: the same values as with Foundation")
struct JSONPlainTests {
    private enum Sign: String, Codable { case x, y }

    private struct Mixed: Codable, Equatable {
        var a: Int?
        var b: [String: [Double?]]?
        var c: Bool?
        var d: Int8?
        var when: Date?
        var sign: Sign?
        var text: String?
    }

    /// Decodes any kind of value, by trying one kind after the other.
    private struct Loose: Decodable, Equatable {
        var text: String

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let number = try? value.decode(Int.self) {
                text = "i\(number)"
            } else if let number = try? value.decode(Double.self) {
                text = "d\(number)"
            } else if let all = try? value.decode([Loose].self) {
                text = "[" + all.map(\.text).joined(separator: ",") + "]"
            } else if value.decodeNil() {
                text = "null"
            } else {
                text = "s" + (try value.decode(String.self))
            }
        }
    }

    @Test("20,000 elements are decoded although each drops errors that contain its path")
    func droppedErrors() throws {
        let texts = String(repeating: "\"\",", count: 20_000)
        let values = try JSONBody().decode([Loose].self, from: Array("[\(texts)1]".utf8))
        #expect(values.count == 20_001)
        #expect(values.first?.text == "s" && values.last?.text == "i1")
    }

    private func compare<Value: Decodable & Equatable>(_ type: Value.Type, _ text: String) {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let expected = try? decoder.decode(type, from: Data(text.utf8))
        #expect((try? JSONBody().decode(type, from: Array(text.utf8))) == expected, "\(text)")
    }

    @Test(
        "Objects are decoded as by Foundation",
        arguments: [
            "{}", #"{"a":null,"b":{"x":[1,null,2.5,-0.25e3],"":[]},"c":true,"d":-128}"#,
            #"{"d":128}"#, #"{"a":1.0}"#, #"{"a":1e2}"#, #"{"a":3,"a":4,"sign":"y"}"#,
            #"{"sign":"z"}"#, #"{"a":{"a":5}}"#, #"{"when":"2030-01-02T03:04:05Z","a":2}"#,
            #"{"text":"a\n\t\"\\\/\u00e9\ud83d\ude00é"}"#, #"{"text":"\ud83d"}"#, #"{"\u0061":1}"#,
            #"{"ü":1,"a":2}"#, #"{"c":"true"}"#, #"{"text":1}"#, "[]", "null",
        ])
    func objects(_ text: String) {
        compare(Mixed.self, text)
        compare([String: Mixed].self, #"{"m": \#(text), "n": {}}"#)
        compare([Mixed?].self, "[\(text), {}]")
    }

    @Test(
        "Numbers are decoded as by Foundation",
        arguments: [
            "0", "-0", "1", "1.5", "-2.75", "123456789012345", "1234567890123456", "0.1", "1e5",
            "1E-7", "12345.678901234567", "1e999", "1e-999", "0.000000000000001", "3.0", "-7.0",
            "99999999999999.9", "9223372036854775807", "9223372036854775808",
            "-9223372036854775808",
            "18446744073709551615", "-0.0", "100000000000000.0", "01", "-01", "-", "1.", ".5",
            "1.5.2", "--1", "1e", "0x1", "1 2",
        ])
    func numbers(_ text: String) {
        compare(Int.self, text)
        compare(Double.self, text)
        compare(Float.self, text)
        for list in ["[\(text)]", "[ \(text) , \(text)]", "[\(text), \(text) ]"] {
            compare([Int].self, list)
            compare([UInt8].self, list)
            compare([UInt64].self, list)
            compare([Double].self, list)
            compare([Float].self, list)
        }
        for members in [
            #"{"a":\#(text),"b":\#(text)}"#, #"{"a": \#(text), "b": \#(text)}"#,
            #"{ "a" : \#(text) , "b" : \#(text) }"#,
        ] {
            compare([String: Int].self, members)
            compare([String: Double].self, members)
        }
        compare(Loose.self, text)
        compare(Loose.self, "[\(text), \"a\", [null, {}]]")
        compare(Loose.self, "[\(text), \"a\", [null, [1]]]")
    }

    /// Decodes to the coding paths of all its places.
    private struct Place: Decodable, Equatable {
        private enum Key: String, CodingKey { case inner, list }

        var paths: [String]

        init(from decoder: any Decoder) throws {
            paths = [decoder.codingPath.map { "\($0.stringValue) \($0.intValue ?? -1)" }.joined()]
            let members = try decoder.container(keyedBy: Key.self)
            if let inner = try members.decodeIfPresent(Place.self, forKey: .inner) {
                paths += inner.paths
            }
            if let list = try members.decodeIfPresent([Place].self, forKey: .list) {
                paths += list.flatMap(\.paths)
            }
        }
    }

    @Test(
        "The coding path of a decoder is that of Foundation",
        arguments: [
            "{}", #"{"inner": {}}"#, #"{"list": [{}, {"inner": {}}, {}], "inner": {"inner": {}}}"#,
            #"{"other": {"a": [1, {}]}, "list": [{"list": [{"list": []}, {}]}]}"#,
            #"{"inner": {}, "inner": {"inner": {}}}"#,
        ])
    func paths(_ text: String) {
        compare(Place.self, text)
        compare([String: [Place]].self, #"{"a": [\#(text), \#(text)], "b": []}"#)
    }

    @Test("A decoder and its container can be used after decoding has ended")
    func kept() throws {
        struct Kept: Decodable {
            private enum Key: CodingKey { case text }
            private let members: KeyedDecodingContainer<Key>
            private let decoder: any Decoder

            init(from decoder: any Decoder) throws {
                (members, self.decoder) = (try decoder.container(keyedBy: Key.self), decoder)
            }

            var texts: [String] {
                get throws {
                    [try members.decode(String.self, forKey: .text)]
                        + [try [String: String](from: decoder)["text"] ?? ""]
                }
            }
        }
        let kept = try JSONBody().decode([Kept].self, from: Array(#"[{"text": "a"}]"#.utf8))
        #expect(try kept[0].texts == ["a", "a"])
    }

    @Test(
        "Nested arrays and objects are accepted only if each one is closed correctly",
        arguments: [1, 63, 64, 65, 127, 128, 129, 200])
    func nesting(_ depth: Int) {
        var body = JSONBody()
        body.depthLimit = 512
        for (open, close, others) in [
            ("[", "]", ["", "}"]), (#"{"a":"#, "}", ["", "]"]),
            (#"[{"a":"#, "}]", ["", "]", "}", "}}", "]]"]),
        ] {
            let start = String(repeating: open, count: depth)
            let text = start + "1" + String(repeating: close, count: depth)
            #expect(throws: Never.self) { try body.decode(AnyJSON.self, from: Array(text.utf8)) }
            let unended = start + "1" + String(repeating: close, count: depth - 1)
            for end in others {
                #expect(throws: CodecError.self) {
                    try body.decode(AnyJSON.self, from: Array((unended + end).utf8))
                }
            }
        }
    }

    @Test(
        "Content around the greatest length without Foundation is decoded as by Foundation",
        arguments: -2...2)
    func longest(_ more: Int) {
        let text = String(repeating: "a", count: Int(UInt16.max) + more - 17)
        compare(Mixed.self, #"{"a":7,"text":"\#(text)"}"#)
        let numbers = String(repeating: "1,", count: (Int(UInt16.max) + more) / 2 - 1)
        compare([Int].self, "[\(numbers)1]")
    }

    @Test("Large objects, long content and types of Foundation are decoded as by Foundation")
    func others() {
        let members = (0..<200).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
        compare([String: Int].self, "{\(members)}")
        compare([String].self, "[\"" + String(repeating: "ab\\n", count: 40_000) + "\"]")
        compare([URL].self, #"["http://a.example/"]"#)
        compare([Data].self, #"["AAEC"]"#)
        compare([Decimal].self, "[1.10]")
        compare([Int: String].self, #"{"1":"a","2":"b"}"#)
    }

    // MARK: Writing

    private class Base: Encodable { var a = 1 }

    private final class Derived: Base {
        private enum Key: CodingKey { case b }

        override func encode(to encoder: any Encoder) throws {
            try super.encode(to: encoder)
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(2, forKey: .b)
        }
    }

    private enum Key: CodingKey { case x, y, z }

    /// Writes to a container again after another one has begun.
    private struct Interleaved: Encodable {
        func encode(to encoder: any Encoder) throws {
            var outer = encoder.container(keyedBy: Key.self)
            var inner = outer.nestedContainer(keyedBy: Key.self, forKey: .x)
            try inner.encode(1, forKey: .x)
            try outer.encode(2, forKey: .y)
            try inner.encode(3, forKey: .z)
        }
    }

    private struct Nested: Encodable {
        func encode(to encoder: any Encoder) throws {
            var outer = encoder.container(keyedBy: Key.self)
            var inner = outer.nestedContainer(keyedBy: Key.self, forKey: .x)
            var list = inner.nestedUnkeyedContainer(forKey: .y)
            try list.encode(1)
            try list.encodeNil()
            var last = list.nestedUnkeyedContainer()
            try last.encode("a")
            try list.encode([1])
            try outer.encode(2.5, forKey: .y)
            _ = outer.nestedUnkeyedContainer(forKey: .z)
        }
    }

    private struct Twice: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(1, forKey: .x)
            try container.encode(2, forKey: .x)
        }
    }

    private struct Nothing: Encodable {
        func encode(to encoder: any Encoder) throws {}
    }

    private struct Around: Encodable { var inner = Nothing() }

    private static let values: [any Encodable & Sendable] = [
        1, -0.0, "a\"\\/\u{8}\u{c}\n\r\t\u{1}\u{1f}é😀\u{7f}\u{2028}",
        [1.5, 2, 1e21, 1e-7, 123_456_789_012_345_680, 0.1, 1e16, 1e15], [Float(1.5), 0.1, 3],
        ["a": 1, "b\n": 2], [1: 2], [Double.nan], Interleaved(), Nested(), Twice(), Nothing(),
        Around(), [Date(timeIntervalSince1970: 0)], [Data([1, 2])], [Decimal(1)], Int?.none,
        [Int?.none, 4], [Int](), [[[]], [[1]]] as [[[Int]]], UInt64.max, Int8.min, [true, false],
        Mixed(a: 1, b: ["x": [nil, 1]], c: false, d: nil, when: nil, sign: .x, text: "t"),
    ]

    private func compare(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        encoder.dateEncodingStrategy = .iso8601
        let expected = try? encoder.encode(value)
        let found = try? JSONBody().encode(value)
        #expect((found == nil) == (expected == nil), "\(value)")
        guard let expected, let found else { return }
        // Foundation and the toolkit may order members differently.
        let object = try JSONSerialization.jsonObject(
            with: Data(found), options: .fragmentsAllowed)
        let sorted = try JSONSerialization.data(
            withJSONObject: object,
            options: [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes])
        let other = try JSONSerialization.data(
            withJSONObject: JSONSerialization.jsonObject(
                with: expected, options: .fragmentsAllowed),
            options: [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes])
        #expect(sorted == other, "\(value)")
        #expect(found.count == expected.count, "\(value)")
    }

    /// Members in order, each with a number or with an object.
    private struct Members: Encodable {
        private struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }

            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        indirect enum Value {
            case number(Int)
            case object(Members)
        }

        var members: [(String, Value)]

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Name.self)
            for (name, value) in members {
                let key = Name(stringValue: name)
                switch value {
                case .number(let number): try container.encode(number, forKey: key)
                case .object(let object): try container.encode(object, forKey: key)
                }
            }
        }

        /// Members with numbers; the one at `second` has the name of the first.
        static func numbers(_ count: Int, repeating second: Int?) -> Members {
            let members = (0..<count).map { place in
                (place == second ? "name 0" : "name \(place)", Value.number(place))
            }
            return Members(members: members)
        }
    }

    @Test(
        "Objects with up to nine members and a repeated name are written as by Foundation",
        arguments: 1...9)
    func names(count: Int) throws {
        try compare(Members.numbers(count, repeating: nil))
        for place in 1..<count { try compare(Members.numbers(count, repeating: place)) }
    }

    @Test(
        "Objects at each place of an object, with the same names, are written as by Foundation",
        arguments: 1...7)
    func innerNames(count: Int) throws {
        for place in 0..<count {
            for innerCount in [0, 1, 3, 4, 5, 9] {
                for repeated in [nil, count - 1] {
                    var outer = Members.numbers(count, repeating: repeated)
                    outer.members[place].1 = .object(.numbers(innerCount, repeating: nil))
                    try compare(outer)
                }
            }
        }
    }

    @Test(
        "Names that need escapes or are similar are written as by Foundation",
        arguments: [
            ("\u{E9}", "e\u{301}"), ("K", "\u{212A}"), ("a\"", "a\""), ("a\\", "a\\\\"), ("ä", "ö"),
            ("n", "\n"), ("", "\u{308}"),
        ])
    func otherNames(first: String, second: String) throws {
        for names in [[first, second], [second, first], ["a", first, "b", second, "c"]] {
            try compare(Members(members: names.map { ($0, .number(1)) }))
        }
    }

    @Test(
        "A special character at each place of a text is written as by Foundation",
        arguments: ["\"", "\\", "\n", "\u{1F}", "é", "😀"])
    func places(character: String) throws {
        for count in 0..<100 {
            try compare(String(repeating: "a", count: count) + character + "b")
            try compare(
                String(repeating: character, count: 2) + String(repeating: "a", count: count))
        }
    }

    @Test("Values of all kinds are written as by Foundation")
    func writing() throws {
        for value in Self.values { try compare(value) }
        try compare(Derived())
    }
}
