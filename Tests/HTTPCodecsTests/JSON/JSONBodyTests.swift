import Foundation
import HTTPCodecs
import HTTPParser
import Testing

@Suite("RFC 8259: JSON and values")
struct JSONBodyTests {
    struct Item: Codable, Hashable {
        var name: String
        var count: Int?
        var sentOn: Date?
        var items: [Item]?
    }

    private func error<Value: Decodable>(_ type: Value.Type, _ text: String) -> CodecError? {
        do throws(CodecError) {
            _ = try JSONBody().decode(type, from: Array(text.utf8))
            return nil
        } catch {
            return error
        }
    }

    @Test("Values are decoded")
    func decoding() throws {
        let text = #"""
            {"name": "a\"\u00e9\ud83d\ude00\n", "count": -3, "sentOn": "2030-01-02T03:04:05Z",
             "items": [{"name": ""}], "unknown": [1.5, null, true]}
            """#
        let item = try JSONBody().decode(Item.self, from: Array(text.utf8))
        #expect(item.name == "a\"é😀\n")
        #expect(item.count == -3)
        #expect(item.sentOn == Date(timeIntervalSince1970: 1_893_553_445))
        #expect(item.items == [Item(name: "")])
    }

    @Test("Numbers are decoded in the full range of their types")
    func numbers() throws {
        let json = JSONBody()
        #expect(try json.decode(Int64.self, from: Array("9223372036854775807".utf8)) == .max)
        #expect(try json.decode(UInt64.self, from: Array("18446744073709551615".utf8)) == .max)
        #expect(try json.decode(Double.self, from: Array("1e3".utf8)) == 1_000)
        #expect(try json.decode([Double].self, from: Array("[-0.5, 0]".utf8)) == [-0.5, 0])
    }

    @Test("A byte order mark is skipped, and none is written")
    func byteOrderMark() throws {
        #expect(try JSONBody().decode(Int.self, from: [0xEF, 0xBB, 0xBF, 0x37]) == 7)
        #expect(try JSONBody().encode(7) == [0x37])
    }

    @Test("Of members with the same name, the first is used")
    func repeatedNames() throws {
        let text = #"{"name": "a", "name": "b"}"#
        #expect(try JSONBody().decode(Item.self, from: Array(text.utf8)).name == "a")
    }

    @Test(
        "The error for JSON of another shape has the path to the wrong value",
        arguments: [
            (#"{"count": 1}"#, #"the field "name" is missing"#),
            (
                #"{"name": "a", "items": [{"name": "b"}, {}]}"#,
                #"the field "items[1].name" is missing"#
            ),
            (#"{"name": 5}"#, "name: "), (#"{"name": null}"#, "name: "), ("[1]", ""), ("null", ""),
            (#"{"name": "a", "count": 1.5}"#, ""), (#"{"name": "a", "count": 1e400}"#, ""),
            (#"{"name": "a", "count": 9223372036854775808}"#, ""),
            (#"{"name": "a", "sentOn": "today"}"#, ""), (#"{"name": "\ud800"}"#, ""),
        ])
    func shape(text: String, beginning: String) throws {
        let error = try #require(self.error(Item.self, text))
        #expect(error.kind == .unexpectedJSON)
        #expect(error.detail.hasPrefix(beginning))
        #expect(!error.detail.isEmpty)
        #expect(!error.detail.contains("not valid JSON"))
        #expect(error.suggestedStatus == .unprocessableContent)
    }

    struct Shelf: Decodable {
        var names: [String]
        var counts: [String: Int]
        var isFull: Bool
        var price: Decimal
    }

    @Test(
        "Errors name the kinds of values as JSON does",
        arguments: [
            ("[1]", "expected an object, found an array"),
            ("null", "expected an object, found null"),
            (#"{"names": {}}"#, "names: expected an array, found an object"),
            (#"{"names": null}"#, "names: expected an array, found null"),
            (#"{"names": ["a", 5]}"#, "names[1]: expected a string, found a number"),
            (#"{"names": [], "counts": "a"}"#, "counts: expected an object, found a string"),
            (
                #"{"names": [], "counts": {"a": true}}"#,
                "counts.a: expected a number, found a boolean"
            ),
            (
                #"{"names": [], "counts": {}, "isFull": 1}"#,
                "isFull: expected a boolean, found a number"
            ),
        ])
    func kinds(text: String, detail: String) throws {
        #expect(error(Shelf.self, text)?.detail == detail)
    }

    @Test("The error for a string in place of a Decimal names a number")
    func decimal() throws {
        let text = #"{"names": [], "counts": {}, "isFull": true, "price": "1"}"#
        let error = try #require(self.error(Shelf.self, text))
        // Foundation may not name the kind that it found.
        #expect(error.detail.hasPrefix("price: expected a number"))
    }

    private struct Picky: Decodable {
        init(from decoder: any Decoder) throws {
            throw DecodingError.typeMismatch(
                String.self,
                DecodingError.Context(codingPath: [], debugDescription: "I want a colour"))
        }
    }

    @Test("The description of a mismatch that a type throws is kept")
    func ownWords() {
        #expect(error(Picky.self, "1")?.detail == "I want a colour")
    }

    @Test(
        "Input above the limit of the initialiser is refused; the standard limit is 2 MiB",
        arguments: [(3, nil), (2, .inputTooLong)] as [(Int, CodecError.Kind?)])
    func byteLimit(limit: Int, kind: CodecError.Kind?) {
        var found: CodecError.Kind?
        do throws(CodecError) {
            _ = try JSONBody(byteLimit: limit).decode([Int].self, from: Array("[1]".utf8))
        } catch {
            found = error.kind
        }
        #expect(found == kind)
        #expect(JSONBody().byteLimit == 2 << 20)
    }

    struct Even: Decodable {
        struct Odd: Error {}

        init(from decoder: any Decoder) throws {
            let number = try decoder.singleValueContainer().decode(Int.self)
            if number < 0 { throw CodecError(.invalidText, "negative") }
            if number % 2 == 1 { throw Odd() }
        }
    }

    @Test("Errors that a type throws are reported")
    func ownErrors() {
        #expect(error(Even.self, "2") == nil)
        #expect(error(Even.self, "3")?.kind == .unexpectedJSON)
        #expect(error(Even.self, "-1") == CodecError(.invalidText, "negative"))
    }

    // MARK: Options

    @Test("Values are written according to the options")
    func encoding() throws {
        let item = Item(
            name: "a/\"é\n", count: 1, sentOn: Date(timeIntervalSince1970: 1_893_553_445))
        var json = JSONBody()
        json.options.sortsNames = true
        func text() throws -> String { String(decoding: try json.encode(item), as: UTF8.self) }
        #expect(
            try text() == #"{"count":1,"name":"a/\"é\n","sentOn":"2030-01-02T03:04:05Z"}"#)
        json.options.names = .snakeCase
        json.options.dates = .secondsSinceEpoch
        #expect(try text() == #"{"count":1,"name":"a/\"é\n","sent_on":1893553445}"#)
        #expect(try json.decode(Item.self, from: json.encode(item)) == item)
        json.options.dates = .millisecondsSinceEpoch
        json.options.isIndented = true
        #expect(try text().contains("\n  \"sent_on\" : 1893553445000\n"))
        #expect(try json.decode(Item.self, from: json.encode(item)) == item)
    }

    @Test("A value that JSON cannot represent throws an error of encoding")
    func unencodable() {
        #expect(throws: EncodingError.self) { try JSONBody().encode([Double.infinity]) }
    }

    // MARK: Media types

    @Test(
        "Content is JSON if its media type says so, in UTF-8",
        arguments: [
            ("application/json", nil), ("Application/JSON; charset=UTF-8", nil),
            ("text/json", nil), ("application/problem+json", nil),
            ("application/vnd.api+json; charset=\"utf-8\"; v=1", nil),
            ("application/json; charset=iso-8859-1", .unsupportedCharset),
            ("application/json; charset=utf-16", .unsupportedCharset),
            ("text/plain", .unsupportedMediaType), ("application/jsonx", .unsupportedMediaType),
            ("application/x-ndjson", .unsupportedMediaType), ("", .unsupportedMediaType),
        ] as [(String, CodecError.Kind?)])
    func mediaTypes(text: String, kind: CodecError.Kind?) {
        var found: CodecError?
        do throws(CodecError) {
            try JSONBody().check(mediaType: MediaType(text))
        } catch {
            found = error
        }
        #expect(found?.kind == kind)
        #expect(kind == nil || found?.suggestedStatus == .unsupportedMediaType)
    }
}
