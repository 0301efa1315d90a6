import TestSupport
import Testing
import WebDAVKit

@Suite("RFC 4918, 8.2: XML of requests")
struct XMLReaderTests {
    private func read(_ text: String) throws -> XMLElement {
        try XMLReader.read(Array(text.utf8))
    }

    private func fault(_ text: String) -> XMLFault.Kind? {
        do {
            _ = try read(text)
            return nil
        } catch let fault as XMLFault {
            return fault.kind
        } catch {
            return nil
        }
    }

    @Test func namesHaveNamespacesWhateverThePrefix() throws {
        let first = try read(
            "<D:propfind xmlns:D=\"DAV:\"><D:prop><D:getetag/></D:prop></D:propfind>")
        let second = try read("<propfind xmlns=\"DAV:\"><prop><getetag/></prop></propfind>")
        #expect(first == second)
        #expect(first.name == .dav("propfind"))
        #expect(first.child(.dav("prop"))?.children.map(\.name) == [.dav("getetag")])
    }

    @Test func textAndAttributesAreDecoded() throws {
        let root = try read(
            "<a b=\"1 &amp; &lt;2&gt; &#38;amp;\">x &amp; <![CDATA[<y>]]>&#x20AC;</a>")
        #expect(root.text == "x & <y>€")
        #expect(root.attributes.first?.value == "1 & <2> &amp;")
    }

    /// Namespaces are values of attributes (Namespaces in XML 1.0, section 3).
    @Test func namespacesAreDecoded() throws {
        let root = try read(
            """
            <a xmlns="u:?a=1&amp;b&#38;amp;c" xmlns:x="x&amp;y">\
            <x:b x:c="&amp;#38;&amp;\u{301}"/></a>
            """)
        #expect(root.name == XMLName("a", in: "u:?a=1&b&amp;c"))
        #expect(root.declarations.map(\.namespace) == ["u:?a=1&b&amp;c", "x&y"])
        #expect(root.children.map(\.name) == [XMLName("b", in: "x&y")])
        let attribute = try #require(root.children.first?.attributes.first)
        #expect(attribute.name == XMLName("c", in: "x&y"))
        #expect(Array(attribute.value.utf8) == Array("&#38;&\u{301}".utf8))
    }

    @Test(arguments: [
        "", "<a>", "<a></b>", "<a><b></a></b>", "text", "<a/><b/>", "<D:a/>",
        "<b:a xmlns:b=\"\"/>", "<a>&undefined;</a>", "<a b=\"1\" b=\"2\"/>", "<a>\u{1}</a>",
        "<a x:b=\"1\"/>", "<a xmlns:x=\"u:\" x:b:c=\"1\"/>", "<a><b x:c=\"1\"/></a>",
    ])
    func whatIsNotWellFormedIsRefused(_ text: String) {
        #expect(fault(text) == .malformed)
    }

    @Test(arguments: [
        "<!DOCTYPE a><a/>",
        "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>",
        "<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a/>",
        "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>",
        "<!DOCTYPE a [<!ENTITY % x SYSTEM \"http://127.0.0.1:1/\"> %x;]><a/>",
    ])
    func documentTypesAreRefused(_ text: String) {
        #expect(fault(text) == .documentType)
    }

    @Test func entityExpansionIsRefusedBeforeItStarts() {
        var text = "<!DOCTYPE a [<!ENTITY e0 \"0123456789\">"
        for level in 1...20 {
            text += "<!ENTITY e\(level) \"\(String(repeating: "&e\(level - 1);", count: 10))\">"
        }
        #expect(fault(text + "]><a>&e20;</a>") == .documentType)
    }

    @Test(arguments: [(63, false), (64, false), (65, true), (10_000, true)])
    func depthIsLimited(_ depth: Int, isRefused: Bool) {
        let text =
            String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        #expect(fault(text) == (isRefused ? .tooLarge : nil))
    }

    @Test(arguments: [(9_999, false), (10_000, true)])
    func elementsAreLimited(_ count: Int, isRefused: Bool) {
        let text = "<a>" + String(repeating: "<b/>", count: count) + "</a>"
        #expect(fault(text) == (isRefused ? .tooLarge : nil))
    }

    @Test func lengthIsLimited() {
        let text = "<a>" + String(repeating: "x", count: 1 << 20) + "</a>"
        #expect(fault(text) == .tooLarge)
    }

    @Test(arguments: [
        "<a>" + "<b " + String(repeating: "x", count: 80_000) + "='1'/></a>",
        "<a><![CDATA[" + String(repeating: "x", count: 400_000) + "]]></a>",
        "<a><!--" + String(repeating: "x", count: 80_000) + "--></a>",
        "<a><b " + (0..<20_000).map { "a\($0)=''" }.joined(separator: " ") + "/></a>",
    ])
    func markupIsLimited(_ text: String) {
        #expect(fault(text) == .tooLarge)
    }

    @Test func longTextIsNoMarkup() throws {
        for text in ["x", "&amp;", "€ "] {
            let count = 900_000 / text.utf8.count
            let long = String(repeating: text, count: count)
            #expect(try read("<a>\(long)</a>").text.count == count * (text == "€ " ? 2 : 1))
        }
        let long = String(repeating: "<", count: 60_000)
        #expect(try read("<a><![CDATA[\(long)]]></a>").text == long)
    }

