import HTTPServerCore
import HTTPServerKit
import Testing

@Suite("HTML escaping")
struct HTMLEscapingTests {
    @Test(
        "Special characters of text and of attributes are escaped",
        arguments: [
            ("plain", "plain", "plain"),
            ("a&b", "a&amp;b", "a&amp;b"),
            ("<i>x</i>", "&lt;i&gt;x&lt;/i&gt;", "&lt;i&gt;x&lt;/i&gt;"),
            (#"" onload="x"#, #"" onload="x"#, "&quot; onload=&quot;x"),
            ("it's", "it's", "it&#39;s"),
            ("&amp;", "&amp;amp;", "&amp;amp;"),
            ("ü\u{1F600}", "ü\u{1F600}", "ü\u{1F600}"),
            ("a\0b", "a\u{FFFD}b", "a\u{FFFD}b"),
            ("", "", ""),
        ])
    func escaping(raw: String, text: String, attribute: String) {
        #expect(HTMLEscaping.text(raw) == text)
        #expect(HTMLEscaping.attribute(raw) == attribute)
    }

    @Test("A writer escapes by context")
    func writer() {
        var writer = HTMLWriter()
        writer.markup("<a title=\"")
        writer.attribute("\"<")
        writer.markup("\">")
        writer.text("\"<")
        writer.markup("</a>")
        let page = String(decoding: writer.bytes, as: UTF8.self)
        #expect(page == "<a title=\"&quot;&lt;\">\"&lt;</a>")
    }
}
