import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import Testing

@Suite("Directory listing")
struct DirectoryListingTests {
    static func entry(_ name: String, isDirectory: Bool = false, size: Int64 = 1) -> DirectoryEntry
    {
        DirectoryEntry(
            name: Array(name.utf8), isDirectory: isDirectory, size: size,
            modified: HTTPDate(secondsSinceEpoch: 1_795_287_900))
    }

    static func page(_ entries: [DirectoryEntry], path: [String] = []) -> String {
        let listing = DirectoryListing(path: path.map { Array($0.utf8) }, entries: entries)
        return String(decoding: listing.rendered(as: .html), as: UTF8.self)
    }

    static func json(_ entries: [DirectoryEntry]) -> String {
        String(
            decoding: DirectoryListing(path: [], entries: entries).rendered(as: .json),
            as: UTF8.self)
    }

    @Test("Folders come first, and names are in natural order")
    func order() {
        let entries = [
            Self.entry("b10"), Self.entry("B9"), Self.entry("z", isDirectory: true),
            Self.entry("a", isDirectory: true), Self.entry("1"),
        ]
        let names = DirectoryListing(path: [], entries: entries).entries.map {
            String(decoding: $0.name, as: UTF8.self)
        }
        #expect(names == ["a", "z", "1", "B9", "b10"])
    }

    @Test("Entries without a valid name are left out", arguments: ["", ".", ".."])
    func noNames(name: String) {
        let listing = DirectoryListing(path: [], entries: [Self.entry(name, isDirectory: true)])
        #expect(listing.entries.isEmpty)
    }

