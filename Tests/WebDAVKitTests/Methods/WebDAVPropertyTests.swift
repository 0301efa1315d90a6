import Foundation
import TestSupport
import Testing
import WebDAVKit

@Suite("RFC 4918, 9.1, 9.2 and 15: Properties")
struct WebDAVPropertyTests {
    private let client = DAVClient()

    private func find(_ path: String, _ depth: String, _ content: String = "") async throws
        -> String
    {
        let answer = try await client.send("PROPFIND", path, ["Depth: \(depth)"], content)
        #expect(answer.status == 207)
        _ = try XMLReader.read(answer.content)
        return answer.text
    }

    private func prop(_ names: String) -> String {
        "<propfind xmlns=\"DAV:\"><prop>\(names)</prop></propfind>"
    }

    @Test func allLivePropertiesOfAFile() async throws {
        _ = try await client.send("PUT", "/dav/a%20%26.txt", ["X-OC-Mtime: 1000000000"], "four")
        let text = try await find("/dav/a%20%26.txt", "0")
        for part in [
            "<D:href>/dav/a%20%26.txt</D:href>", "<D:displayname>a &amp;.txt</D:displayname>",
            "<D:getcontentlength>4</D:getcontentlength>", "<D:resourcetype/>",
            "<D:getlastmodified>Sun, 09 Sep 2001 01:46:40 GMT</D:getlastmodified>",
            "<D:getcontenttype>text/plain; charset=utf-8</D:getcontenttype>", "<D:getetag>",
            "<D:creationdate>20", "<D:supportedlock>", "<D:lockdiscovery/>", "HTTP/1.1 200 OK",
        ] {
            #expect(text.contains(part), "\(part)")
        }
        #expect(!text.contains("quota"))
    }

    @Test func depthsAndOrder() async throws {
        for path in ["/dav/c", "/dav/c/d"] { _ = try await client.send("MKCOL", path) }
        _ = try await client.send("PUT", "/dav/c/d/f", [], "x")
        func hrefs(_ depth: String) async throws -> [String] {
            try await find("/dav/c", depth, prop("<resourcetype/>"))
                .matches(of: /<D:href>([^<]*)<\/D:href>/).map { String($0.output.1) }
        }
        #expect(try await hrefs("0") == ["/dav/c/"])
        #expect(try await hrefs("1") == ["/dav/c/", "/dav/c/d/"])
        #expect(try await hrefs("infinity") == ["/dav/c/", "/dav/c/d/", "/dav/c/d/f"])
        #expect(try await client.status("PROPFIND", "/dav/c", ["Depth: 2"]) == 400)
        var options = WebDAVOptions()
        options.allowsInfiniteDepth = false
        let answer = try await DAVClient(options: options).send("PROPFIND", "/dav/")
        #expect(answer.status == 403 && answer.text.contains("<D:propfind-finite-depth/>"))
    }

    @Test func missingOnesAre404AndQuotaIsGivenWhenAsked() async throws {
        let text = try await find(
            "/dav/", "0", prop("<quota-available-bytes/><quota-used-bytes/><quota/><x xmlns='u:'/>")
        )
        #expect(text.contains("<D:quota-used-bytes>0</D:quota-used-bytes>"))
        #expect(text.contains("<D:prop><D:quota/><x:x xmlns:x=\"u:\"/></D:prop>"))
        #expect(text.contains("HTTP/1.1 404 Not Found"))
    }

