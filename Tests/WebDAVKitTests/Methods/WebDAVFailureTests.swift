import HTTPParser
import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem
import WebDAVKit

@Suite("Errors of a store are reported and change nothing")
struct WebDAVFailureTests {
    private static let patch = """
        <propertyupdate xmlns="DAV:"><set><prop><p xmlns="u:">1</p></prop></set></propertyupdate>
        """

    @Test(arguments: [
        ("PUT", "/dav/t/f", [], "new"), ("PUT", "/dav/t/n", [], "new"),
        ("MKCOL", "/dav/t/n", [], ""),
        ("COPY", "/dav/s", ["Destination: /dav/t/n"], ""),
        ("COPY", "/dav/s", ["Destination: /dav/t"], ""),
        ("MOVE", "/dav/s", ["Destination: /dav/t"], ""),
        ("PROPPATCH", "/dav/t/f", [], patch), ("LOCK", "/dav/t/n", [], DAVClient.lockInfo()),
    ])
    func aFullDisk(
        _ method: String, _ path: String, _ fields: [String], _ content: String
    ) async throws {
        let isFull = Locked(false)
        let store = FailingStore { path in
            isFull.withLock { $0 } && path.description.hasPrefix("/t") ? .storageFull : nil
        }
        let client = DAVClient(store: store)
        for name in ["/dav/t", "/dav/s"] {
            #expect(try await client.status("MKCOL", name) == 201)
            #expect(try await client.status("PUT", name + "/f", [], "old of \(name)") == 201)
        }
        isFull.withLock { $0 = true }
        let answer = try await client.send(method, path, fields, content)
        // PROPPATCH reports the status of each property within a 207.
        #expect(answer.status == (method == "PROPPATCH" ? 207 : 507))
        #expect(method != "PROPPATCH" || answer.text.contains("HTTP/1.1 507 "))
        #expect(answer.text.contains("<D:sufficient-disk-space/>"))
        #expect(try await client.send("GET", "/dav/t/f").text == "old of /dav/t")
        #expect(try await client.send("GET", "/dav/s/f").text == "old of /dav/s")
        #expect(try await client.status("GET", "/dav/t/n") == 404)
        isFull.withLock { $0 = false }
        // The refused LOCK has left no lock.
        #expect(try await client.status("PUT", "/dav/t/n", [], "x") == 201)
    }

    @Test func aMemberThatCannotBeRemovedIsNamed() async throws {
        let store = FailingStore { $0.description == "/t/kept" ? .forbidden : nil }
        let client = DAVClient(store: store)
        _ = try await client.send("MKCOL", "/dav/t")
        let other = try #require(ResourcePath("t/kept"))
        try await store.inner.makeCollection(at: other)
        _ = try await client.send("PUT", "/dav/t/gone", [], "x")
        let answer = try await client.send("DELETE", "/dav/t")
        #expect(answer.status == 207)
        #expect(answer.text.contains("<D:href>/dav/t/kept/</D:href>"))
        #expect(answer.text.contains("HTTP/1.1 403 Forbidden"))
        #expect(!answer.text.contains("/dav/t/gone"))
        #expect(try await client.status("HEAD", "/dav/t/kept/") == 200)
        #expect(try await client.status("GET", "/dav/t/gone") == 404)
    }

    private static let describedCollection = """
        <mkcol xmlns="DAV:"><set><prop><p xmlns="u:">1</p></prop></set></mkcol>
        """

    /// Another program adds a member before the properties are refused.
    @Test(arguments: [507, 500])
    func aNewCollectionIsNotTakenAwayWithWhatOthersHavePutIntoIt(_ status: Int) async throws {
        let error = status == 507 ? WebDAVError.storageFull : WebDAVError(.internalServerError)
        let store = FailingStore(onChange: { inner, path in
            try await inner.makeCollection(at: path.appending(Array("theirs".utf8)))
            throw error
        })
        let client = DAVClient(store: store)
        let answer = try await client.status(
            "MKCOL", "/dav/c", ["Content-Type: application/xml"], Self.describedCollection)
        #expect(answer == status)
        #expect(try await client.status("PROPFIND", "/dav/c/theirs", ["Depth: 0"]) == 207)
    }

    @Test(arguments: [507, 500])
    func theFirstErrorOfANewCollectionIsTold(_ status: Int) async throws {
        let error = status == 507 ? WebDAVError.storageFull : WebDAVError(.internalServerError)
        // The collection is already gone, so its removal fails, too.
        let store = FailingStore(onChange: { inner, path in
            _ = try await inner.remove(path)
            throw error
        })
        let client = DAVClient(store: store)
        let answer = try await client.status(
            "MKCOL", "/dav/c", ["Content-Type: application/xml"], Self.describedCollection)
        #expect(answer == status)
    }

