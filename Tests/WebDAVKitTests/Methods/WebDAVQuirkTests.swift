import HTTPServerCore
import TestSupport
import Testing
import WebDAVKit

/// Request sequences of known clients, step by step; `Docs/WebDAV-Clients.md` names each client.
@Suite("Quirks of WebDAV clients")
struct WebDAVQuirkTests {
    private let client = DAVClient()

    @Test func windowsSavesAFile() async throws {
        let path = "/dav/New%20Text.txt"
        #expect(try await client.status("PROPFIND", path, ["Depth: 0"]) == 404)
        #expect(try await client.status("PUT", path, ["Translate: f"]) == 201)
        let lock = try await client.send(
            "LOCK", path, ["Timeout: Second-3600", "Translate: f"], DAVClient.lockInfo())
        #expect(lock.status == 200)
        let token = try #require(lock["Lock-Token"])
        let shown = "If: (\(token))"
        func patch(_ time: String) async throws -> ServerAnswer {
            let names = ["Win32CreationTime", "Win32LastAccessTime", "Win32LastModifiedTime"]
            let properties = names.map { "<Z:\($0)>\(time)</Z:\($0)>" }.joined()
            return try await client.send(
                "PROPPATCH", path, [shown],
                """
                <?xml version="1.0" encoding="utf-8" ?><D:propertyupdate xmlns:D="DAV:" \
                xmlns:Z="urn:schemas-microsoft-com:"><D:set><D:prop>\(properties)\
                <Z:Win32FileAttributes>00000020</Z:Win32FileAttributes></D:prop></D:set>\
                </D:propertyupdate>
                """)
        }
        let first = try await patch("Sun, 09 Sep 2001 01:46:40 GMT")
        #expect(first.status == 207 && first.text.matches(of: /HTTP\/1.1 200 OK/).count == 1)
        #expect(!first.text.contains("HTTP/1.1 4"))
        #expect(try await client.status("HEAD", path) == 200)
        #expect(try await client.status("PUT", path, [shown], "content") == 204)
        #expect(try await patch("Sun, 09 Sep 2001 01:46:40 GMT").status == 207)
        #expect(try await client.status("UNLOCK", path, ["Lock-Token: \(token)"]) == 204)
        let read = try await client.send("GET", path)
        #expect(read.text == "content")
        #expect(read["Last-Modified"] == "Sun, 09 Sep 2001 01:46:40 GMT")
        // If another client holds the lock, the empty file stays.
        #expect(try await client.status("PUT", "/dav/b") == 201)
        _ = try await client.lock("/dav/b")
        #expect(try await client.status("LOCK", "/dav/b", [], DAVClient.lockInfo()) == 423)
        #expect(try await client.status("HEAD", "/dav/b") == 200)
    }

    @Test func namesThatWindowsCannotHaveAreListedWell() async throws {
        let names = [
            "a%5Cb", "c:d", "star*", "quote%22", "%3Cless%3E", "pipe%7C", "dot.", "blank%20",
            "question%3F", "hash%23", "percent%25", "amp&", "CON", "%E2%82%AC", "plus+", "semi;",
        ]
        for name in names {
            #expect(try await client.status("PUT", "/dav/" + name, [], "x") == 201, "\(name)")
        }
        let answer = try await client.send("PROPFIND", "/dav/", ["Depth: 1"])
        _ = try XMLReader.read(answer.content)
        let hrefs = answer.text.matches(of: /<D:href>([^<]*)<\/D:href>/).map {
            $0.output.1.replacing("&amp;", with: "&")
        }
        #expect(hrefs.count == names.count + 1)
        for href in hrefs.dropFirst() {
            #expect(try await client.status("GET", String(href)) == 200, "\(href)")
        }
    }