    @Test func deadPropertiesStayAsTheyWere() async throws {
        _ = try await client.send("PUT", "/dav/a", [], "x")
        let value =
            "<z:v xmlns:z=\"urn:z\" xml:lang=\"de\" k=\"1 &amp; 2\"> <z:i/>ä<![CDATA[<]]></z:v>"
        let patch = """
            <D:propertyupdate xmlns:D="DAV:"><D:set><D:prop>\(value)</D:prop></D:set></D:propertyupdate>
            """
        let before = try await client.send("HEAD", "/dav/a")["ETag"]
        let answer = try await client.send("PROPPATCH", "/dav/a", [], patch)
        #expect(answer.status == 207 && answer.text.contains("200 OK"))
        #expect(try await client.send("HEAD", "/dav/a")["ETag"] == before)
        let kept = "<z:v xmlns:z=\"urn:z\" k=\"1 &amp; 2\" xml:lang=\"de\"> <z:i/>ä&lt;</z:v>"
        let alternative =
            "<z:v xmlns:z=\"urn:z\" xml:lang=\"de\" k=\"1 &amp; 2\"> <z:i/>ä&lt;</z:v>"
        func isThere(_ path: String) async throws -> Bool {
            let text = try await find(path, "0", prop("<v xmlns='urn:z'/>"))
            return text.contains(kept) || text.contains(alternative)
        }
        #expect(try await isThere("/dav/a"))
        _ = try await client.send("PUT", "/dav/a", [], "new content")
        #expect(try await isThere("/dav/a"))
        _ = try await client.send("COPY", "/dav/a", ["Destination: /dav/b"])
        _ = try await client.send("MOVE", "/dav/a", ["Destination: /dav/c"])
        #expect(try await isThere("/dav/b"))
        #expect(try await isThere("/dav/c"))
        let names = try await find("/dav/b", "0", "<propfind xmlns=\"DAV:\"><propname/></propfind>")
        #expect(names.contains("<x:v xmlns:x=\"urn:z\"/>") && names.contains("<D:getetag/>"))
    }

    @Test func aNameThatIsAskedForTwiceIsGivenOnce() async throws {
        _ = try await client.send("PUT", "/dav/f", [], "x")
        let value = String(repeating: "v", count: 10_000)
        let patch = """
            <propertyupdate xmlns="DAV:"><set><prop><p xmlns="u:">\(value)</p></prop></set>\
            </propertyupdate>
            """
        #expect(try await client.status("PROPPATCH", "/dav/f", [], patch) == 207)
        let names = String(repeating: "<p xmlns=\"u:\"/>", count: 100)
        let text = try await find("/dav/f", "0", prop(names))
        #expect(text.contains(value) && text.utf8.count < 20_000)
    }

    @Test func declarationsThatTextMayUseAreBounded() async throws {
        _ = try await client.send("PUT", "/dav/f", [], "x")
        let name = String(repeating: "n", count: 900)
        let declarations = (0..<60).map { "xmlns:a\($0)=\"\(name)\($0)\"" }.joined(separator: " ")
        let text = (0..<60).map { "a\($0):x" }.joined(separator: " ")
        let properties = (0..<200).map { "<q\($0) xmlns=\"u:\">\(text)</q\($0)>" }.joined()
        let patch = """
            <propertyupdate xmlns="DAV:" \(declarations)><set><prop>\(properties)</prop></set>\
            </propertyupdate>
            """
        #expect(try await client.status("PROPPATCH", "/dav/f", [], patch) == 507)
    }

    @Test func changesAreAllOrNone() async throws {
        _ = try await client.send("PUT", "/dav/a", [], "x")
        let patch = """
            <propertyupdate xmlns="DAV:"><set><prop><v xmlns="u:">1</v></prop></set>\
            <set><prop><getetag>no</getetag></prop></set></propertyupdate>
            """
        let text = try await client.send("PROPPATCH", "/dav/a", [], patch).text
        #expect(text.contains("<D:prop><D:getetag/></D:prop><D:status>HTTP/1.1 403 Forbidden"))
        #expect(text.contains("<D:cannot-modify-protected-property/>"))
        #expect(text.contains("HTTP/1.1 424 Failed Dependency"))
        #expect(try await find("/dav/a", "0", prop("<v xmlns='u:'/>")).contains("404"))
    }

    @Test(arguments: [
        ("<lastmodified xmlns=\"DAV:\">1000000000</lastmodified>"),
        ("<getlastmodified xmlns=\"DAV:\">Sun, 09 Sep 2001 01:46:40 GMT</getlastmodified>"),
        ("<W:Win32LastModifiedTime xmlns:W=\"urn:schemas-microsoft-com:\">Sun, 09 Sep 2001 01:46:40 GMT</W:Win32LastModifiedTime>"),
    ])
    func clientsSetTimes(_ property: String) async throws {
        _ = try await client.send("PUT", "/dav/a", [], "x")
        let answer = try await client.send(
            "PROPPATCH", "/dav/a", [],
            "<propertyupdate xmlns=\"DAV:\"><set><prop>\(property)</prop></set></propertyupdate>")
        #expect(answer.status == 207 && answer.text.contains("200 OK"))
        let text = try await find("/dav/a", "0", prop("<getlastmodified/>"))
        #expect(text.contains("Sun, 09 Sep 2001 01:46:40 GMT"))
    }