    @Test func errorsOfUnknownKindsAre500AndTellNothing() async throws {
        struct Secret: Error, CustomStringConvertible { var description: String { "secret" } }
        var options = WebDAVOptions()
        options.shouldPerform = { _, _ in throw Secret() }
        let client = DAVClient(options: options)
        let answer = try await client.send("PUT", "/dav/a", [], "x")
        #expect(answer.status == 500 && !answer.text.contains("secret"))
    }

    @Test func memoryIsAFullDiskAsWell() async throws {
        let client = DAVClient(store: MemoryStore(byteLimit: 10))
        #expect(try await client.status("PUT", "/dav/a", [], "1234567") == 201)
        #expect(try await client.status("PUT", "/dav/b", [], "1234567") == 507)
        #expect(try await client.status("COPY", "/dav/a", ["Destination: /dav/b"]) == 507)
        #expect(try await client.status("PUT", "/dav/a", [], "1234567890") == 204)
        let chunked = MemoryConnection(client.router)
        chunked.send(
            "PUT /dav/c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
            "b\r\n12345678901\r\n0\r\n\r\n")
        let record = try await chunked.output("\r\n\r\n")
        #expect(record.text.hasPrefix("HTTP/1.1 507 "), "\(record.text)")
        chunked.end()
    }

    @Test("Names and properties in memory have a limit, too")
    func memoryForDescriptions() async throws {
        let client = DAVClient(store: MemoryStore(byteLimit: 10))
        let value = String(repeating: "v", count: 1_000_000)
        let patch = """
            <propertyupdate xmlns="DAV:"><set><prop><p xmlns="u:">\(value)</p></prop></set>\
            </propertyupdate>
            """
        for number in 0..<6 {
            #expect(try await client.status("MKCOL", "/dav/\(number)") == 201)
            let answer = try await client.send("PROPPATCH", "/dav/\(number)", [], patch).text
            #expect(answer.contains(number < 4 ? "200 OK" : "507 Insufficient"), "\(number)")
        }
        let copy = ["Destination: /dav/copy"]
        #expect(try await client.status("COPY", "/dav/0", copy) == 507)
        #expect(try await client.status("MOVE", "/dav/0", copy) == 201)
        #expect(try await client.status("DELETE", "/dav/copy") == 204)
        #expect(try await client.status("COPY", "/dav/1", copy) == 201)
        let list = try await client.send("PROPFIND", "/dav/", ["Depth: 1"]).text
        #expect(list.matches(of: /<D:response>/).count == 7)
    }

    @Test(
        "A refused change of properties does not change the entity tag", arguments: [true, false])
    func unchangedTag(isLocal: Bool) async throws {
        let share = try Share()
        let client = try isLocal ? share.client() : DAVClient()
        #expect(try await client.status("PUT", "/dav/a", [], "x") == 201)
        let tag = try await client.send("HEAD", "/dav/a")["ETag"]
        // More than the limit of a file, because each property is stored with its namespace.
        let names = (0..<1_100).map { "<x:p\($0)/>" }.joined()
        let patch = """
            <D:propertyupdate xmlns:D="DAV:" xmlns:x="\(String(repeating: "n", count: 1_000))">\
            <D:set><D:prop><D:lastmodified>1000000000</D:lastmodified>\(names)</D:prop></D:set>\
            </D:propertyupdate>
            """
        let answer = try await client.send("PROPPATCH", "/dav/a", [], patch)
        #expect(answer.status == 207 && answer.text.contains("HTTP/1.1 507 "))
        #expect(try await client.send("HEAD", "/dav/a")["ETag"] == tag)
    }

    private static func windowsPatch(_ more: String = "") -> String {
        """
        <D:propertyupdate xmlns:D="DAV:" xmlns:Z="urn:schemas-microsoft-com:"><D:set><D:prop>\
        <Z:Win32LastModifiedTime>Sun, 09 Sep 2001 01:46:40 GMT</Z:Win32LastModifiedTime>\
        <Z:Win32FileAttributes>00000020</Z:Win32FileAttributes>\(more)</D:prop></D:set>\
        </D:propertyupdate>
        """
    }

