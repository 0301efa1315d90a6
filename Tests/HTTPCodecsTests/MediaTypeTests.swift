import HTTPCodecs
import HTTPParser
import TestSupport
import Testing

@Suite("RFC 9110, 8.3.1: Media Type")
struct MediaTypeTests {
    @Test(
        "Names are printed in lower case, values unchanged",
        arguments: [
            ("text/html", "text/html"),
            ("TEXT/HTML;Charset=UTF-8", "text/html; charset=UTF-8"),
            (#"text/html; charset="utf-8""#, "text/html; charset=utf-8"),
            (
                #"multipart/form-data; boundary="a b?""#,
                #"multipart/form-data; boundary="a b?""#
            ),
            ("image/svg+xml ; a=1 ;; b=2", "image/svg+xml; a=1; b=2"),
            ("text/plain; a=1; A=1", "text/plain; a=1"),
        ])
    func parsing(text: String, printed: String) {
        #expect(MediaType(text)?.description == printed)
    }

    @Test(
        "Invalid media types are refused",
        arguments: [
            "", "text", "text/", "/html", "text/html/x", "text /html", "text/ html", " text/html",
            "text/html, text/plain", "text/html; charset", "text/html; charset=",
            "text/html; charset=a; charset=b", "text/ü",
        ])
    func refusal(text: String) {
        #expect(MediaType(text) == nil)
    }

    @Test("Values of parameters are compared by their bytes, long ones within ten seconds")
    func twoValues() async throws {
        #expect(MediaType("a/b; x=\"\u{E9}\"; x=\"e\u{301}\"") == nil)
        #expect(MediaType("a/b; x=\"\u{E9}\"; x=\"\u{E9}\"") != nil)
        #expect(MediaType("a/b; x=\"\u{E9}\"") != MediaType("a/b; x=\"e\u{301}\""))
        let marks = ["\u{301}\u{323}", "\u{323}\u{301}"].map {
            String(repeating: $0, count: 100_000)
        }
        let isQuick = try await takesLess(than: .seconds(10)) {
            #expect(MediaType("a/b; x=\"\(marks[0])\"; x=\"\(marks[1])\"") == nil)
            let types = try marks.map { try #require(MediaType("a/b; x=\"\($0)\"")) }
            #expect(types[0] != types[1] && Set(types).count == 2)
        }
        #expect(isQuick)
    }

    @Test("A media type of parts that a field cannot contain is refused")
    func refusedParts() {
        let split = FieldParameter(name: "a", value: "b\r\nc: d")
        #expect(MediaType("text", "plain", parameters: [split]) == nil)
        #expect(MediaType("te xt", "plain") == nil)
        #expect(MediaType("text", "") == nil)
    }

    @Test(
        "Types with the same meaning are equal",
        arguments: [
            ("text/html; charset=utf-8", "TEXT/html;charset=\"UTF-8\"", true),
            ("a/b; x=1; y=2", "a/b; y=2; x=1", true),
            ("a/b; x=V", "a/b; x=v", false),
            ("a/b", "a/b; x=1", false),
            ("a/b", "a/c", false),
        ])
    func equality(left: String, right: String, isEqual: Bool) throws {
        let left = try #require(MediaType(left))
        let right = try #require(MediaType(right))
        #expect((left == right) == isEqual)
        #expect(Set([left, right]).count == (isEqual ? 1 : 2))
    }

    @Test("Parameters are found without regard to case")
    func lookup() {
        #expect(MediaType("a/b; Boundary=Xy")?["BOUNDARY"] == "Xy")
        #expect(MediaType("a/b")?["boundary"] == nil)
        #expect(MediaType("a/b")?.essence == "a/b")
    }

    @Test("Constants equal the types that are read from their texts")
    func constants() {
        let constants: [(MediaType, String)] = [
            (.octetStream, "application/octet-stream"), (.plainText, "text/plain; charset=utf-8"),
            (.html, "text/html; charset=utf-8"), (.json, "application/json"),
            (.xml, "application/xml"), (.css, "text/css; charset=utf-8"),
            (.javaScript, "text/javascript; charset=utf-8"), (.eventStream, "text/event-stream"),
            (.svg, "image/svg+xml"), (.urlEncodedForm, "application/x-www-form-urlencoded"),
        ]
        for (constant, text) in constants {
            #expect(constant.description == text && MediaType(text) == constant)
        }
    }

    @Test("A charset is added, replaced and removed")
    func charset() {
        #expect(MediaType.html.description == "text/html; charset=utf-8")
        #expect(MediaType.html.with(charset: "ascii").description == "text/html; charset=ascii")
        #expect(MediaType.html.with(charset: nil).description == "text/html")
        #expect(MediaType.html.with(charset: "\n") == .html)
    }
}