    @Test func includeAddsToAllprop() async throws {
        let names = "<quota-available-bytes/><quota-used-bytes/><x xmlns='u:'/>"
        let content =
            "<propfind xmlns=\"DAV:\"><allprop/><include>\(names)</include></propfind>"
        let text = try await find("/dav/", "0", content)
        #expect(text.contains("<D:quota-used-bytes>0</D:quota-used-bytes>"))
        #expect(text.contains("<D:quota-available-bytes>") && text.contains("<D:getlastmodified>"))
        let all = "<propfind xmlns=\"DAV:\"><allprop/></propfind>"
        #expect(try await !find("/dav/", "0", all).contains("quota"))
    }

    /// RFC 4918, 15.3: the property has the value that a GET would send.
    @Test(
        "Content-Language is stored with its content, and replaced with it",
        arguments: StoreKind.allCases)
    func theLanguageOfContentIsKept(_ kind: StoreKind) async throws {
        let client = try kind.client()
        func told(_ path: String) async throws -> String {
            let found = try await client.send(
                "PROPFIND", path, ["Depth: 0"], prop("<getcontentlanguage/>"))
            let pattern = /<D:getcontentlanguage[^>]*>([^<]*)<\/D:getcontentlanguage>/
            let property = found.text.firstMatch(of: pattern).map { String($0.output.1) }
            let field = try await client.send("GET", path)["Content-Language"]
            return "\(property ?? "none"); \(field ?? "none")"
        }
        let fields = ["Content-Language: de, en-GB"]
        #expect(try await client.status("PUT", "/dav/a", fields, "x") == 201)
        #expect(try await client.status("PUT", "/dav/b", ["Content-Language: <x>&"], "x") == 201)
        #expect(try await told("/dav/a") == "de, en-GB; de, en-GB")
        #expect(try await told("/dav/b") == "none; none")
        #expect(try await client.status("COPY", "/dav/a", ["Destination: /dav/c"]) == 201)
        let partial = [
            "Content-Type: application/x-sabredav-partialupdate", "X-Update-Range: append",
        ]
        #expect(try await client.status("PATCH", "/dav/c", partial, "y") == 204)
        #expect(try await told("/dav/c") == "de, en-GB; de, en-GB")
        let all = try await client.send("PROPFIND", "/dav/", ["Depth: 1"])
        #expect(all.text.matches(of: />de, en-GB</).count == 2)
        // New content does not keep the old language.
        #expect(try await client.status("PUT", "/dav/a", ["Content-Language: fr"], "y") == 204)
        #expect(try await told("/dav/a") == "fr; fr")
        #expect(try await client.status("PUT", "/dav/a", [], "z") == 204)
        #expect(try await told("/dav/a") == "none; none")
    }

    @Test(
        "A language set by PROPPATCH stays until new content names one",
        arguments: StoreKind.allCases)
    func theLanguageThatIsSet(_ kind: StoreKind) async throws {
        let client = try kind.client()
        let patch = """
            <propertyupdate xmlns="DAV:"><set><prop><getcontentlanguage>fr</getcontentlanguage>\
            </prop></set></propertyupdate>
            """
        func languages() async throws -> [String] {
            let all = try await client.send("PROPFIND", "/dav/a", ["Depth: 0"])
            return all.text.matches(of: />(..)<\/[^>]*contentlanguage>/).map { String($0.output.1) }
        }
        let german = ["Content-Language: de"]
        #expect(try await client.status("PUT", "/dav/a", german, "x") == 201)
        #expect(try await client.send("PROPPATCH", "/dav/a", [], patch).text.contains("200 OK"))
        #expect(try await languages() == ["fr"])
        let names = "<propfind xmlns=\"DAV:\"><propname/></propfind>"
        // Content without a language has only that of the property.
        #expect(try await client.status("PUT", "/dav/b", [], "x") == 201)
        #expect(try await client.send("PROPPATCH", "/dav/b", [], patch).text.contains("200 OK"))
        for name in ["a", "b"] {
            let named = try await client.send("PROPFIND", "/dav/\(name)", ["Depth: 0"], names).text
            #expect(named.matches(of: /contentlanguage/).count == 1, "\(name)")
        }
        #expect(try await client.status("PUT", "/dav/a", [], "y") == 204)
        #expect(try await languages() == ["fr"])
        #expect(try await client.status("PUT", "/dav/a", german, "z") == 204)
        #expect(try await languages() == ["de"])
    }

