import HTTPServerCore
import TestSupport
import Testing
import WebDAVKit

@Suite("WebDAV beyond RFC 4918: RFC 5689, RFC 8144, RFC 3744, 5.4, and partial updates")
struct WebDAVExtensionTests {
    // MARK: RFC 5689

    private static let xml = ["Content-Type: application/xml"]

    private static func mkcol(_ properties: String, _ kinds: String = "<collection/>") -> String {
        """
        <mkcol xmlns="DAV:"><set><prop><resourcetype>\(kinds)</resourcetype>\(properties)</prop>\
        </set></mkcol>
        """
    }

    @Test(arguments: StoreKind.allCases)
    func aCollectionIsMadeWithItsProperties(_ kind: StoreKind) async throws {
        let client = try kind.client()
        let content = Self.mkcol("<displayname>A name</displayname><p xmlns=\"u:\">1</p>")
        #expect(try await client.status("MKCOL", "/dav/c", Self.xml, content) == 201)
        let found = try await client.send("PROPFIND", "/dav/c", ["Depth: 0"]).text
        #expect(found.contains(">A name</") && found.contains(">1</p>"))
        #expect(found.contains("<D:resourcetype><D:collection/></D:resourcetype>"))
        #expect(!found.contains("A name</displayname><D:displayname"))
        #expect(try await client.status("MKCOL", "/dav/d", Self.xml, Self.mkcol("")) == 201)
        #expect(try await client.status("MKCOL", "/dav/c", Self.xml, content) == 405)
        #expect(try await client.status("MKCOL", "/dav/x/y", Self.xml, content) == 409)
    }

    /// Section 3: with all properties, or not at all.
    @Test(
        arguments: StoreKind.allCases,
        [
            (mkcol("<p xmlns=\"u:\"/>", "<collection/><c xmlns=\"u:\"/>"), "valid-resourcetype"),
            (mkcol("<p xmlns=\"u:\"/>", ""), "valid-resourcetype"),
            (mkcol("<getetag>x</getetag><p xmlns=\"u:\"/>"), "cannot-modify-protected-property"),
        ])
    func aCollectionThatCannotBeAsWishedIsNotMade(
        _ kind: StoreKind, _ wish: (content: String, condition: String)
    ) async throws {
        let client = try kind.client()
        let answer = try await client.send("MKCOL", "/dav/c", Self.xml, wish.content)
        #expect(answer.status == 403)
        let root = try XMLReader.read(Array(answer.text.utf8))
        #expect(root.name == .dav("mkcol-response"))
        #expect(answer.text.contains("<D:\(wish.condition)/>"))
        #expect(answer.text.contains("424 Failed Dependency"))
        #expect(try await client.status("PROPFIND", "/dav/c", ["Depth: 0"]) == 404)
    }

    @Test func aCollectionWhosePropertiesCannotBeKeptIsNotMade() async throws {
        let client = DAVClient()
        // Each property is stored with its namespace, so together they exceed the limit.
        let space = "u:" + String(repeating: "x", count: 1_000)
        let properties = (0..<1_100).map { "<x:p\($0)/>" }.joined()
        let content = Self.mkcol(properties).replacing(
            "<mkcol ", with: "<mkcol xmlns:x=\"\(space)\" ")
        let answer = try await client.send("MKCOL", "/dav/d", Self.xml, content)
        #expect(answer.status == 507 && answer.text.contains("mkcol-response"))
        #expect(try await client.status("PROPFIND", "/dav/d", ["Depth: 0"]) == 404)
    }

    @Test(arguments: [
        ("application/xml", "<x/>", 400), ("application/xml", "<mkcol", 400),
        ("application/xml", "<mkcol xmlns=\"DAV:\"/>", 400), ("text/plain", mkcol(""), 415),
        (
            "text/xml", "<mkcol xmlns=\"DAV:\"><remove><prop><p/></prop></remove></mkcol>", 400
        ),
    ])
    func otherContentOfMkcolIsRefused(
        _ type: String, _ content: String, _ status: Int
    ) async throws {
        let client = DAVClient()
        let answer = try await client.status(
            "MKCOL", "/dav/c", ["Content-Type: " + type], content)
        #expect(answer == status)
        #expect(try await client.status("PROPFIND", "/dav/c", ["Depth: 0"]) == 404)
    }

    // MARK: RFC 8144

