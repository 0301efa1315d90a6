import HTTPCodecs
import HTTPParser
import Testing

@Suite("URL standard: names and values of forms")
struct FormURLEncodedTests {
    @Test(
        "Reading returns the written pairs",
        arguments: [
            ([], ""), ([("a", "b")], "a=b"), ([("a", "")], "a="), ([("", "")], "="),
            ([("a b", "c+d")], "a+b=c%2Bd"), ([("a&b", "=")], "a%26b=%3D"),
            ([("ü", "🎈")], "%C3%BC=%F0%9F%8E%88"), ([("~!*", "-._'()")], "%7E%21*=-._%27%28%29"),
            ([("a", "1"), ("b", "2"), ("a", "3")], "a=1&b=2&a=3"), ([("\0", "\r\n")], "%00=%0D%0A"),
        ] as [([(String, String)], String)])
    func roundTrip(pairs: [(String, String)], encoded: String) throws {
        let form = FormURLEncoded(pairs)
        #expect(form.description == encoded)
        #expect(form.encoded == Array(encoded.utf8))
        #expect(try FormURLEncoded(encoded) == form)
        #expect(form.map(\.name) == pairs.map(\.0))
        #expect(form.map(\.value) == pairs.map(\.1))
    }

    @Test("Names are found in order, and compared byte by byte")
    func lookup() throws {
        let form = try FormURLEncoded("a=1&b=2&a=3&A=4&e%CC%81=5&&x")
        #expect(form["a"] == "1")
        #expect(form.values(of: "a") == ["1", "3"])
        #expect(form["A"] == "4")
        #expect(form["x"] == "")
        #expect(form["y"] == nil)
        #expect(form.values(of: "y") == [])
        #expect(form.contains("b") && !form.contains("B") && !form.contains(""))
        // The same character in another encoding is another name.
        #expect(form["e\u{301}"] == "5")
        #expect(form["\u{E9}"] == nil)
    }

    @Test("Setting replaces all pairs at the place of the first")
    func setting() {
        var form: FormURLEncoded = ["a": "1", "b": "2", "a": "3", "c": "4"]
        form["a"] = "x"
        #expect(form.description == "a=x&b=2&c=4")
        form["b"] = "y"
        #expect(form.description == "a=x&b=y&c=4")
        form["c"] = "z"
        #expect(form.description == "a=x&b=y&c=z")
        form["d"] = "new"
        #expect(form.description == "a=x&b=y&c=z&d=new")
        form["a"] = nil
        form["nothing"] = nil
        #expect(form.description == "b=y&c=z&d=new")
        form.append("b", "&")
        #expect(form.description == "b=y&c=z&d=new&b=%26")
        #expect(form.last == FormURLEncoded.Pair(name: "b", value: "&"))
        let composed = FormURLEncoded.Pair(name: "a", value: "\u{E9}")
        #expect(composed != FormURLEncoded.Pair(name: "a", value: "e\u{301}"))
        #expect(Set([composed, composed]).count == 1)
    }

    @Test("Forms with the same pairs in the same order are equal")
    func equality() throws {
        var form: FormURLEncoded = ["x": "1", "a": "2"]
        form["x"] = nil
        #expect(try form == FormURLEncoded("a=2"))
        #expect(try Set([form]).contains(FormURLEncoded("%61=2")))
        #expect(try form != FormURLEncoded("a2="))
        #expect(try FormURLEncoded("a=1&b=2") != FormURLEncoded("b=2&a=1"))
    }

    @Test(
        "The query of a request target is read",
        arguments: [
            ("/search?q=a+b&q=c", ["a b", "c"]), ("/search?", []), ("/search", []),
            ("http://h/?q=%3F?", ["??"]), ("/?q", [""]),
        ])
    func query(text: String, values: [String]) throws {
        let target = try #require(RequestTarget(text))
        #expect(try FormURLEncoded(query: target.query).values(of: "q") == values)
    }

    @Test("A name is found among 10,000 names of the same length")
    func manyNames() throws {
        let form = FormURLEncoded((0..<10_000).map { ("name\(10_000 + $0)", "\($0)") })
        #expect(form["name19999"] == "9999")
        #expect(form["name99999"] == nil)
    }
}