    @Test func otherEncodingsAreRead() throws {
        let latin =
            Array("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>".utf8) + [0xE4]
            + Array("</a>".utf8)
        #expect(try XMLReader.read(latin).text == "ä")
        let mark = [0xEF, 0xBB, 0xBF] + Array("<a>ä</a>".utf8)
        #expect(try XMLReader.read(mark).text == "ä")
        let wide = "<a>ä</a>".utf16.reduce(into: [0xFF, 0xFE] as [UInt8]) { bytes, unit in
            bytes += [UInt8(truncatingIfNeeded: unit), UInt8(truncatingIfNeeded: unit >> 8)]
        }
        #expect(try XMLReader.read(wide).text == "ä")
    }

    @Test func fragmentsStandForThemselves() throws {
        let text = """
            <D:prop xmlns:D="DAV:" xmlns:z="urn:z" xmlns:q="urn:q" xml:lang="de">\
            <z:author kind="q:name" other="&quot;&amp;"> <b xmlns="urn:b">x &lt; y</b></z:author></D:prop>
            """
        let prop = try read(text)
        let author = try #require(prop.children.first)
        let xml = author.fragment(
            scope: NamespaceScope(prop.declarations), language: prop.languageIfSet)
        #expect(
            xml == """
                <z:author xmlns:z="urn:z" xmlns:q="urn:q" kind="q:name" other="&quot;&amp;" \
                xml:lang="de"> <b xmlns="urn:b">x &lt; y</b></z:author>
                """)
        let again = try read(xml)
        #expect(again.name == author.name && again.nodes == author.nodes)
    }

    @Test func whatXMLCannotHoldIsReplaced() {
        var writer = XMLWriter()
        writer.text("a\u{1}b\u{FFFE}c\u{FFFF}d<&>\r\"€\u{10FFFF}")
        #expect(writer.text == "a\u{FFFD}b\u{FFFD}c\u{FFFD}d&lt;&amp;&gt;&#13;\"€\u{10FFFF}")
    }

    /// Texts of peers are equal if their bytes are. Comparing takes no longer with combining
    /// characters, which `String` would have to sort.
    @Test func namesAreComparedByteByByte() throws {
        #expect(XMLName("e\u{301}", in: "u:") != XMLName("\u{E9}", in: "u:"))
        #expect(LockToken(uri: "u:e\u{301}") != LockToken(uri: "u:\u{E9}"))
        let property = DeadProperty(.dav("a"), xml: "<a>e\u{301}</a>")
        #expect(property != DeadProperty(.dav("a"), xml: "<a>\u{E9}</a>"))
        func least(_ text: String) -> Duration {
            let names = Set((0..<50).map { XMLName("n\($0)", in: text) })
            var least = Duration.seconds(3_600)
            for _ in 0..<5 {
                let time = ThreadTime.measure {
                    for number in 0..<50 {
                        // A separate storage, because identical ones would be compared by identity.
                        let other = String(decoding: Array(text.utf8), as: UTF8.self)
                        #expect(names.contains(XMLName("n\(number)", in: other)))
                    }
                }
                least = min(least, time)
            }
            return least
        }
        let marks = String(
            String.UnicodeScalarView(
                (0..<20_000).map { index in
                    index % 2 == 0 ? "\u{301}" : "\u{323}"
                }))
        let plain = String(repeating: "x", count: marks.utf8.count)
        let (some, others) = (least(plain), least(marks))
        #expect(others < some * 20 + .milliseconds(5), "\(others), \(some) without marks")
    }

    /// Prefixes that occur in values are declared in a fragment, and unused ones are not.
    @Test func prefixesInValuesStayDeclared() throws {
        let root = try read(
            """
            <p xmlns="DAV:" xmlns:xs="u:xs" xmlns:b="u:b" xmlns:c="u:c" xmlns:n="u:n">\
            <v t="xs:string">at b:name, (c:name)</v></p>
            """)
        let child = try #require(root.children.first)
        let text = child.fragment(scope: NamespaceScope(root.declarations), language: nil)
        for prefix in ["xs", "b", "c"] { #expect(text.contains("xmlns:\(prefix)=\"u:\(prefix)\"")) }
        #expect(!text.contains("u:n"))
        #expect(try read(text).name == .dav("v"))
    }

    @Test("Inner declarations hide outer ones, and all keep their order")
    func innerDeclarationsHideOuterOnes() throws {
        let root = try read(
            """
            <p xmlns:a="u:0" xmlns:b="u:0" xmlns:c="u:0"><a:v xmlns:c="u:4" t="b:n c:n"/></p>
            """)
        let child = try #require(root.children.first)
        let scope = NamespaceScope([("b", "u:1"), ("c", "u:1"), ("a", "u:2"), ("d", "u:2")])
            .inside([]).inside([("b", "u:3")])
        #expect(
            child.fragment(scope: scope, language: nil)
                == "<a:v xmlns:a=\"u:2\" xmlns:b=\"u:3\" xmlns:c=\"u:4\" t=\"b:n c:n\"/>")
    }

    @Test func longNamesOfAttributesAndNamespacesAreRefused() {
        let long = String(repeating: "n", count: 1_025)
        for text in [
            "<a \(long)=\"\"/>", "<a xmlns:x=\"\(long)\"/>", "<a xmlns:\(long)=\"u:\"/>",
            "<a xmlns:\(long)=\"u:\" \(long):b=\"\"/>",
        ] {
            #expect(fault(text) == .tooLarge)
            #expect(fault(text.replacing(long, with: String(long.dropLast()))) == nil)
        }
    }
}