    @Test func timesThatCannotBeSetAreKeptAsProperties() async throws {
        let client = DAVClient(store: FailingStore(takesTimes: false))
        #expect(try await client.status("PUT", "/dav/a", [], "x") == 201)
        let refused = try await client.send(
            "PROPPATCH", "/dav/a", [],
            Self.windowsPatch("<D:lastmodified>1000000000</D:lastmodified>"))
        // This property can only set the time.
        #expect(refused.status == 207)
        #expect(
            refused.text.contains(
                "<D:prop><D:lastmodified/></D:prop><D:status>HTTP/1.1 403 Forbidden"))
        #expect(refused.text.contains("HTTP/1.1 424 Failed Dependency"))
        #expect(try await !client.send("PROPFIND", "/dav/a").text.contains("Win32"))
        // Saving from Windows must still work.
        let saved = try await client.send("PROPPATCH", "/dav/a", [], Self.windowsPatch())
        #expect(saved.status == 207 && saved.text.contains("HTTP/1.1 200 OK"))
        #expect(!saved.text.contains("HTTP/1.1 4"))
        let found = try await client.send("PROPFIND", "/dav/a").text
        #expect(found.contains("Sun, 09 Sep 2001 01:46:40 GMT") && found.contains("00000020"))
    }

    @Test func propertiesThatCannotBeKeptLeaveTheTimeAsItWas() async throws {
        let isFull = Locked(false)
        let client = DAVClient(
            store: FailingStore { _ in isFull.withLock { $0 } ? .storageFull : nil })
        let fields = ["X-OC-Mtime: 1100000000"]
        #expect(try await client.status("PUT", "/dav/a", fields, "x") == 201)
        isFull.withLock { $0 = true }
        let answer = try await client.send(
            "PROPPATCH", "/dav/a", [],
            Self.windowsPatch("<D:lastmodified>1000000000</D:lastmodified>"))
        #expect(answer.status == 207 && answer.text.contains("HTTP/1.1 507 "))
        #expect(
            answer.text.contains(
                "<D:prop><D:lastmodified/></D:prop><D:status>HTTP/1.1 424 Failed Dependency"))
        let head = try await client.send("HEAD", "/dav/a")
        #expect(head["Last-Modified"] == "Tue, 09 Nov 2004 11:33:20 GMT")
    }

    /// A sync client would delete its copy of a member that is missing in the listing.
    @Test func collectionsThatCannotBeListedAreTold() async throws {
        let store = FailingStore(listing: { path in
            switch path.description {
            case "/closed": .forbidden
            case "/a/busy": WebDAVError(.serviceUnavailable)
            case "/gone": .notFound
            default: nil
            }
        })
        let client = DAVClient(store: store)
        for path in ["a", "a/busy", "a/busy/x", "a/c", "closed", "gone"] {
            #expect(try await client.status("MKCOL", "/dav/" + path) == 201)
        }
        for path in ["a/f", "a/c/f", "closed/f", "f"] {
            #expect(try await client.status("PUT", "/dav/" + path, [], "x") == 201)
        }
        let answer = try await client.send("PROPFIND", "/dav/", ["Depth: infinity"])
        #expect(answer.status == 207)
        _ = try XMLReader.read(answer.content)
        let hrefs = answer.text.matches(of: /<D:href>([^<]*)<\/D:href>/)
            .map { String($0.output.1) }
        // Each href occurs only once (RFC 4918, 14.24).
        #expect(
            hrefs.sorted() == [
                "/dav/", "/dav/a/", "/dav/a/busy/", "/dav/a/c/", "/dav/a/c/f", "/dav/a/f",
                "/dav/closed/", "/dav/f",
            ])
        let told = "</D:href><D:status>HTTP/1.1 "
        #expect(answer.text.contains("/dav/closed/\(told)403 Forbidden"))
        #expect(answer.text.contains("/dav/a/busy/\(told)503 Service Unavailable"))
    }

    @Test func whereATreeIsTooDeepIsTold() async throws {
        let store = MemoryStore()
        var path = ResourcePath.root
        for _ in 0..<131 {
            path = path.appending(Array("d".utf8))
            try await store.makeCollection(at: path)
        }
        let answer = try await DAVClient(store: store).send("PROPFIND", "/dav/")
        #expect(answer.text.matches(of: /<D:response>/).count == 129)
        let deepest = "/dav/" + String(repeating: "d/", count: 128)
        #expect(
            answer.text.contains(
                "<D:href>\(deepest)</D:href><D:status>HTTP/1.1 403 Forbidden</D:status>"
                    + "<D:error><D:propfind-finite-depth/></D:error>"))
    }

    @Test func aQuotaIsNotTheDisk() {
        let error = WebDAVError(SystemError("write", code: Self.quotaExceeded))
        #expect(error.status == .insufficientStorage && error.condition == .quotaNotExceeded)
    }

    /// Linux may give up a lookup through links while other programs rename directories.
    @Test func aLookUpThatMaySucceedLaterIsUnavailable() {
        let error = WebDAVError(SystemError("open", code: Self.tryAgain))
        #expect(error.status == .serviceUnavailable)
    }

    #if os(Linux)
        private static let quotaExceeded: CInt = 122
        private static let tryAgain: CInt = 11
    #else
        private static let quotaExceeded: CInt = 69
        private static let tryAgain: CInt = 35
    #endif
}