    @Test("Responses stay well-formed with a property in the namespace of xml:lang")
    func xmlNamespace() async throws {
        _ = try await client.send("PUT", "/dav/a", [], "x")
        let patch = """
            <propertyupdate xmlns="DAV:"><set><prop><xml:foo>1</xml:foo></prop></set>\
            </propertyupdate>
            """
        let names = "<propfind xmlns=\"DAV:\"><propname/></propfind>"
        for answer in [
            try await client.send("PROPPATCH", "/dav/a", [], patch),
            try await client.send("PROPFIND", "/dav/", ["Depth: 1"], names),
            try await client.send("PROPFIND", "/dav/", ["Depth: 1"]),
        ] {
            #expect(answer.status == 207 && answer.text.contains("<xml:foo"))
            #expect(!answer.text.contains("http://www.w3.org/XML/1998/namespace"))
            _ = try XMLReader.read(Array(answer.text.utf8))
        }
    }

    @Test(
        "A listing of a deep tree has the properties of all levels", arguments: StoreKind.allCases
    )
    func deepTree(_ kind: StoreKind) async throws {
        let client = try kind.client()
        var path = "/dav"
        for level in 0..<12 {
            path += "/c"
            #expect(try await client.status("MKCOL", path) == 201)
            #expect(try await client.status("PUT", path + "/f", [], "x") == 201)
            for name in ["", "/f"] {
                let patch = """
                    <propertyupdate xmlns="DAV:"><set><prop><p xmlns="u:">level \(level)\(name)</p>\
                    </prop></set></propertyupdate>
                    """
                #expect(try await client.status("PROPPATCH", path + name, [], patch) == 207)
            }
        }
        let list = try await client.send("PROPFIND", "/dav/", ["Depth: infinity"]).text
        for level in 0..<12 {
            for name in ["", "/f"] {
                #expect(list.contains(">level \(level)\(name)<"), "\(level)\(name)")
            }
        }
    }

    @Test func aDisplayNameThatIsSetTakesThePlaceOfTheOther() async throws {
        _ = try await client.send("PUT", "/dav/a", [], "x")
        let patch = """
            <propertyupdate xmlns="DAV:"><set><prop><displayname>A name</displayname></prop></set>\
            </propertyupdate>
            """
        #expect(try await client.send("PROPPATCH", "/dav/a", [], patch).text.contains("200 OK"))
        for content in ["", prop("<displayname/>")] {
            let text = try await find("/dav/a", "0", content)
            #expect(text.contains(">A name<") && !text.contains(">a<"))
            #expect(text.matches(of: /<(D:)?displayname/).count == 1)
        }
    }

    @Test func theRootHasAName() async throws {
        var options = WebDAVOptions()
        let name = "<D:displayname>Files</D:displayname>"
        #expect(try await find("/dav/", "0").contains(name))
        options.rootName = "Ann & Bob"
        let client = DAVClient(options: options)
        let text = try await client.send("PROPFIND", "/dav/", ["Depth: 0"]).text
        #expect(text.contains("<D:displayname>Ann &amp; Bob</D:displayname>"))
        let page = try await client.send("GET", "/dav/", ["Accept: text/html"])
        #expect(page.text.contains("Ann &amp; Bob"))
    }

    @Test(arguments: [
        "<a/>", "<propfind xmlns=\"DAV:\"/>", "<propfind",
        "<propfind xmlns=\"x:\"><prop/></propfind>",
    ])
    func wrongContentIs400(_ content: String) async throws {
        #expect(try await client.status("PROPFIND", "/dav/", [], content) == 400)
        #expect(try await client.status("PROPPATCH", "/dav/", [], content) == 400)
    }

