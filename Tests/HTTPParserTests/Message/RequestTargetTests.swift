import HTTPParser
import Testing

@Suite("RFC 9112, 3.2: Request targets")
struct RequestTargetTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var text: String
        var method = HTTPMethod.get
        var form: RequestTarget.Form
        var path: String
        var query: String?
        var authority: String?
        var testDescription: String { text }
    }

    static let rows = [
        Row(text: "/", form: .origin, path: "/"),
        Row(text: "/a/b%2Fc", form: .origin, path: "/a/b%2Fc"),
        Row(text: "/a?b?c", form: .origin, path: "/a", query: "b?c"),
        Row(text: "/?", form: .origin, path: "/", query: ""),
        Row(text: "//h/p", form: .origin, path: "//h/p"),
        Row(text: "/a:b@c", form: .origin, path: "/a:b@c"),
        Row(text: "http://h", form: .absolute, path: "/", authority: "h"),
        Row(text: "http://h/", form: .absolute, path: "/", authority: "h"),
        Row(text: "http://h?q", form: .absolute, path: "/", query: "q", authority: "h"),
        Row(text: "HTTP://H:80/a?b", form: .absolute, path: "/a", query: "b", authority: "H:80"),
        Row(
            text: "http://[fe80::1%25a-b.c_d~%3b]/", form: .absolute, path: "/",
            authority: "[fe80::1%25a-b.c_d~%3b]"),
        Row(text: "x+y-z.1://[::1]:8/a", form: .absolute, path: "/a", authority: "[::1]:8"),
        Row(
            text: "http://h/a?b=http://c/d", form: .absolute, path: "/a", query: "b=http://c/d",
            authority: "h"),
        Row(text: "h:443", method: .connect, form: .authority, path: "", authority: "h:443"),
        Row(
            text: "[::1]:443", method: .connect, form: .authority, path: "",
            authority: "[::1]:443"),
        Row(text: "*", method: .options, form: .asterisk, path: "*"),
        Row(text: "/x", method: .options, form: .origin, path: "/x"),
    ]

    @Test("The four forms of targets are read with their parts", arguments: rows)
    func parts(row: Row) throws {
        let target = try #require(RequestTarget(row.text, method: row.method))
        #expect(target.form == row.form)
        #expect(target.path == row.path)
        #expect(target.query == row.query)
        #expect(target.authority == row.authority)
        #expect("\(target)" == row.text)
    }

    @Test(
        "Targets that have none of the forms are refused",
        arguments: [
            "", " ", "a", "a/b", "*", "**", "http:", "http:/", "http://", "http:///a", "://h",
            "1a://h", "http://a b", "http://h:x/", "http://h:65536", "http://[::1", "http://]",
            "http://[fe80::1%25a;b]/", "http://[fe80::1%25!]/", "http://[fe80::1%25a=]/",
            "http://u@h", "/#", "/\u{FC}", "/\r\n", "h:443", "/a b", "\0",
        ])
    func refused(text: String) {
        #expect(RequestTarget(text) == nil)
    }

    @Test(
        "Targets that are not valid for CONNECT are refused",
        arguments: [
            "", "/", "*", "h", "h:", ":1", "h:x", "h:1:2", "[::1]", "http://h:1", "h:1/", "h:99999",
        ])
    func refusedByConnect(text: String) {
        #expect(RequestTarget(text, method: .connect) == nil)
    }
}
