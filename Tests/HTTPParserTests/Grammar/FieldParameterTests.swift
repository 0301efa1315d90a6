import HTTPParser
import Testing

@Suite("RFC 9110, 5.6.6 and 12.4.2: Parameters and Weights")
struct FieldParameterTests {
    @Test(
        "Parameters follow semicolons, which may have white space around them",
        arguments: [
            ("attachment", "attachment", []),
            ("a;b=c", "a", ["b=c"]),
            ("a ; b=c\t;\td=e", "a", ["b=c", "d=e"]),
            ("a;;b=c; ;", "a", ["b=c"]),
            ("a/b; NAME=Value", "a/b", ["name=Value"]),
            (#"a; b="c;d,e"; f=g"#, "a", [#"b="c;d,e""#, "f=g"]),
            (#"a; b="needless""#, "a", ["b=needless"]),
            (#"a; b="""#, "a", [#"b="""#]),
        ] as [(String, String, [String])])
    func parameters(text: String, value: String, parameters: [String]) {
        let parsed = ParameterizedValue(text)
        #expect(parsed?.value == value)
        #expect(parsed?.parameters.map(\.fieldValue) == parameters)
    }

    @Test(
        "Malformed parameters are refused",
        arguments: [
            "", ";a=b", "a;b", "a;b=", "a;=c", "a;b =c", "a;b= c", #"a;b="c"#, #"a;b="c"d"#, "a b",
            "a,b", " a", "a/", "/a", "a/b/c", "a;b=c,d", "a;b=c d=e", "a;b=\u{E9}",
        ])
    func brokenParameters(text: String) {
        #expect(ParameterizedValue(text) == nil)
    }

    @Test("Trailing white space is ignored, and names are found in any case")
    func lookup() {
        let value = ParameterizedValue(#"form-data; Name="x"; name=y "#)
        #expect(value?["NAME"] == "x")
        #expect(value?["other"] == nil)
    }

    @Test("A parameter is printed only if a field can contain it")
    func printing() {
        #expect(FieldParameter(name: "A", value: "b c").fieldValue == #"a="b c""#)
        #expect(FieldParameter(name: "a", value: "\r\nx: y").fieldValue == nil)
        #expect(FieldParameter(name: "a b", value: "c").fieldValue == nil)
        #expect(FieldParameter(name: "", value: "c").fieldValue == nil)
    }

    @Test(
        "Weighted lists keep their order; the default weight is 1000",
        arguments: [
            ("", []),
            ("gzip", ["gzip 1000"]),
            ("gzip;q=0.5, br , *;q=0", ["gzip 500", "br 1000", "* 0"]),
            (",gzip ; Q=0.25,,", ["gzip 250"]),
            ("text/html, */*;q=0.8", ["text/html 1000", "*/* 800"]),
            ("a/b;level=1;q=0.3;ext=2", ["a/b;level=1 300"]),
        ] as [(String, [String])])
    func weightedLists(text: String, elements: [String]) {
        let printed = FieldValues.weightedList(text)?.map { element in
            let parameters = element.parameters.compactMap(\.fieldValue).map { ";" + $0 }
            return "\(element.value)\(parameters.joined()) \(element.weight)"
        }
        #expect(printed == elements)
    }

    @Test(
        "A list with a malformed element or weight is refused",
        arguments: [
            "gzip;q", "gzip;q=", "gzip;q=2", "gzip;q=.2", "gzip br", "gzip;q=1 br", "ä", "/",
        ])
    func brokenWeightedLists(text: String) {
        #expect(FieldValues.weightedList(text) == nil)
    }
}
