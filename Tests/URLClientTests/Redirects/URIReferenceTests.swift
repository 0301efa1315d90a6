import Testing
import URLClient

@Suite("RFC 3986, 5: References")
struct URIReferenceTests {
    private static let base = "http://a/b/c/d;p?q"

    @Test(
        "5.4.1: normal examples",
        arguments: [
            ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"), ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"),
            ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"),
            ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
            ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"),
            ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"),
            ("../..", "http://a/"), ("../../", "http://a/"), ("../../g", "http://a/g"),
        ])
    func normal(_ reference: String, _ target: String) {
        #expect(URIReference(reference).resolved(against: URIReference(Self.base)).text == target)
    }

    @Test(
        "5.4.2: abnormal examples",
        arguments: [
            ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
            ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."),
            (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
            ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"),
            ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
            ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("g#s/./x", "http://a/b/c/g#s/./x"), ("g#s/../x", "http://a/b/c/g#s/../x"),
            ("http:g", "http:g"),
        ])
    func abnormal(_ reference: String, _ target: String) {
        #expect(URIReference(reference).resolved(against: URIReference(Self.base)).text == target)
    }

    @Test(
        "5.2.3: a base without a path and empty components are resolved",
        arguments: [
            ("http://a", "g", "http://a/g"), ("http://a?q", "", "http://a?q"),
            ("http://a?q", "#f", "http://a?q#f"), ("http://a/b?", "?", "http://a/b?"),
            ("http://a/b", "?", "http://a/b?"), ("http://a/b", "//", "http://"),
            ("http://a/b//c", "d", "http://a/b//d"), ("http://a/b", "..//c", "http://a//c"),
        ])
    func edges(_ base: String, _ reference: String, _ target: String) {
        #expect(URIReference(reference).resolved(against: URIReference(base)).text == target)
    }

    @Test(
        "A reference is unchanged after it is split into components and joined",
        arguments: [
            "", ":", "1a:b", "a:b", "//h", "///p", "?", "#", "?#", "a?b?c#d#e",
            "http://u:p@h:1/p?q#f",
            "a+b-c.1:d", "ä:b", "//[::1]:80/x", "mailto:a@b",
        ])
    func division(_ text: String) {
        #expect(URIReference(text).text == text)
    }

    @Test("A scheme begins with a letter")
    func scheme() {
        #expect(URIReference("1a:b").scheme == nil && URIReference("1a:b").path == "1a:b")
        #expect(URIReference("a+1.-:b").scheme == "a+1.-")
        #expect(URIReference("a/b:c").scheme == nil)
    }

    @Test(
        "Invalid characters in a field value are percent-encoded, and only once",
        arguments: [
            ("/a b", "http://h/a%20b"), ("/ä?ö=ü#ß", "http://h/%C3%A4?%C3%B6=%C3%BC#%C3%9F"),
            ("/a%20b", "http://h/a%20b"), ("/100%", "http://h/100%25"),
            ("/%zz?%4", "http://h/%25zz?%254"), ("/a\\b", "http://h/a%5Cb"),
            ("/?a[]=1|2", "http://h/?a%5B%5D=1%7C2"), ("g<>", "http://h/x/g%3C%3E"),
        ])
    func encoding(_ value: String, _ target: String) {
        #expect(URIReference(field: value, base: "http://h/x/y")?.text == target)
    }

    @Test(
        "A field value with control characters or an invalid host is refused",
        arguments: [
            "/a\u{0}", "/a\r\nb", "\u{7F}", "//h ost/", "//ä@b.example/", "//a\\b/", "\t/a",
        ])
    func refusal(_ value: String) {
        #expect(URIReference(field: value, base: "http://h/") == nil)
    }
}
