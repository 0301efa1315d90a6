import HTTPParser
import TestSupport
import Testing
import WebDAVKit

@Suite("RFC 4918, 10: Fields")
struct WebDAVFieldTests {
    @Test(
        arguments: [
            ("0", Depth.zero), ("1", .one), ("infinity", .infinity), ("Infinity", .infinity),
            ("2", nil), ("", nil), ("0, 1", nil), ("-1", nil),
        ] as [(String, Depth?)])
    func section10_2_depth(_ field: String, _ depth: Depth?) {
        #expect(Depth(field) == depth)
    }

    @Test(
        arguments: [
            (nil, true), ("T", true), ("F", false), ("t", true), ("f", false), ("true", nil),
            ("", nil), ("TT", nil), ("T\u{301}", nil), (" F", nil), ("\u{FF26}", nil),
        ] as [(String?, Bool?)])
    func section10_6_overwrite(_ field: String?, _ overwrite: Bool?) {
        #expect(Overwrite.parse(field) == overwrite)
    }

    @Test(
        arguments: [
            ("Second-4100000000", 4_100_000_000), ("Infinite, Second-4100000000", .max),
            ("Second-600", 600), ("second-1", 1), ("Extend, Second-5", 5), ("Second-", nil),
            ("Second--1", nil), ("Second-99999999999999999999", .max), ("", nil), ("600", nil),
            ("\t SECOND-7 x", 7), ("Second-5x", nil), ("Second-x, Second-9", 9),
            ("Infinitely", .max), ("infinit,Second-2", 2), ("second-x,infinite", .max),
            (",,Second-3", 3), ("Second-1,Second-2", 1), (" , ", nil), ("Second-4 ,", 4),
            ("Second-9223372036854775807", .max), ("Second-9223372036854775808", .max),
            ("Second-0", 0), ("Second-00000000000000000000012", 12), ("insecond-5", nil),
            ("Second", nil), ("x Second-5", nil), ("Sécond-5", nil), ("Second-\u{665}", nil),
        ] as [(String, Int?)])
    func section10_7_timeout(_ field: String, _ seconds: Int?) {
        #expect(Timeout.seconds(field) == seconds)
    }

    @Test(
        arguments: [
            ("<urn:uuid:a>", "urn:uuid:a"), (" <opaquelocktoken:x> ", "opaquelocktoken:x"),
            ("urn:uuid:a", nil), ("<>", nil), ("<a b>", nil), ("<a><b>", nil),
        ] as [(String, String?)])
    func section10_5_lockToken(_ field: String, _ uri: String?) {
        #expect(LockToken(field: field)?.uri == uri)
    }