    @Test func officeOpensAndSaves() async throws {
        _ = try await client.send("PUT", "/dav/a.docx", [], "old")
        let options = try await client.send("OPTIONS", "/dav/a.docx", ["Translate: f"])
        #expect(
            options["MS-Author-Via"] == "DAV"
                && options["DAV"] == "1, 2, 3, extended-mkcol, sabredav-partialupdate")
        for method in ["LOCK", "PUT", "UNLOCK", "PROPFIND"] {
            #expect(options["Allow"]?.contains(method) == true)
        }
        // Fields without a meaning for this server are ignored.
        let fields = ["Depth: 0", "Translate: f", "Authorization: Bearer", "X-Office-Version: 16"]
        #expect(try await client.send("GET", "/dav/a.docx", fields).text == "old")
        #expect(try await client.status("HEAD", "/dav/a.docx", fields) == 200)
        let info = """
            <?xml version="1.0" encoding="utf-8"?><lockinfo xmlns="DAV:"><locktype><write/></locktype>\
            <lockscope><exclusive/></lockscope><owner>DOMAIN\\ann</owner></lockinfo>
            """
        let lock = try await client.send(
            "LOCK", "/dav/a.docx", ["Depth: 0", "Timeout: Second-180"], info)
        #expect(!lock.text.contains("<D:timeout>Second-3"))
        let token = try #require(lock["Lock-Token"])
        // The second user can see the lock's owner.
        let second = try await client.send("LOCK", "/dav/a.docx", ["Depth: 0"], info)
        #expect(second.status == 423 && second.text.contains("<D:no-conflicting-lock>"))
        let found = try await client.send("PROPFIND", "/dav/a.docx", ["Depth: 0"]).text
        #expect(found.contains(">DOMAIN\\ann</owner>"))
        let again = try await client.send(
            "LOCK", "/dav/a.docx", ["If: (\(token))", "Timeout: Second-3600"])
        #expect(again.status == 200 && again.text.contains("<D:timeout>Second-3"))
        // A temporary file replaces the document.
        _ = try await client.send("PUT", "/dav/~$a.docx", [], "new")
        let moved = try await client.status(
            "MOVE", "/dav/~$a.docx",
            ["Destination: /dav/a.docx", "Overwrite: T", "If: </dav/a.docx> (\(token))"])
        #expect(moved == 204)
        #expect(try await client.send("GET", "/dav/a.docx").text == "new")
        // 304 is only for clients with the current content.
        #expect(try await client.status("GET", "/dav/a.docx", ["If-None-Match: \"old\""]) == 200)
    }

    @Test func finderRenamesAFolderInAnySpelling() async throws {
        for (from, to) in [("c", "d"), ("d/", "e"), ("e", "f/"), ("f/", "g/")] {
            if from == "c" { #expect(try await client.status("MKCOL", "/dav/c/") == 201) }
            let moved = try await client.status(
                "MOVE", "/dav/" + from, ["Destination: http://example.org/dav/" + to])
            #expect(moved == 201, "\(from) to \(to)")
        }
        #expect(try await client.status("HEAD", "/dav/g/") == 200)
    }

    @Test func nothingIsInvented() async throws {
        _ = try await client.send("MKCOL", "/dav/c")
        let text = try await client.send("PROPFIND", "/dav/", ["Depth: 1"]).text
        let known = [
            "multistatus", "response", "href", "propstat", "prop", "status", "creationdate",
            "displayname", "getcontenttype", "getlastmodified", "lockdiscovery", "resourcetype",
            "collection", "supportedlock", "lockentry", "lockscope", "exclusive", "shared",
            "locktype", "write",
        ]
        for match in text.matches(of: /<D:([a-z0-9-]+)/) {
            #expect(known.contains(String(match.output.1)), "\(match.output.1)")
        }
        // Media players recognize folders by these properties.
        #expect(text.contains("<D:getcontenttype>httpd/unix-directory</D:getcontenttype>"))
        #expect(text.contains("<D:displayname>c</D:displayname>"))
    }

    @Test func transmitSavesSafely() async throws {
        #expect(try await client.status("MKCOL", "/dav/c/") == 201)
        #expect(try await client.status("PUT", "/dav/c/a", [], "old") == 201)
        #expect(try await client.status("PUT", "/dav/c/a~tmp", [], "new") == 201)
        #expect(try await client.status("DELETE", "/dav/c/a") == 204)
        #expect(try await client.status("MOVE", "/dav/c/a~tmp", ["Destination: /dav/c/a"]) == 201)
        #expect(try await client.send("GET", "/dav/c/a").text == "new")
        let find = "<?xml version=\"1.0\"?><propfind xmlns=\"DAV:\"><allprop/></propfind>"
        #expect(try await client.status("PROPFIND", "/dav/c/", ["Depth: 1"], find) == 207)
    }

    @Test func cyberduckLooksAtTheFolderFirst() async throws {
        _ = try await client.send("MKCOL", "/dav/c")
        // Cyberduck follows the redirect.
        let head = try await client.send("HEAD", "/dav/c")
        #expect(head.status == 301 && head["Location"] == "/dav/c/")
        #expect(try await client.status("HEAD", "/dav/c/") == 200)
        let put = try await client.status("PUT", "/dav/c/a", ["Expect: 100-continue"], "content")
        #expect(put == 201)
        let patch = """
            <propertyupdate xmlns="DAV:"><set><prop><lastmodified xmlns="urn:cyberduck">1</lastmodified>\
            </prop></set></propertyupdate>
            """
        #expect(try await client.send("PROPPATCH", "/dav/c/a", [], patch).text.contains("200 OK"))
    }

    @Test func zoteroProbesAndReplaces() async throws {
        let probe = try await client.send("POST", "/dav/", [], "x")
        #expect(probe.status == 405 && probe["Allow"]?.contains("PROPFIND") == true)
        #expect(try await client.status("PUT", "/dav/a_NEW", [], "new") == 201)
        #expect(try await client.status("DELETE", "/dav/a") == 404)
        #expect(try await client.status("MOVE", "/dav/a_NEW", ["Destination: /dav/a"]) == 201)
    }

    @Test func keeWebNeedsHiddenNames() async throws {
        var options = WebDAVOptions()
        options.allowsHidden = true
        let client = DAVClient(options: options)
        #expect(try await client.status("PUT", "/dav/k.kdbx", [], "old") == 201)
        #expect(try await client.status("PUT", "/dav/.k.kdbx.12", [], "new") == 201)
        let fields = ["Destination: /dav/k.kdbx", "Overwrite: T"]
        let moved = try await client.send("MOVE", "/dav/.k.kdbx.12", fields)
        #expect(moved.status == 204)
        #expect(try await client.send("HEAD", "/dav/k.kdbx")["ETag"] == moved["ETag"])
    }

    @Test func listingsAreSmallEnoughForWindows() async throws {
        for number in 0..<100 {
            _ = try await client.send("PUT", "/dav/a file with a name \(number)".encoded, [], "x")
        }
        let answer = try await client.send("PROPFIND", "/dav/", ["Depth: 1"])
        // Windows accepts 1,000,000 bytes, which should be enough for a thousand files.
        #expect(answer.content.count < 100 * 1_000)
    }

    @Test func aMissingDepthIsInfinity() async throws {
        _ = try await client.send("MKCOL", "/dav/c")
        _ = try await client.send("PUT", "/dav/c/f", [], "x")
        #expect(try await client.send("PROPFIND", "/dav/").text.contains("/dav/c/f<"))
    }
}

extension String {
    fileprivate var encoded: String { replacing(" ", with: "%20") }
}
