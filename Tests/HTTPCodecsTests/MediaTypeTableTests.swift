import HTTPCodecs
import Testing

@Suite("Media types by file name")
struct MediaTypeTableTests {
    @Test("The last extension determines the type, in upper and lower case", arguments: knownNames)
    func known(name: String, type: String) {
        #expect(MediaTypeTable.standard.contentType(ofFile: name) == type)
        #expect(MediaTypeTable.standard.contentType(ofFile: Array(name.utf8)) == type)
    }

    static let knownNames = [
        ("index.html", "text/html; charset=utf-8"), ("INDEX.HTM", "text/html; charset=utf-8"),
        ("a/b.c/style.css", "text/css; charset=utf-8"),
        ("app.js", "text/javascript; charset=utf-8"),
        ("app.mjs", "text/javascript; charset=utf-8"), ("data.json", "application/json"),
        ("x.wasm", "application/wasm"), ("x.svg", "image/svg+xml"), ("x.webp", "image/webp"),
        ("x.avif", "image/avif"), ("x.mp4", "video/mp4"), ("x.woff2", "font/woff2"),
        ("x.md", "text/markdown; charset=utf-8"), ("x.txt", "text/plain; charset=utf-8"),
        ("x.pdf", "application/pdf"), ("x.zip", "application/zip"),
        ("x.tar.gz", "application/gzip"), ("x.epub", "application/epub+zip"),
        ("x.xml", "application/xml"), ("manifest.webmanifest", "application/manifest+json"),
        ("x.JPEG", "image/jpeg"), ("ü.png", "image/png"), (".config.yml", "application/yaml"),
        ("..txt", "text/plain; charset=utf-8"),
    ]

    @Test(
        "Names without a known extension are octet streams",
        arguments: [
            "", ".", "..", "README", ".html", "a/.html", "file.", "file.unknown", "dir.html/file",
            "x.html ", "x.ht\u{301}ml", "x.html\0", "x.averyveryverylongextension", "x.ｈtml",
        ])
    func unknown(name: String) {
        let type = MediaTypeTable.standard.contentType(ofFile: name)
        #expect(type == "application/octet-stream")
    }

    @Test(
        "Rare extensions are known, and similar unknown ones are not",
        arguments: [
            ("123", "application/vnd.lotus-1-2-3"), ("7z", "application/x-7z-compressed"),
            ("heic", "image/heic"), ("sketch", "application/vnd.sketch"), ("step", "model/step"),
            ("mol", "chemical/x-mdl-molfile"), ("p7m", "application/pkcs7-mime"),
            ("ltx", "text/x-tex"), ("lz", "application/x-lzip"), ("m", "text/x-objective-c"),
            ("mobileconfig", "application/x-apple-aspen-config"), ("djvu", "image/vnd.djvu"),
            ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
            ("zstd", nil), ("zst", "application/zstd"), ("c++", "text/x-c"), ("bak", nil),
            ("appxbundle", "application/appxbundle"), ("appx", "application/appx"),
            ("123456", nil), ("zzzz", nil), ("0", nil), ("\u{FF}", nil), (":", nil), (" ", nil),
            ("a/vnd", nil), ("html:t", nil), ("flatpakre", nil), ("flatpakref2", nil),
        ] as [(String, String?)])
    func rare(name: String, type: String?) {
        let expected = type.map { $0.hasPrefix("text/") ? $0 + "; charset=utf-8" : $0 }
        let found = MediaTypeTable.standard.contentType(ofFile: "a." + name)
        #expect(found == expected ?? "application/octet-stream")
    }

    @Test("An empty table has no types until one is added")
    func emptyTable() {
        var table = MediaTypeTable()
        #expect(table["html"] == nil)
        #expect(table.contentType(ofFile: "a.html") == "application/octet-stream")
        table["html"] = .html
        #expect(table.contentType(ofFile: "a.html") == "text/html; charset=utf-8")
    }

    @Test("Rows can be added, replaced and removed, and the standard table stays the same")
    func overriding() {
        var table = MediaTypeTable.standard
        table["Log2"] = MediaType("text", "x-log")
        table["html"] = MediaType("application", "xhtml+xml")
        table["css"] = nil
        #expect(table.contentType(ofFile: "a.log2") == "text/x-log; charset=utf-8")
        #expect(table.contentType(ofFile: "a.html") == "application/xhtml+xml")
        #expect(table.contentType(ofFile: "a.css") == "application/octet-stream")
        #expect(table["HTML"]?.essence == "application/xhtml+xml")
        #expect(table["css"] == nil)
        #expect(MediaTypeTable.standard["css"]?.essence == "text/css")
    }

    @Test("The charset of a type is kept, and none is added if the table has none")
    func charset() {
        var table = MediaTypeTable()
        table["a"] = MediaType("text/plain; charset=iso-8859-1")
        table.textCharset = nil
        table["b"] = MediaType("text/plain")
        #expect(table.contentType(ofFile: "x.a") == "text/plain; charset=iso-8859-1")
        #expect(table.contentType(ofFile: "x.b") == "text/plain")
    }

    @Test("Extensions of 16 bytes are distinguished up to the last byte")
    func longExtensions() {
        var table = MediaTypeTable()
        table["abcdefghijklmnop"] = .html
        table["abcdefghijklmnoq"] = .json
        #expect(table["ABCDEFGHIJKLMNOP"] == .html)
        #expect(table["abcdefghijklmnoq"] == .json)
        #expect(table["bcdefghijklmnop"] == nil)
        #expect(table["abcdefghijklmnopq"] == nil)
    }

    @Test("Setting an invalid extension traps")
    func badExtension() async {
        await #expect(processExitsWith: .failure) {
            var table = MediaTypeTable()
            table[".html"] = .html
        }
    }
}