    @Test func tokensAreRandomUUIDs() {
        let tokens = Set((0..<100).map { _ in LockToken.random().uri })
        #expect(tokens.count == 100)
        for token in tokens {
            #expect(
                token.wholeMatch(
                    of:
                        /urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/
                ) != nil)
        }
    }

    @Test func section10_4_lists() throws {
        let header = try #require(
            IfHeader("(<urn:a> [\"x\"]) (Not <DAV:no-lock> [W/\"y]\"])"))
        #expect(header.lists.count == 2)
        #expect(header.lists[0].conditions.map(\.isNegated) == [false, false])
        #expect(header.lists[1].conditions.map(\.isNegated) == [true, false])
        #expect(Set(header.tokens.map(\.uri)) == ["urn:a", "DAV:no-lock"])
        #expect(header.lists[0].conditions[1].kind == .tag(try #require(EntityTag("\"x\""))))
    }

    /// Collecting the tokens for each lookup would take a thousand times as long.
    @Test("A lookup in the tokens of If costs the same however many there are")
    func tokensAreCollectedOnce() throws {
        func least(_ count: Int) throws -> Duration {
            let tokens = (0..<count).map { "<urn:\($0)>" }
            let lists = stride(from: 0, to: count, by: 250).map { start in
                "(" + tokens[start..<min(start + 250, count)].joined() + ")"
            }
            let header = try #require(IfHeader(lists.joined()))
            #expect(header.tokens.count == count)
            let token = LockToken(uri: "urn:1")
            var least = Duration.seconds(3_600)
            for _ in 0..<20 {
                let time = ThreadTime.measure {
                    for _ in 0..<100 { _ = header.tokens.contains(token) }
                }
                least = min(least, time)
            }
            return least
        }
        let (few, many) = (try least(10), try least(10_000))
        #expect(many < few * 50, "\(few) with 10, \(many) with 10,000")
    }

    @Test func section10_4_taggedLists() throws {
        let header = try #require(
            IfHeader("<http://host/a> (<urn:a>) (<urn:b>) </b> (Not<urn:c>)"))
        #expect(header.lists.map(\.resource) == ["http://host/a", "http://host/a", "/b"])
        #expect(header.lists[2].conditions[0].isNegated)
    }

    @Test(arguments: [
        "", "()", "(", "(<a>", "<a>", "(<a>) <b> (<c>)", "<a> (<b>) <c>", "(<>)", "([x])", "(Not)",
        "(not not <a>)", "<a b> (<c>)", "(<a>) x", "[\"x\"]", "(<a> , <b>)",
    ])
    func section10_4_whatIsNotOfTheGrammar(_ field: String) {
        #expect(IfHeader(field) == nil)
    }

    private func path(_ field: String) throws(Destination.Fault) -> String {
        try Destination(field, host: "Example.org", origins: ["https://proxy.example"])
            .segments.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "|")
    }

    @Test(arguments: [
        ("/a/b", "a|b"), ("http://example.org/a/", "a|"), ("https://EXAMPLE.ORG:443/a", "a"),
        ("http://example.org:80/a%20b", "a b"), ("http://example.org/a b", "a b"),
        ("/a%zz", "a%zz"), ("/100%", "100%"), ("/a?b", "a?b"), ("/a#b", "a#b"),
        ("https://proxy.example/x", "x"),
        ("http://example.org", ""), ("/a/../b/./c", "b|c"), ("/%C3%A4", "ä"), ("/ä", "ä"),
    ])
    func section10_3_destination(_ field: String, _ expected: String) throws {
        #expect(try path(field) == expected)
    }

    @Test(arguments: [
        ("http://other.org/a", Destination.Fault.otherServer),
        ("http://example.org:8080/a", .otherServer), ("ftp://example.org/a", .otherServer),
        ("a/b", .malformed), ("", .malformed), ("/../a", .malformed), ("/a%00", .malformed),
        ("mailto:x", .malformed),
    ])
    func section10_3_refused(_ field: String, _ fault: Destination.Fault) {
        #expect(throws: fault) { try path(field) }
    }

    @Test func pathsKnowTheirPlace() throws {
        let inner = try #require(ResourcePath("a/b/c"))
        let outer = try #require(ResourcePath("a"))
        let near = try #require(ResourcePath("a-b"))
        #expect(inner.isWithin(outer) && !outer.isWithin(inner) && outer.isWithin(outer))
        #expect(!near.isWithin(outer) && near.isWithin(.root) && !ResourcePath.root.isWithin(outer))
        #expect(inner.parent?.parent == outer && outer.parent == .root)
        // The members of a collection directly follow it.
        #expect([near, inner, outer].sorted() == [outer, inner, near])
        #expect(inner.moved(from: outer, to: near).description == "/a-b/b/c")
        #expect(ResourcePath(segments: [[0x2E, 0x2E]]) == nil)
        #expect(ResourcePath(segments: [[0x61, 0x2F]]) == nil)
        #expect(ResourcePath(segments: [[0x61, 0x00]]) == nil)
        #expect(ResourcePath(segments: [[0xFF], [0x0A]])?.bytes == [0xFF, 0x2F, 0x0A])
    }
}