    @Test(arguments: [
        ("return=minimal", true), ("Return = \"minimal\"", true),
        ("foo; x, return=minimal; y", true),
        ("return=representation", false), ("xreturn=minimal", false), ("", false),
    ])
    func minimalAnswers(_ prefer: String, _ isMinimal: Bool) async throws {
        let client = DAVClient()
        #expect(try await client.status("PUT", "/dav/a", [], "x") == 201)
        let fields = ["Prefer: " + prefer]
        let ask = """
            <propfind xmlns="DAV:"><prop><getcontentlength/><none xmlns="u:"/></prop></propfind>
            """
        let nothing = "<propfind xmlns=\"DAV:\"><prop><none xmlns=\"u:\"/></prop></propfind>"
        for (path, depth) in [("/dav/a", "0"), ("/dav/", "1")] {
            let found = try await client.send("PROPFIND", path, fields + ["Depth: " + depth], ask)
            #expect(found.status == 207 && found.text.contains("<D:getcontentlength>1<"))
            #expect(found.text.contains("404 Not Found") == !isMinimal)
            #expect(found["Preference-Applied"] == (isMinimal ? "return=minimal" : nil))
            let empty = try await client.send(
                "PROPFIND", path, fields + ["Depth: " + depth], nothing)
            // Section 2.1: a response still has a propstat.
            #expect(empty.text.contains("<D:prop></D:prop><D:status>HTTP/1.1 200 OK"))
        }
        let set = """
            <propertyupdate xmlns="DAV:"><set><prop><p xmlns="u:">1</p></prop></set></propertyupdate>
            """
        let patched = try await client.send("PROPPATCH", "/dav/a", fields, set)
        #expect(patched.status == (isMinimal ? 200 : 207) && patched.text.isEmpty == isMinimal)
        let wrong = set.replacing("<p xmlns=\"u:\">1</p>", with: "<getetag>1</getetag>")
        let refused = try await client.send("PROPPATCH", "/dav/a", fields, wrong)
        #expect(refused.status == 207 && refused.text.contains("403 Forbidden"))
    }

