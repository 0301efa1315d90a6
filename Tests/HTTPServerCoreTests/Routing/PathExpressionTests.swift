import HTTPParser
import HTTPServerCore
import TestSupport
import Testing

@testable import HTTPServerCore
@testable import HTTPServerKit

@Suite("Regular expressions for paths")
struct PathExpressionTests {
    /// The groups of a match without the whole match; `nil` if there is no match.
    private func groups(_ text: String, _ path: String) throws -> [String?]? {
        try PathExpression(text).match(path).map { Array($0.dropFirst()) }
    }

    @Test(
        "Repetitions, classes, alternatives and anchors are matched",
        arguments: [
            ("/a*", "/aaa", true), ("/a+", "/", false), ("/a?b", "/b", true),
            ("/a?b", "/aab", false),
            ("/a{2}", "/aa", true), ("/a{2}", "/aaa", false), ("/a{2,}", "/aaaa", true),
            ("/a{1,2}", "/aaa", false), ("/a{0}", "/", true), ("/[a-c_]+", "/ab_c", true),
            ("/[^/]+", "/a/b", false), ("/[^\\d]", "/5", false), ("/[\\w-]+", "/a-9", true),
            ("/\\d\\D", "/1a", true), ("/(?:a|bc)d", "/bcd", true), ("/(a|)", "/", true),
            ("^/a$", "/a", true), ("/$a", "/a", false), ("/.", "/\n", false), ("/.", "/é", true),
            ("/\\x41\\u{E9}", "/Aé", true), ("/a.c", "/abc", true), ("/a\\.c", "/abc", false),
            ("(?i)/[a-z]É", "/Qé", true), ("(?i)/[^a]", "/A", false), ("/[]]", "/]", nil),
            ("/(a*)*", "/aaa", true), ("/(a|a)*b", "/aaac", false), ("", "", true),
            ("(?:(?:(?:(?:){1000}){1000}){1000}){1000}", "", true),
        ] as [(String, String, Bool?)])
    func matching(text: String, path: String, matches: Bool?) throws {
        guard let matches else {
            #expect(throws: PathExpression.Fault.self) { try PathExpression(text) }
            return
        }
        #expect(try (groups(text, path) != nil) == matches)
    }

    @Test(
        "Groups have the captures of the preferred match",
        arguments: [
            ("/(a*)(a*)", "/aaa", ["aaa", ""]), ("/(a*?)(a*)", "/aaa", ["", "aaa"]),
            ("/(a|ab)(c|bcd)?", "/abcd", ["a", "bcd"]), ("/(a)?(b)", "/b", [nil, "b"]),
            ("/((a)|(b))*", "/ab", ["b", "a", "b"]),
            ("/(?<x>.+)\\.(?<y>.+)", "/a.b.c", ["a.b", "c"]),
            ("/(a{1,2}?)(a*)", "/aaa", ["a", "aa"]),
        ] as [(String, String, [String?])])
    func captures(text: String, path: String, expected: [String?]) throws {
        #expect(try groups(text, path) == expected)
    }

    @Test(
        "Invalid and unsupported expressions are refused",
        arguments: [
            "(", ")", "a(b", "[a", "[b-a]", "[", "a**", "*", "+a", "a{2", "a{3,2}", "a{9999}", "\\",
            "\\1", "\\b", "(?=a)", "(?<=a)", "(?!a)", "(?<a>x)(?<a>y)", "(?<>x)", "(?x)a", "^*",
            "\\x4", "\\u{110000}", "}", "]", "(a{100}){100}",
        ])
    func faults(text: String) {
        #expect(throws: PathExpression.Fault.self) { try PathExpression(text) }
    }

    @Test(
        "Matching takes no exponential time",
        arguments: ["/(a+)+b", "/(a|a)*b", "/(a*)*(a*)*b", "/(a?){40}b", "/(.*)(.*)(.*)(.*)b"])
    func time(text: String) throws {
        let expression = try PathExpression(text)
        let time = ThreadTime.measure {
            #expect(expression.match("/" + String(repeating: "a", count: 8_000)) == nil)
        }
        // A backtracking matcher would take years.
        #expect(time < .seconds(20))
    }
}
