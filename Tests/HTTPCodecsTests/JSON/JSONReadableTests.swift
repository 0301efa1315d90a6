import HTTPCodecs
import HTTPParser
import Testing

@Suite("JSON: types that are JSONReadable")
struct JSONReadableTests {
    private struct Item: JSONReadable, Equatable {
        var name = ""
        var count = 0
        var price: Double?

        init(reading json: inout JSONReader) throws {
            try json.beginObject()
            while let name = try json.nextName() {
                switch name {
                case "name": self.name = try json.next()
                case "count": count = try json.next()
                case "price": price = try json.next()
                default: break
                }
            }
        }
    }

    private struct Order: JSONReadable, Equatable {
        var id: UInt8?
        var isPaid = false
        var items: [Item] = []
        var sizes: [String: Int] = [:]

        private enum CodingKeys: CodingKey { case id, isPaid, items, sizes }

        init(reading json: inout JSONReader) throws {
            try json.beginObject()
            while let name = try json.nextName() {
                switch name {
                case "id": id = try json.next()
                case "isPaid": isPaid = try json.next()
                case "items": items = try json.next()
                case "größen": sizes = try json.next()
                default: break
                }
            }
        }
    }

    private func read<Value: JSONReadable>(_ text: String) throws -> Value {
        try JSONBody().decode(from: Array(text.utf8))
    }

