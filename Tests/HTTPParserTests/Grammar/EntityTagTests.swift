import HTTPParser
import Testing

@Suite("RFC 9110, 8.8.3: ETag")
struct EntityTagTests {
    @Test(
        "Tags are read, and written in the same form",
        arguments: [
            (#""""#, "", false), (#""xyzzy""#, "xyzzy", false), (#"W/"xyzzy""#, "xyzzy", true),
            (#"W/"""#, "", true), (#""a\""#, #"a\"#, false), (#""a,b""#, "a,b", false),
            (#""!#~""#, "!#~", false), (#""ü""#, "ü", false),
        ])
    func roundTrip(text: String, opaque: String, isWeak: Bool) {
        let tag = EntityTag(text)
        #expect(tag?.opaque == opaque)
        #expect(tag?.isWeak == isWeak)
        #expect(tag?.description == text)
        #expect(EntityTag(opaque: opaque, isWeak: isWeak) == tag)
    }

    @Test(
        "Text that is not exactly one tag is refused",
        arguments: [
            "", "xyzzy", #"""#, #""xyzzy"#, #"xyzzy""#, #"w/"xyzzy""#, #"W"xyzzy""#, "W/", "W",
            #"W/ "x""#, #" "x""#, #""x" "#, #""a b""#, "\"a\tb\"", #""x""y""#, #""x", "y""#, "*",
            "\"\u{7F}\"", "\"a\0\"", "'x'",
        ])
    func refusal(text: String) {
        #expect(EntityTag(text) == nil)
    }

    @Test(
        "Text that cannot be inside the quotes of a tag is refused",
        arguments: ["\"", "a b", "\r\n"])
    func refusedOpaque(text: String) {
        #expect(EntityTag(opaque: text) == nil)
    }

    @Test(
        "8.8.3.2: Strong comparison needs two equal strong tags, weak comparison only equal text",
        arguments: [
            (#"W/"1""#, #"W/"1""#, false, true), (#"W/"1""#, #"W/"2""#, false, false),
            (#"W/"1""#, #""1""#, false, true), (#""1""#, #""1""#, true, true),
            (#""1""#, #""2""#, false, false), (#""a""#, #""A""#, false, false),
        ])
    func comparison(left: String, right: String, strong: Bool, weak: Bool) throws {
        let left = try #require(EntityTag(left))
        let right = try #require(EntityTag(right))
        #expect(left.strongMatches(right) == strong)
        #expect(right.strongMatches(left) == strong)
        #expect(left.weakMatches(right) == weak)
        #expect(right.weakMatches(left) == weak)
    }

    @Test("Tags are compared by their bytes, not by their characters")
    func octets() throws {
        let composed = try #require(EntityTag("\"\u{E9}\""))
        let decomposed = try #require(EntityTag("\"e\u{301}\""))
        #expect(composed != decomposed)
        #expect(!composed.weakMatches(decomposed))
    }

    @Test("Tags with different bytes that are not UTF-8 are different")
    func bytes() throws {
        let values: [[UInt8]] = [[0x22, 0xE8, 0x22], [0x22, 0xE9, 0x22]]
        let tags = values.compactMap { EntityTag(parsing: $0.span) }
        try #require(tags.map(\.bytes) == values)
        #expect(tags[0].strongMatches(tags[0]))
        #expect(!tags[0].strongMatches(tags[1]))
    }

    @Test(
        "13.1: If-Match and If-None-Match contain a list or an asterisk",
        arguments: [
            ("*", EntityTagCondition.any),
            ("", .tags([])),
            (#""a""#, .tags([EntityTag(opaque: "a")].compactMap(\.self))),
            (
                #", "a" ,W/"b,c",, "\""#,
                .tags(
                    [
                        EntityTag(opaque: "a"), EntityTag(opaque: "b,c", isWeak: true),
                        EntityTag(opaque: #"\"#),
                    ].compactMap(\.self))
            ),
        ])
    func conditions(text: String, condition: EntityTagCondition) {
        #expect(EntityTagCondition(text) == condition)
    }

    @Test(
        "13.1: A list with elements that are not tags is refused",
        arguments: [#"*, "a""#, #""a", *"#, #""a" "b""#, "a", #""a", b"#, #""a""# + "x", "**"])
    func brokenConditions(text: String) {
        #expect(EntityTagCondition(text) == nil)
    }
}