    @Test(
        "Names are escaped as text and encoded as links",
        arguments: [
            ("a&b <i>.txt", "a%26b%20%3Ci%3E.txt", "a&amp;b &lt;i&gt;.txt"),
            (#""><script>.txt"#, "%22%3E%3Cscript%3E.txt", #""&gt;&lt;script&gt;.txt"#),
            ("50%.txt", "50%25.txt", "50%.txt"),
            ("ü ñ.txt", "%C3%BC%20%C3%B1.txt", "ü ñ.txt"),
            ("#1?.txt", "%231%3F.txt", "#1?.txt"),
            ("a:b", "./a:b", "a:b"),
            ("a\nb", "a%0Ab", "a␊b"),
        ])
    func names(name: String, link: String, text: String) {
        let page = Self.page([Self.entry(name)])
        #expect(page.contains("<a href=\"\(link)\">"))
        #expect(page.contains("<span dir=\"auto\">\(text)</span>"))
        #expect(page.components(of: "<script>") == 1)
    }

    @Test("Names of parent folders are escaped everywhere")
    func pathNames() {
        let page = Self.page([], path: ["</title><script>", "b"])
        #expect(page.components(of: "<script>") == 1)
        #expect(page.contains("<title>b ‹ &lt;/title&gt;&lt;script&gt;</title>"))
    }

    @Test("The link of a name that is not UTF-8 has its bytes")
    func invalidUTF8() {
        var entry = Self.entry("x")
        entry.name = [0x6C, 0xE9]
        #expect(Self.page([entry]).contains("<a href=\"l%E9\">"))
        #expect(Self.json([entry]).contains(#""name":"l\#u{FFFD}","#))
        #expect(Self.json([entry]).contains(#""href":"l%E9""#))
    }

    @Test("Sizes and times are readable, with exact values for sorting")
    func columns() {
        let page = Self.page([Self.entry("a", size: 1_536)])
        #expect(page.contains(#"data-value="1536" title="1536 bytes">1.5 KiB</td>"#))
        #expect(page.contains(#"<time datetime="2026-11-21T19:05:00Z">2026-11-21 19:05</time>"#))
        #expect(page.contains("1 file · 1.5 KiB"))
    }

    @Test("Below the root there are links to each parent folder")
    func breadcrumb() {
        let page = Self.page([Self.entry("x")], path: ["a", "b"])
        #expect(page.contains("<li><a href=\"../../\">"))
        #expect(page.contains("<li><a href=\"../\"><span dir=\"auto\">a</span>"))
        #expect(page.contains("<h1 dir=\"auto\"><span dir=\"auto\">b</span></h1>"))
        #expect(page.contains("Parent folder"))
    }

    @Test(
        "The upload link has the folder's path at any address of the page",
        arguments: [
            ("up/", [], "./up/?path=/"), ("a:b/", [], "./a:b/?path=/"),
            ("up/", ["a b", "c"], "../../up/?path=/a%20b/c/"),
            ("../up/", ["a"], "../../up/?path=/a/"), ("/up/", ["a&b"], "/up/?path=/a%26b/"),
            ("https://a.example/\"", ["x"], "https://a.example/&quot;?path=/x/"),
        ] as [(String, [String], String)])
    func uploadLink(_ address: String, _ path: [String], _ link: String) {
        let listing = DirectoryListing(
            path: path.map { Array($0.utf8) }, uploadPage: address, entries: [Self.entry("x")])
        let page = String(decoding: listing.rendered(as: .html), as: UTF8.self)
        #expect(page.contains("<a class=\"upload\" href=\"\(link)\">Upload</a>"), "\(page)")
        #expect(!Self.page([Self.entry("x")]).contains("class=\"upload\""))
    }

    @Test("The root has no parent")
    func root() {
        let page = Self.page([Self.entry("x")])
        #expect(!page.contains("../"))
        #expect(!page.contains("Parent folder"))
    }

    @Test("An empty folder says so", arguments: [[], ["a"]])
    func empty(path: [String]) {
        let page = Self.page([], path: path)
        #expect(page.contains("This folder is empty"))
        #expect(page.contains("Parent folder") == !path.isEmpty)
        #expect(!Self.page([Self.entry("x")], path: path).contains("This folder is empty"))
    }

    @Test("A sum of sizes that overflows does not trap")
    func hugeSum() {
        let page = Self.page([Self.entry("a", size: .max), Self.entry("b", size: .max)])
        #expect(page.contains("2 files · 8.0 EiB"))
    }

    @Test("JSON has one object for each entry")
    func jsonObjects() {
        let entries = [Self.entry("b.txt", size: 5), Self.entry("a b", isDirectory: true)]
        let expected = """
            [
            {"name":"a b","type":"directory","size":null,"modified":"2026-11-21T19:05:00Z",\
            "href":"a%20b/"},
            {"name":"b.txt","type":"file","size":5,"modified":"2026-11-21T19:05:00Z",\
            "href":"b.txt"}
            ]

            """
        #expect(Self.json(entries) == expected)
        #expect(Self.json([]) == "[]\n")
    }

    @Test(
        "JSON strings escape characters that would end them or a surrounding script",
        arguments: [
            ("a\"b", #"a\"b"#), (#"a\b"#, #"a\\b"#), ("</script>", #"\u003C/script>"#),
            ("<!--", #"\u003C!--"#), ("a\nb\tc\r", #"a\nb\tc\r"#),
            ("\u{1}\u{1F}\u{7F}", #"\u0001\u001F\u007F"#),
            ("\u{2028}\u{2029}", #"\u2028\u2029"#), ("ü\u{1F600}", "ü\u{1F600}"),
        ])
    func jsonEscapes(text: String, escaped: String) {
        var output: [UInt8] = []
        JSONText.append(text, to: &output)
        #expect(String(decoding: output, as: UTF8.self) == "\"\(escaped)\"")
    }

    @Test(
        "JSON is sent if Accept prefers it to HTML",
        arguments: [
            (nil, .html), ("*/*", .html), ("application/json", .json), ("garbage", .html),
            ("image/png", .html), ("application/json, */*", .json),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", .html),
        ] as [(String?, DirectoryListing.Format)])
    func formats(accept: String?, format: DirectoryListing.Format) {
        #expect(DirectoryListing.Format(accept: accept) == format)
    }

    @Test("Each format has its media type")
    func mediaTypes() {
        #expect(DirectoryListing.Format.html.mediaType.description == "text/html; charset=utf-8")
        #expect(DirectoryListing.Format.json.mediaType.description == "application/json")
    }
}

extension String {
    /// How often this text contains another one.
    fileprivate func components(of text: String) -> Int {
        ranges(of: text).count
    }
}