    @Test func documentTypesAreRefused() async throws {
        let answer = try await client.send("PROPFIND", "/dav/", [], "<!DOCTYPE a><a/>")
        #expect(answer.status == 400 && answer.text.contains("<D:no-external-entities/>"))
    }

    /// The media types of a file in all responses that have one.
    private func types(_ path: String, _ client: DAVClient) async throws -> Set<String> {
        var types: Set<String> = []
        let ask = "<propfind xmlns=\"DAV:\"><prop><getcontenttype/></prop></propfind>"
        for content in ["", ask] {
            for (place, depth) in [(path, "0"), ("/dav/", "1")] {
                let text = try await client.send(
                    "PROPFIND", place, ["Depth: \(depth)"], content
                ).text
                let response = text.split(separator: "<D:response>").first {
                    $0.hasPrefix("<D:href>\(path)</D:href>")
                }
                let match = response?.firstMatch(
                    of: /<D:getcontenttype>([^<]*)<\/D:getcontenttype>/)
                types.insert(match.map { String($0.output.1) } ?? "none")
            }
        }
        for method in ["GET", "HEAD"] {
            types.insert(try await client.send(method, path)["Content-Type"] ?? "none")
        }
        return types
    }

    /// RFC 4918, 15.5: the property has the value that a GET would send.
    @Test(arguments: StoreKind.allCases)
    func theMediaTypeOfContentIsKept(_ kind: StoreKind) async throws {
        let client = try kind.client()
        let markdown = "text/markdown; charset=utf-8; variant=GFM"
        let put = try await client.status("PUT", "/dav/a", ["Content-Type: \(markdown)"], "x")
        #expect(put == 201)
        #expect(try await types("/dav/a", client) == [markdown])
        #expect(try await client.status("COPY", "/dav/a", ["Destination: /dav/b.txt"]) == 201)
        #expect(try await client.status("MOVE", "/dav/a", ["Destination: /dav/c.html"]) == 201)
        #expect(try await types("/dav/b.txt", client) == [markdown])
        #expect(try await types("/dav/c.html", client) == [markdown])
        // Changes of properties and times keep the type.
        let patch = """
            <propertyupdate xmlns="DAV:"><set><prop><p xmlns="u:">1</p>\
            <lastmodified>1000000000</lastmodified></prop></set></propertyupdate>
            """
        let patched = try await client.send("PROPPATCH", "/dav/b.txt", [], patch)
        #expect(patched.status == 207 && !patched.text.contains("403"))
        #expect(try await types("/dav/b.txt", client) == [markdown])
        // New content has another type, and keeps the properties.
        #expect(try await client.status("PUT", "/dav/b.txt", [], "y") == 204)
        #expect(try await types("/dav/b.txt", client) == ["text/plain; charset=utf-8"])
        let all = try await client.send("PROPFIND", "/dav/b.txt", ["Depth: 0"])
        #expect(all.text.contains(">1</p>"))
        let again = try await client.status(
            "PUT", "/dav/b.txt", ["Content-Type: text/x-other"], "z")
        #expect(again == 204)
        #expect(try await types("/dav/b.txt", client) == ["text/x-other"])
        let kept = try await client.send("PROPFIND", "/dav/b.txt", ["Depth: 0"])
        #expect(kept.text.contains(">1</p>"))
    }

    @Test(
        arguments: StoreKind.allCases,
        [
            // A generic or invalid type is replaced by that of the extension.
            ("application/octet-stream", "text/plain; charset=utf-8", false),
            ("text/plain", "text/plain; charset=utf-8", false),
            ("no type", "text/plain; charset=utf-8", false),
            ("text/\u{E9}", "text/plain; charset=utf-8", false),
            ("a/" + String(repeating: "b", count: 254), "text/plain; charset=utf-8", false),
            ("image/png", "image/png", false), ("TEXT/HTML", "TEXT/HTML", true),
            (
                "multipart/x-mixed-replace; boundary=a", "multipart/x-mixed-replace; boundary=a",
                true
            ),
        ])
    func whichMediaTypesAreKept(
        _ kind: StoreKind, _ sent: (type: String, told: String, isSandboxed: Bool)
    ) async throws {
        let client = try kind.client()
        let put = try await client.status(
            "PUT", "/dav/a.txt", ["Content-Type: " + sent.type], "x")
        #expect(put == 201)
        #expect(try await types("/dav/a.txt", client) == [sent.told])
        // A client can send any type, so active content is sandboxed.
        let policy = try await client.send("GET", "/dav/a.txt")["Content-Security-Policy"]
        #expect((policy == "sandbox") == sent.isSandboxed)
    }