    @Test("Members are read in any order with any white space, and unknown ones are skipped")
    func objects() throws {
        let text = #"""
             { "other" : [ {"a": [1, {"b": null}]} , "x" ] , "items" : [ {"count":2 , "name":"a\"b"},
             {"price":2.5,"more":{},"name" : "ü"},{ } ] , "isPaid":true , "id" : 7.0,
             "gr\u00f6ßen" : {"s":1,"m":2,"s":3} }
            """#
        let order: Order = try read(text)
        #expect(order.id == 7 && order.isPaid)
        #expect(order.items.map(\.name) == ["a\"b", "ü", ""])
        #expect(order.items.map(\.count) == [2, 0, 0])
        #expect(order.items.map(\.price) == [nil, 2.5, nil])
        #expect(order.sizes == ["s": 1, "m": 2])
    }

    @Test("Arrays and spans of bytes that begin with a byte order mark are read")
    func forms() throws {
        let bytes = [0xEF, 0xBB, 0xBF] + Array(#"{"id":3}"#.utf8)
        #expect(try JSONBody().decode(Order.self, from: bytes).id == 3)
        #expect(try JSONBody().decode(Order.self, from: bytes.span).id == 3)
    }

    private class Shape: JSONReadable {
        required init(reading json: inout JSONReader) throws { try json.skipValue() }
        required init(from decoder: any Decoder) throws {}
    }

    private final class Circle: Shape {}

    @Test("A class that is known only at run time is read")
    func subclass() throws {
        let type: Shape.Type = Circle.self
        #expect(try JSONBody().decode(type, from: Array("{}".utf8)) is Circle)
    }

    @Test("With options that change names, `Decodable` reads the value")
    func snakeCase() throws {
        var json = JSONBody()
        json.options.names = .snakeCase
        let text = #"{"is_paid":true,"items":[],"sizes":{}}"#
        #expect(try json.decode(Order.self, from: Array(text.utf8)).isPaid)
        #expect(try !(read(text) as Order).isPaid)
    }

    @Test("Invalid JSON is refused, even in a skipped part or after the value")
    func invalid() {
        for text in [
            #"{"id":1"#, #"{"id":1,}"#, #"{"id":1}}"#, #"{"id":1} x"#, #"{"id"}"#, #"{"id" 1}"#,
            #"{"x":[1,]}"#, #"{"x":tru}"#, #"{"x":{"y":01}}"#, #"{"items":[{}"#,
            #"{"items":[{},]}"#, #"{"items":[{} {}]}"#, #"{"items":[,{}]}"#, #"{"id":-}"#,
            #"{"isPaid":trup}"#, "{", "", #"{"id":"\x"}"#, #"{"items":[{]}"#,
            #"{"items":{}],"id":1}"#, #"{"id":nul}"#, "nul", "?",
        ] {
            #expect(kind(text) == .invalidJSON, "\(text)")
        }
    }

    private func kind(_ text: String, _ json: JSONBody = JSONBody()) -> CodecError.Kind? {
        do throws(CodecError) {
            _ = try json.decode(Order.self, from: Array(text.utf8))
            return nil
        } catch {
            return error.kind
        }
    }

    @Test("Content that is cut at any byte is refused")
    func truncated() {
        let text = #"{"x":[{"y":"z"},-1.5e3],"items":[{"count":2,"name":"é\n"}],"isPaid":true}"#
        #expect(kind(text) == nil)
        let bytes = Array(text.utf8)
        for end in bytes.indices {
            #expect(throws: CodecError.self) {
                try JSONBody().decode(Order.self, from: Array(bytes[..<end]))
            }
        }
    }

    @Test("Content above the limits of depth, length and names is refused")
    func limits() {
        var json = JSONBody(byteLimit: 64)
        json.depthLimit = 3
        json.nameByteLimit = 8
        #expect(kind(#"{"x":[[1]]}"#, json) == nil)
        #expect(kind(#"{"x":[[[1]]]}"#, json) == .nestedTooDeeply)
        #expect(kind(#"{"items":[{"x":[1]}]}"#, json) == .nestedTooDeeply)
        #expect(kind(#"{"123456789":1}"#, json) == .inputTooLong)
        let long = String(repeating: "a", count: 64)
        #expect(kind(#"{"x":"\#(long)"}"#, json) == .inputTooLong)
    }

    @Test(
        "The error for JSON of another type has the path to the wrong value",
        arguments: [
            (#"[]"#, "expected an object, found an array"),
            (#"{"id":256}"#, "id: the number is no integer from 0 to 255"),
            (#"{"id":-1}"#, "id: the number is no integer from 0 to 255"),
            (#"{"id": 1.5 }"#, "id: the number is no integer from 0 to 255"),
            (
                #"{"items":[{"count":1},{"name":5}]}"#,
                "items[1].name: expected a string, found a number"
            ),
            (#"{"items":[{},"x"]}"#, "items[1]: expected an object, found a string"),
            (#"{"isPaid":"yes"}"#, "isPaid: expected a boolean, found a string"),
            (#"{"items":null}"#, "items: expected an array, found null"),
            (#"{"items":[{"name":"\ud800"}]}"#, "items[0].name: half of a surrogate pair"),
        ])
    func mismatches(_ text: String, _ detail: String) {
        do throws(CodecError) {
            _ = try JSONBody().decode(Order.self, from: Array(text.utf8))
            Issue.record("accepted: \(text)")
        } catch {
            #expect(error.kind == .unexpectedJSON)
            #expect(error.detail == detail)
        }
    }

    /// Refuses odd numbers, which its `Decodable` accepts.
    private struct Even: JSONReadable {
        struct Odd: Error {}
        var value: Int

        init(reading json: inout JSONReader) throws {
            value = try json.next()
            guard value.isMultiple(of: 2) else { throw Odd() }
        }

        init(from decoder: any Decoder) throws {
            value = try decoder.singleValueContainer().decode(Int.self)
        }
    }

    @Test("An error that the type throws is reported even if `Decodable` accepts the value")
    func ownErrors() throws {
        #expect((try read("[2,4]") as [Even]).map(\.value) == [2, 4])
        let error = #expect(throws: CodecError.self) { try read("[2,3]") as [Even] }
        #expect(error?.kind == .unexpectedJSON)
    }

    /// Reads as its closure does.
    private struct Probe: JSONReadable {
        @TaskLocal static var body: @Sendable (inout JSONReader) throws -> Void = { _ in }

        init(reading json: inout JSONReader) throws { try Self.body(&json) }
        init(from decoder: any Decoder) throws {}
    }

    private func probe(
        _ text: String, _ body: @escaping @Sendable (inout JSONReader) throws -> Void
    ) -> CodecError.Kind? {
        Probe.$body.withValue(body) {
            do throws(CodecError) {
                _ = try JSONBody().decode(Probe.self, from: Array(text.utf8))
                return nil
            } catch {
                return error.kind
            }
        }
    }

    @Test("Elements and members that are not read are skipped")
    func skipped() {
        let kind = probe(#"[1,[2,3],{"a":4},"x"]"#) { json in
            var count = 0
            try json.beginArray()
            while try json.nextElement() { count += 1 }
            #expect(count == 4)
        }
        #expect(kind == nil)
        let other = probe(#"{"a":[1,2],"b" : 3,"c":{"d":{}}}"#) { json in
            var names: [String] = []
            try json.beginObject()
            while let name = try json.nextName() { names.append(name.string) }
            #expect(names == ["a", "b", "c"])
        }
        #expect(other == nil)
    }

    @Test("The kind of the next value is known before it is read, and null is recognised")
    func kinds() {
        let kind = probe(#"[{},[],"",-1,true,false,null,1]"#) { json in
            var kinds: [JSONReader.Kind] = []
            try json.beginArray()
            while try json.nextElement() { kinds.append(try json.nextKind()) }
            #expect(
                kinds == [.object, .array, .string, .number, .boolean, .boolean, .null, .number])
        }
        #expect(kind == nil)
        let other = probe("[null,1]") { json in
            try json.beginArray()
            #expect(try json.nextElement())
            #expect(try json.nextNull())
            #expect(try json.nextElement())
            #expect(try !json.nextNull())
            #expect(try json.next(Int.self) == 1)
            #expect(try !json.nextElement())
        }
        #expect(other == nil)
    }

    @Test("A type that drops errors stops, and decoding throws an error")
    func droppedErrors() {
        let deep = String(repeating: #"["","#, count: 127) + "["
        for (text, expected) in [(deep, CodecError.Kind.invalidJSON), ("[1.5,2]", .unexpectedJSON)]
        {
            let kind = probe(text) { json in
                try json.beginArray()
                while try json.nextElement() { _ = try? json.next([Int].self) }
            }
            #expect(kind == expected)
        }
        // The escape is the last error before the end of the object.
        let unended = probe(#"{"a":"\x}"#) { json in
            try json.beginObject()
            while try json.nextName() != nil { _ = try? json.next(String.self) }
        }
        #expect(unended == .invalidJSON)
        for text in [#"{"a":tr"x"}"#, #"{"a":-"x"}"#, #"{"a":"\x,"b":1}"#] {
            let kind = probe(text) { json in
                try json.beginObject()
                while try json.nextName() != nil {
                    if (try? json.next(Bool.self)) == nil, (try? json.next(Int.self)) == nil {
                        _ = try? json.next(String.self)
                    }
                }
            }
            #expect(kind == .invalidJSON, "\(text)")
        }
    }

    @Test(
        "Integers in all notations are exact, or refused",
        arguments: [
            ("9007199254740993.0", 9_007_199_254_740_993), ("-9223372036854775809", nil),
            ("-9223372036854775808", .min), ("9223372036854775807.000", .max),
            ("1e18", 1_000_000_000_000_000_000),
            ("1234567890123456789.0", 1_234_567_890_123_456_789), ("1.5", nil), ("10.50e1", 105),
            ("-0", 0), ("-0.0e5", 0), ("0e999999999999999999999", 0), ("1e999999999999999999", nil),
            ("1e-1", nil), ("100E-2", 1), ("1.20e2", 120), ("-1.2e+1", -12), ("0.001e3", 1),
        ] as [(String, Int?)])
    func integers(_ text: String, _ value: Int?) {
        let bytes = Array("[\(text)]".utf8)
        #expect((try? JSONBody().decode([Int].self, from: bytes)) == value.map { [$0] })
    }

    @Test("Names with escapes are compared by their bytes")
    func escapedNames() throws {
        let text = #"{"e\u0301":1,"\u00e9":2,"b\u0061":3}"#
        let kind = probe(text) { json in
            var found: [Int] = []
            try json.beginObject()
            while let name = try json.nextName() {
                switch name {
                case "\u{e9}": found.append(1)
                case "ba": found.append(2)
                default: found.append(0)
                }
            }
            #expect(found == [0, 1, 2])
        }
        #expect(kind == nil)
        #expect(throws: CodecError.self) { try read(#"{"\ud800":1}"#) as [String: Int] }
    }

    @Test("In a dictionary the first of several equal names is used, and null is a value")
    func dictionaries() throws {
        #expect(try read(#"{"a":1,"a":"x","b":2}"#) == ["a": 1, "b": 2])
        #expect(try read(#"{"a":null,"a":1}"#) == ["a": nil] as [String: Int?])
        #expect(try JSONBody().decode(Int?.self, from: Array("null".utf8)) == nil)
        #expect(try JSONBody().decode(Int?.self, from: Array("1".utf8)) == 1)
    }

    @Test("A type that reads in a wrong order gets an error without a trap")
    func misuse() {
        let wrong: [@Sendable (inout JSONReader) throws -> Void] = [
            { _ = try $0.nextName() },
            { _ = try $0.nextElement() },
            { try $0.beginArray() },
            { try $0.beginObject() },
            { json in
                try json.beginObject()
                _ = try json.next(Int.self)
            },
            { json in
                try json.beginObject()
                _ = try json.nextElement()
            },
            { json in
                try json.skipValue()
                try json.skipValue()
            },
            { json in
                try json.beginObject()
                _ = try json.nextName()
                try json.beginArray()
                while try json.nextElement() {}
                _ = try json.nextElement()
            },
        ]
        for body in wrong { #expect(probe(#"{"a":[1]}"#, body) == .unexpectedJSON) }
        #expect(
            probe("[]") { json in
                try json.beginArray()
                _ = try json.nextKind()
            } == .unexpectedJSON)
        #expect(probe("[1]") { _ in } == .unexpectedJSON)
    }
}
