import HTTPParser
import Testing

@Suite("RFC 9110, 5: Fields")
struct HTTPFieldsTests {
    @Test("Fields are equal if their values have the same bytes")
    func sameBytes() {
        let composed = HTTPField("A", "\u{E9}")
        #expect(composed == HTTPField("a", "\u{E9}"))
        #expect(Set([composed, HTTPField("a", "\u{E9}")]).count == 1)
        #expect(composed != HTTPField("A", "e\u{301}"))
    }

    @Test("5.1: Names are compared and hashed without regard to the case of ASCII letters")
    func nameEquality() throws {
        let upper: HTTPFieldName = "X-NAME"
        let lower: HTTPFieldName = "x-name"
        #expect(upper == lower)
        #expect(upper.hashValue == lower.hashValue)
        #expect(upper.text == "X-NAME" && "\(lower)" == "x-name")
        // Bytes that differ in bit 5 but are no letters.
        #expect(("A^" as HTTPFieldName) != ("A~" as HTTPFieldName))
        #expect(("A" as HTTPFieldName) != ("AB" as HTTPFieldName))
    }

    @Test("5.6.2: A name is a token")
    func nameTokens() {
        for byte in UInt8.min...0x7F {
            let text = String(UnicodeScalar(byte))
            let isToken = FieldValues.isToken(text)
            #expect((HTTPFieldName(text) != nil) == isToken)
        }
        for text in ["", "\u{FC}", "a\r\nb"] { #expect(HTTPFieldName(text) == nil) }
    }

    @Test("5.3: Order and duplicates are kept")
    func order() {
        var fields: HTTPFields = ["A": "1", "B": "2", "a": "3"]
        fields.append("C", "4")
        fields.append(HTTPField("b", "5"))
        #expect(fields.map(\.value) == ["1", "2", "3", "4", "5"])
        #expect(fields.values(of: "A") == ["1", "3"])
        #expect(fields.values(of: "b") == ["2", "5"])
        #expect(fields.values(of: "d") == [])
        #expect(fields["a"] == "1")
        #expect(fields.contains("c"))
        #expect(!fields.contains("d"))
        #expect(fields.count == 5)
        #expect("\(fields)" == "A: 1\nB: 2\na: 3\nC: 4\nb: 5")
    }

    @Test("Setting replaces all fields of a name by one field at the place of the first")
    func replace() {
        var fields: HTTPFields = ["A": "1", "B": "2", "a": "3", "C": "4", "A": "5"]
        fields["a"] = "new"
        #expect(fields == ["A": "new", "B": "2", "C": "4"])
        fields["D"] = "5"
        #expect(fields.last == HTTPField("D", "5"))
        fields["b"] = nil
        #expect(fields == ["A": "new", "C": "4", "D": "5"])
        fields["missing"] = nil
        #expect(fields.count == 3)
    }

    @Test("Removing deletes every field of a name")
    func remove() {
        var fields: HTTPFields = ["A": "1", "B": "2", "a": "3"]
        fields.remove("a")
        #expect(fields == ["B": "2"])
        fields.remove("b")
        #expect(fields.isEmpty)
        #expect(fields == HTTPFields())
    }

    @Test("Sections are compared by order, value and name in any case")
    func equality() {
        let fields: HTTPFields = ["A": "1", "B": "2"]
        #expect(fields == ["a": "1", "b": "2"])
        #expect(fields != ["B": "2", "A": "1"])
        #expect(fields != ["A": "1", "B": "3"])
        #expect(Set([fields, ["a": "1", "b": "2"]]).count == 1)
    }

    @Test("Fields are known to be the same if they are copies, or if the bytes of short values are")
    func knownSame() {
        let fields: HTTPFields = ["A": "\u{E9}"]
        let (copy, equal): (HTTPFields, HTTPFields) = (fields, ["a": "\u{E9}"])
        #expect(copy.isKnownSame(as: fields) && equal.isKnownSame(as: fields))
        // Equal as text, with other bytes.
        let decomposed: HTTPFields = ["A": "e\u{301}"]
        #expect(!decomposed.isKnownSame(as: fields))
        #expect(!fields.isKnownSame(as: ["B": "\u{E9}"]) && !fields.isKnownSame(as: [:]))
        let value = String(repeating: "x", count: 1_025)
        let (long, other): (HTTPFields, HTTPFields) = (["A": value], ["A": value])
        let same = long
        #expect(same.isKnownSame(as: long) && !other.isKnownSame(as: long))
    }
}