    @Test("Properties, also missing ones, are listed in the order of the request")
    func propertiesKeepTheOrderOfTheRequest() async throws {
        let client = DAVClient()
        #expect(try await client.status("PUT", "/dav/a", [], "x") == 201)
        let set = """
            <propertyupdate xmlns="DAV:"><set><prop><displayname>A</displayname>\
            <p xmlns="u:">1</p><q xmlns="u:">2</q></prop></set></propertyupdate>
            """
        #expect(try await client.status("PROPPATCH", "/dav/a", [], set) == 207)
        let ask = """
            <propfind xmlns="DAV:"><prop><m/><q xmlns="u:"/><getcontentlength/><n xmlns="u:"/>\
            <quota-used-bytes/><p xmlns="u:"/><displayname/><o/></prop></propfind>
            """
        let found = try await client.send("PROPFIND", "/dav/a", ["Depth: 0"], ask).text
        #expect(
            found.contains(
                /<D:prop><q [^>]*>2<\/q><D:getcontentlength>1<.*><p [^>]*>1<\/p><.*>A<.*200 OK/))
        let missing = "<D:m/><x:n xmlns:x=\"u:\"/><D:quota-used-bytes/><D:o/>"
        #expect(found.contains("<D:propstat><D:prop>\(missing)</D:prop><D:status>HTTP/1.1 404"))
    }

    // MARK: RFC 3744

    @Test(arguments: [true, false])
    func privilegesAreToldWhenAsked(_ isReadOnly: Bool) async throws {
        let store = MemoryStore()
        let path = try #require(ResourcePath("c"))
        try await store.makeCollection(at: path)
        var options = WebDAVOptions()
        options.isReadOnly = isReadOnly
        let client = DAVClient(store: store, options: options)
        let ask = """
            <propfind xmlns="DAV:"><prop><current-user-privilege-set/></prop></propfind>
            """
        let found = try await client.send("PROPFIND", "/dav/c", ["Depth: 0"], ask).text
        #expect(found.contains("<D:privilege><D:read/></D:privilege>"))
        #expect(found.contains("<D:write/>") == !isReadOnly)
        #expect(found.contains("<D:bind/>") == !isReadOnly)
        let all = try await client.send("PROPFIND", "/dav/c", ["Depth: 0"]).text
        #expect(!all.contains("privilege"))
    }

    // MARK: Partial updates

    private static let part = "Content-Type: application/x-sabredav-partialupdate"

    @Test(
        arguments: StoreKind.allCases,
        [
            ("append", "XY", 204, "0123456789XY"), ("bytes=3-4", "XY", 204, "012XY56789"),
            ("bytes=9-", "XY", 204, "012345678XY"), ("bytes=10-", "XY", 204, "0123456789XY"),
            ("bytes=-3", "XY", 204, "0123456XY9"), ("Bytes=0-0", "X", 204, "X123456789"),
            ("bytes=-10", "", 204, "0123456789"),
            // Gaps, wrong lengths and invalid ranges are refused.
            ("bytes=11-", "XY", 416, nil), ("bytes=-11", "XY", 416, nil),
            ("bytes=3-5", "XY", 416, nil), ("bytes=3-3", "XY", 416, nil),
            ("bytes=5-3", "XY", 400, nil), ("bytes=1-2,4-5", "XY", 400, nil),
            ("bytes=+1-2", "XY", 400, nil), ("bytes=-", "XY", 400, nil), ("", "XY", 400, nil),
            ("bytes=99999999999999999999-", "XY", 400, nil),
            ("bytes=9223372036854775807-", "XY", 416, nil), ("lines=1-2", "XY", 400, nil),
        ] as [(String, String, Int, String?)])
    func partsAreWritten(
        _ kind: StoreKind, _ wish: (range: String, content: String, status: Int, text: String?)
    ) async throws {
        let client = try kind.client()
        let typed = ["Content-Type: text/x-mine"]
        #expect(try await client.status("PUT", "/dav/a", typed, "0123456789") == 201)
        let before = try await client.send("HEAD", "/dav/a")["ETag"]
        let fields = [Self.part, "X-Update-Range: " + wish.range]
        let length = wish.content.isEmpty ? ["Content-Length: 0"] : []
        let answer = try await client.send("PATCH", "/dav/a", fields + length, wish.content)
        #expect(answer.status == wish.status)
        let after = try await client.send("GET", "/dav/a")
        #expect(after.text == wish.text ?? "0123456789")
        #expect(after["Content-Type"] == "text/x-mine")
        if wish.status == 204 {
            #expect(answer["ETag"] == after["ETag"] && answer["ETag"] != before)
        } else {
            #expect(after["ETag"] == before)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func partsHeedConditionsLocksAndLimits(_ kind: StoreKind) async throws {
        var options = WebDAVOptions()
        options.partialUpdateLimit = 12
        let client = try kind.client(options)
        #expect(try await client.status("PUT", "/dav/a", [], "0123456789") == 201)
        #expect(try await client.status("MKCOL", "/dav/c") == 201)
        let append = [Self.part, "X-Update-Range: append"]
        #expect(try await client.status("PATCH", "/dav/a", append, "123") == 413)
        #expect(try await client.status("PATCH", "/dav/none", append, "1") == 404)
        #expect(try await client.status("PATCH", "/dav/c", append, "1") == 405)
        #expect(
            try await client.status("PATCH", "/dav/a", append + ["If-Match: \"x\""], "1") == 412)
        let other = try await client.send(
            "PATCH", "/dav/a", ["Content-Type: text/plain", "X-Update-Range: append"], "1")
        #expect(other.status == 415)
        #expect(other["Accept-Patch"] == "application/x-sabredav-partialupdate")
        let token = try await client.lock("/dav/a")
        #expect(try await client.status("PATCH", "/dav/a", append, "1") == 423)
        let shown = append + ["If: (<\(token)>)"]
        #expect(try await client.status("PATCH", "/dav/a", shown, "12") == 204)
        #expect(try await client.send("GET", "/dav/a").text == "012345678912")
        let told = try await client.send("OPTIONS", "/dav/a")
        #expect(told["Allow"]?.contains("PATCH") == true)
        #expect(told["Accept-Patch"] == "application/x-sabredav-partialupdate")
        #expect(try await client.send("OPTIONS", "/dav/c")["Accept-Patch"] == nil)
    }

    @Test func longPartsOfLongFiles() async throws {
        let share = try Share()
        let client = try share.client()
        let old = String(repeating: "0123456789abcdef", count: 40_000)
        let part = String(repeating: "ABCDEFGH", count: 20_000)
        #expect(try await client.status("PUT", "/dav/a", [], old) == 201)
        let patched = try await client.status(
            "PATCH", "/dav/a", [Self.part, "X-Update-Range: bytes=300001-"], part)
        #expect(patched == 204)
        let expected = old.prefix(300_001) + part + old.dropFirst(300_001 + part.count)
        #expect(share.text("a") == String(expected))
        // No temporary file is left.
        let names = try await client.send("PROPFIND", "/dav/", ["Depth: 1"]).text
        #expect(names.matches(of: /<D:response>/).count == 2)
    }
}
