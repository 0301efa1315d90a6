import HTTPServerCore
import HTTPServerKit
import Testing

@Suite("RFC 3986, 2.1 and 3.3: Percent-Encoding of Path Segments")
struct PercentEncodingTests {
    @Test(
        "Names are percent-encoded as links",
        arguments: [
            ("a.txt", "a.txt"), ("a&b <i>.txt", "a%26b%20%3Ci%3E.txt"), ("50%.txt", "50%25.txt"),
            ("ü ñ.txt", "%C3%BC%20%C3%B1.txt"), ("#1?.txt", "%231%3F.txt"),
            ("a/b", "a%2Fb"), (#"a\b"#, "a%5Cb"), ("a+b", "a%2Bb"), ("a\r\nb", "a%0D%0Ab"),
            ("it's \"x\"", "it%27s%20%22x%22"), ("A-Z_0.9~@", "A-Z_0.9~@"), ("\u{7F}", "%7F"),
            ("%2e%2e", "%252e%252e"), ("...", "..."),
        ])
    func segments(name: String, encoded: String) {
        #expect(PathEncoding.segment(Array(name.utf8)) == encoded)
        #expect(PathEncoding.link(to: Array(name.utf8), isDirectory: false) == encoded)
        #expect(PathEncoding.link(to: Array(name.utf8), isDirectory: true) == encoded + "/")
    }

    @Test("A name with a colon cannot be read as a scheme")
    func colon() {
        let link = PathEncoding.link(to: Array("javascript:alert(1)".utf8), isDirectory: false)
        #expect(link == "./javascript:alert%281%29")
    }

    @Test("A path is encoded like its segments, with its slashes")
    func path() {
        let names = ["a b", "%", "ü", "A-Z_0.9~@:", "#1?.txt", "it's"]
        let encoded = names.map { PathEncoding.segment(Array($0.utf8)) }.joined(separator: "/")
        #expect(PathEncoding.path(Array(names.joined(separator: "/").utf8)) == encoded)
        #expect(PathEncoding.path([0x6C, 0x2F, 0xE9]) == "l/%E9" && PathEncoding.path([]) == "")
    }

    @Test("Names that are not UTF-8 keep their bytes")
    func bytes() {
        #expect(PathEncoding.segment([0x6C, 0xE9, 0xFF, 0x00]) == "l%E9%FF%00")
    }
}