    private func policy(ofContentSentAs type: String) async throws -> String? {
        let client = DAVClient()
        let page = "<html xmlns=\"http://www.w3.org/1999/xhtml\"><script>act()</script></html>"
        let put = try await client.status("PUT", "/dav/x.dat", ["Content-Type: " + type], page)
        #expect(put == 201)
        #expect(try await types("/dav/x.dat", client) == [type])
        return try await client.send("GET", "/dav/x.dat")["Content-Security-Policy"]
    }

    /// RFC 7303, 4.2: each type that ends with `+xml` is XML, and browsers run scripts of XHTML in
    /// all of them. Unknown types may be anything.
    @Test(arguments: [
        "image/svg+xml", "image/x+xml", "audio/x+xml", "Video/X+XML", "image/png+xml", "text/xml",
        "application/xhtml+xml", "image/x-unknown", "application/pdf",
    ])
    func contentThatMayActIsSandboxed(_ type: String) async throws {
        #expect(try await policy(ofContentSentAs: type) == "sandbox")
    }

    @Test(arguments: [
        "image/png", "image/jpeg; q=1", "Image/GIF", "image/webp", "audio/mpeg", "video/mp4",
    ])
    func contentThatIsOnlyShownIsNotSandboxed(_ type: String) async throws {
        #expect(try await policy(ofContentSentAs: type) == nil)
    }

    @Test func contentOfOthersIsNotOfTheTypeThatWasKept() async throws {
        let share = try Share()
        let client = try share.client()
        let put = try await client.status("PUT", "/dav/a", ["Content-Type: text/x-mine"], "mine")
        #expect(put == 201)
        #expect(try await types("/dav/a", client) == ["text/x-mine"])
        // Written into the same file, as by editors that keep its attributes.
        let handle = try #require(FileHandle(forWritingAtPath: share.path + "/a"))
        try handle.write(contentsOf: Array("others".utf8))
        try handle.close()
        #expect(try await types("/dav/a", client) == ["application/octet-stream"])
    }

    @Test func theRefusalOfADotFileTellsHowToAllowThem() async throws {
        let client = DAVClient()
        for (method, fields) in [("PUT", []), ("MKCOL", []), ("COPY", ["Destination: /dav/.a"])] {
            if method == "COPY" { _ = try await client.send("PUT", "/dav/a", [], "x") }
            let path = method == "COPY" ? "/dav/a" : "/dav/.a"
            let answer = try await client.send(method, path, fields)
            #expect(answer.status == 403 && answer.text.contains("--show-hidden"), "\(method)")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func anAmpersandInANamespaceComesBackAsItCame(_ kind: StoreKind) async throws {
        let client = try kind.client()
        #expect(try await client.status("PUT", "/dav/a", [], "x") == 201)
        let name = "<x xmlns=\"u:?a=1&amp;b=2\">1</x>"
        let change =
            "<propertyupdate xmlns=\"DAV:\"><set><prop>\(name)</prop></set></propertyupdate>"
        #expect(try await client.send("PROPPATCH", "/dav/a", [], change).text.contains("200 OK"))
        for query in ["<prop>\(name)</prop>", "<allprop/>", "<propname/>"] {
            let answer = try await client.send(
                "PROPFIND", "/dav/a", ["Depth: 0"], "<propfind xmlns=\"DAV:\">\(query)</propfind>")
            #expect(answer.text.contains("=\"u:?a=1&amp;b=2\""), "\(answer.text)")
            #expect(!answer.text.contains("404"))
        }
    }
}
