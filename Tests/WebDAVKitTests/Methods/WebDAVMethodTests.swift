import HTTPServerCore
import TestSupport
import Testing
import WebDAVKit

@Suite("RFC 4918, 9: Methods")
struct WebDAVMethodTests {
    @Test(arguments: StoreKind.allCases)
    func optionsTellClassesAndMethods(_ kind: StoreKind) async throws {
        let client = try kind.client()
        let missing = try await client.send("OPTIONS", "/dav/none")
        #expect(
            missing.status == 200
                && missing["DAV"] == "1, 2, 3, extended-mkcol, sabredav-partialupdate")
        #expect(missing["MS-Author-Via"] == "DAV" && missing["Allow"]?.contains("MKCOL") == true)
        let root = try await client.send("OPTIONS", "/dav/")
        #expect(root["Allow"]?.contains("PUT") == false)
        #expect(root["Allow"]?.contains("LOCK") == true)
        #expect(
            try await client.send("OPTIONS", "/")["DAV"]
                == "1, 2, 3, extended-mkcol, sabredav-partialupdate")
        #expect(try await client.status("PROPFIND", "/", ["Depth: 0"]) == 404)
        #expect(try await client.status("POST", "/dav/a") == 405)
    }

    @Test(arguments: StoreKind.allCases)
    func putMakesAndReplaces(_ kind: StoreKind) async throws {
        let client = try kind.client()
        let first = try await client.send("PUT", "/dav/a.txt", [], "one")
        let second = try await client.send("PUT", "/dav/a.txt", [], "two!")
        #expect(first.status == 201 && second.status == 204)
        #expect(first["ETag"] != nil && first["ETag"] != second["ETag"])
        let read = try await client.send("GET", "/dav/a.txt")
        #expect(read.text == "two!" && read["ETag"] == second["ETag"])
        #expect(read["Content-Type"] == "text/plain; charset=utf-8")
        let part = try await client.send("GET", "/dav/a.txt", ["Range: bytes=1-2"])
        #expect(part.status == 206 && part.text == "wo")
        let tag = try #require(second["ETag"])
        #expect(try await client.status("GET", "/dav/a.txt", ["If-None-Match: \(tag)"]) == 304)
        #expect(try await client.status("PUT", "/dav/a.txt", ["If-Match: \"x\""], "no") == 412)
        #expect(try await client.status("PUT", "/dav/a.txt", ["If-None-Match: *"], "no") == 412)
        #expect(try await client.status("PUT", "/dav/a.txt", ["If-Match: \(tag)"], "ok") == 204)
    }

    @Test(
        arguments: StoreKind.allCases,
        [
            ("PUT", "/dav/none/a", "x", 409), ("PUT", "/dav/", "x", 405),
            ("PUT", "/dav/c", "x", 405),
            ("PUT", "/dav/new/", "x", 405), ("MKCOL", "/dav/none/a", "", 409),
            ("MKCOL", "/dav/c", "", 405), ("MKCOL", "/dav/f", "", 405), ("MKCOL", "/dav/", "", 405),
            ("MKCOL", "/dav/new", "x", 415), ("DELETE", "/dav/", "", 403),
            ("DELETE", "/dav/none", "", 404), ("GET", "/dav/none", "", 404),
            ("PROPFIND", "/dav/none", "", 404), ("PUT", "/dav/.hidden", "x", 403),
            ("PUT", "/dav/._a", "x", 403), ("MKCOL", "/dav/.a/", "", 403),
            ("PUT", "/dav/%2e%2e%2fa", "x", 400), ("PUT", "/dav/a%00", "x", 400),
            ("PUT", "/dav/a%0Ab", "x", 400), ("PUT", "/dav/%FF", "x", 400),
        ])
    func refusals(
        _ kind: StoreKind, _ request: (method: String, path: String, content: String, status: Int)
    ) async throws {
        let client = try kind.client()
        let (method, path, content, status) = request
        #expect(try await client.status("MKCOL", "/dav/c") == 201)
        #expect(try await client.status("PUT", "/dav/f", [], "x") == 201)
        #expect(try await client.status(method, path, [], content) == status)
    }

    @Test(arguments: StoreKind.allCases)
    func contentRangeOfPutIsRefused(_ kind: StoreKind) async throws {
        let client = try kind.client()
        let fields = ["Content-Range: bytes 0-0/3"]
        #expect(try await client.status("PUT", "/dav/a", fields, "x") == 400)
    }

    private func makeTree(_ client: DAVClient) async throws {
        for path in ["/dav/a", "/dav/a/b", "/dav/z"] {
            #expect(try await client.status("MKCOL", path) == 201)
        }
        #expect(try await client.status("PUT", "/dav/a/b/f", [], "deep") == 201)
        #expect(try await client.status("PUT", "/dav/z/old", [], "old") == 201)
    }

    @Test(
        arguments: StoreKind.allCases,
        [
            ("COPY", "/dav/a", "/dav/a"), ("COPY", "/dav/a", "/dav/a/b"),
            ("COPY", "/dav/a", "/dav/a/n"),
            ("COPY", "/dav/a/b", "/dav/a"), ("COPY", "/dav/a/b/f", "/dav/a"),
            ("MOVE", "/dav/a", "/dav/a"),
            ("MOVE", "/dav/a", "/dav/a/b"), ("MOVE", "/dav/a/b", "/dav/a"),
            ("MOVE", "/dav/a/b", "/dav/"),
            ("MOVE", "/dav/", "/dav/n"), ("COPY", "/dav/", "/dav/n"),
            ("COPY", "/dav/a/", "/dav/a/b/"),
            ("MOVE", "/dav/a", "/dav/x/../a/b/c"),
        ])
    func neitherOntoItselfNorInside(
        _ kind: StoreKind, _ request: (method: String, from: String, to: String)
    ) async throws {
        let client = try kind.client()
        let (method, from, to) = request
        try await makeTree(client)
        #expect(try await client.status(method, from, ["Destination: \(to)"]) == 403)
        #expect(try await client.send("GET", "/dav/a/b/f").text == "deep")
    }

    @Test(arguments: StoreKind.allCases)
    func copyAndMoveReplaceWholly(_ kind: StoreKind) async throws {
        let client = try kind.client()
        try await makeTree(client)
        #expect(
            try await client.status("COPY", "/dav/a", ["Destination: /dav/z", "Overwrite: F"])
                == 412)
        let copied = try await client.status(
            "COPY", "/dav/a", ["Destination: http://example.org/dav/z"])
        #expect(copied == 204)
        #expect(try await client.send("GET", "/dav/z/b/f").text == "deep")
        #expect(try await client.status("GET", "/dav/z/old") == 404)
        #expect(
            try await client.status("COPY", "/dav/a", ["Destination: /dav/s", "Depth: 0"]) == 201)
        #expect(try await client.status("GET", "/dav/s/b/f") == 404)
        #expect(try await client.status("MOVE", "/dav/a/b/f", ["Destination: /dav/g"]) == 201)
        #expect(try await client.status("GET", "/dav/a/b/f") == 404)
        #expect(try await client.send("GET", "/dav/g").text == "deep")
    }

    @Test(
        arguments: StoreKind.allCases,
        [
            ("a", ["Destination: http://other.org/dav/x"], 502),
            ("a", ["Destination: /elsewhere/x"], 502), ("a", [], 400),
            ("a", ["Destination: x"], 400),
            ("a", ["Destination: /dav/none/x"], 409), ("a/b/f", ["Destination: /dav/none/x"], 409),
            ("a", ["Destination: /dav/z/old/x"], 409),
            ("a/b/f", ["Destination: /dav/z/old/x"], 409),
            ("a", ["Destination: /dav/none/deep/x"], 409),
            ("a", ["Destination: /dav/x", "Depth: 1"], 400),
            ("a", ["Destination: /dav/x", "Overwrite: yes"], 400),
            ("a", ["Destination: /dav/.x"], 403),
            ("a", ["Destination: /dav/x#y", "Depth: infinity"], 201),
            ("a", ["Destination: /dav/x y%", "Depth: infinity"], 201),
        ])
    func destinations(
        _ kind: StoreKind, _ request: (source: String, fields: [String], status: Int)
    ) async throws {
        let client = try kind.client()
        let (source, fields, status) = request
        try await makeTree(client)
        #expect(try await client.status("COPY", "/dav/" + source, fields) == status)
        guard !fields.contains(where: { $0.hasPrefix("Depth") }) else { return }
        #expect(try await client.status("MOVE", "/dav/" + source, fields) == status)
        #expect(try await client.send("GET", "/dav/a/b/f").text == "deep")
    }

    /// RFC 4918, 9.9: a missing source replaces nothing.
    @Test(arguments: StoreKind.allCases, ["COPY", "MOVE"])
    func aMissingSourceLeavesTheTarget(_ kind: StoreKind, _ method: String) async throws {
        let client = try kind.client()
        try await makeTree(client)
        for target in ["/dav/a", "/dav/z/old", "/dav/new"] {
            for source in ["/dav/none", "/dav/a/none", "/dav/none/x"] {
                let status = try await client.status(method, source, ["Destination: " + target])
                #expect(status == 404, "\(source) \(target)")
            }
        }
        #expect(try await client.send("GET", "/dav/a/b/f").text == "deep")
        #expect(try await client.send("GET", "/dav/z/old").text == "old")
        #expect(try await client.status("PROPFIND", "/dav/new", ["Depth: 0"]) == 404)
    }

    @Test(arguments: StoreKind.allCases)
    func encodedSlashesLeadNowhere(_ kind: StoreKind) async throws {
        let client = try kind.client()
        #expect(try await client.status("MKCOL", "/dav/c") == 201)
        #expect(try await client.status("PUT", "/dav/f", [], "x") == 201)
        for method in ["COPY", "MOVE"] {
            for path in ["/dav/c%2Fg", "/dav/c%2fg", "http://example.org/dav/c%2Fg", "/dav%2Fg"] {
                let status = try await client.status(method, "/dav/f", ["Destination: \(path)"])
                #expect(status == 400 || status == 502, "\(method) \(path): \(status)")
            }
        }
        #expect(try await client.status("PUT", "/dav/c%2Fg", [], "x") == 400)
        #expect(try await client.status("GET", "/dav/c/g") == 404)
        #expect(try await client.send("GET", "/dav/f").text == "x")
    }

    @Test(arguments: StoreKind.allCases)
    func collectionsAreShownAsPages(_ kind: StoreKind) async throws {
        let client = try kind.client()
        try await makeTree(client)
        let page = try await client.send("GET", "/dav/a/")
        #expect(page.status == 200 && page.text.contains("href=\"b/\""))
        #expect(try await client.send("GET", "/dav/a")["Location"] == "/dav/a/")
    }

    /// RFC 9110, 9.3.2. A client that mistakes a folder for a file would write next to it.
    @Test(arguments: StoreKind.allCases, [true, false])
    func headOfACollectionAnswersAsGetDoes(_ kind: StoreKind, _ lists: Bool) async throws {
        var options = WebDAVOptions()
        options.listsCollections = lists
        let client = try kind.client(options)
        try await makeTree(client)
        for path in ["/dav/a", "/dav/a/b"] {
            for method in ["GET", "HEAD"] {
                let answer = try await client.send(method, path)
                #expect(answer.status == 301, "\(method) \(path)")
                #expect(answer["Location"] == path + "/")
                #expect(try await client.status(method, path + "/") == 200)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func readOnlyExtensionsAndRefusalsOfTheProgram(_ kind: StoreKind) async throws {
        var options = WebDAVOptions()
        options.allowedExtensions = ["txt"]
        options.shouldPerform = { operation, _ in
            if case .remove = operation { return false }
            return true
        }
        let told = Told()
        options.didPerform = { operation, _ in await told.add(operation) }
        let client = try kind.client(options)
        #expect(try await client.status("PUT", "/dav/a.exe", [], "x") == 403)
        #expect(try await client.status("PUT", "/dav/a.TXT", [], "x") == 201)
        #expect(try await client.status("MOVE", "/dav/a.TXT", ["Destination: /dav/a.exe"]) == 403)
        #expect(try await client.status("DELETE", "/dav/a.TXT") == 403)
        #expect(try await client.send("GET", "/dav/a.TXT").text == "x")
        let path = try #require(ResourcePath("a.TXT"))
        // The response may arrive before the hook is called.
        await told.wait(for: 2)
        #expect(await told.all == [.upload(path), .download(path)])
    }

    @Test(arguments: StoreKind.allCases)
    func finderIsToldNotToIndex(_ kind: StoreKind) async throws {
        let client = try kind.client()
        for name in [".metadata_never_index", ".ql_disablethumbnails"] {
            let read = try await client.send("GET", "/dav/" + name)
            #expect(read.status == 200 && read.text.isEmpty)
            #expect(try await client.status("HEAD", "/dav/" + name) == 200)
            // Finder checks with PROPFIND.
            let found = try await client.send("PROPFIND", "/dav/" + name, ["Depth: 0"])
            #expect(found.status == 207, "\(name)")
            #expect(found.text.contains("<D:href>/dav/\(name)</D:href>"))
            #expect(found.text.contains("<D:getcontentlength>0</D:getcontentlength>"))
            #expect(found.text.contains("<D:resourcetype/>"))
            #expect(try await client.status("PUT", "/dav/" + name, [], "x") == 403)
            #expect(try await client.status("PROPFIND", "/dav/c/" + name, ["Depth: 0"]) == 404)
        }
        #expect(try await !client.send("PROPFIND", "/dav/").text.contains("never_index"))
        #expect(try await client.status("GET", "/dav/.DS_Store") == 404)
        #expect(try await client.status("PROPFIND", "/dav/.DS_Store", ["Depth: 0"]) == 404)
        var options = WebDAVOptions()
        options.discouragesIndexing = false
        let other = DAVClient(options: options)
        for method in ["GET", "PROPFIND"] {
            #expect(try await other.status(method, "/dav/.metadata_never_index") == 404)
        }
    }

    @Test(arguments: [
        ("PUT", "/dav/c"), ("PUT", "/dav/"), ("PUT", "/dav/new/"), ("MKCOL", "/dav/c"),
        ("MKCOL", "/dav/f"), ("MKCOL", "/dav/"), ("POST", "/dav/"), ("PATCH", "/dav/c"),
        ("REPORT", "/dav/f"), ("SEARCH", "/dav/"),
    ])
    func whatIsNotAllowedTellsWhatIs(_ method: String, _ path: String) async throws {
        let client = DAVClient()
        #expect(try await client.status("MKCOL", "/dav/c") == 201)
        #expect(try await client.status("PUT", "/dav/f", [], "x") == 201)
        let answer = try await client.send(method, path, [], method == "PUT" ? "x" : "")
        let allowed = try #require(answer["Allow"]).split(separator: ", ").map(String.init)
        #expect(answer.status == 405 && !allowed.contains(method))
        #expect(allowed.contains("OPTIONS"))
        let told = try await client.send("OPTIONS", path)["Allow"]
        #expect(answer["Allow"] == told)
    }

    @Test func methodsThatNobodyKnowsAre501() async throws {
        let client = DAVClient()
        for method in ["FROB", "ACL"] {
            #expect(try await client.status(method, "/dav/") == 501, "\(method)")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aCollectionIsRemovedAsAWhole(_ kind: StoreKind) async throws {
        let client = try kind.client()
        try await makeTree(client)
        for depth in ["0", "1"] {
            #expect(try await client.status("DELETE", "/dav/a", ["Depth: \(depth)"]) == 400)
        }
        #expect(try await client.send("GET", "/dav/a/b/f").text == "deep")
        #expect(try await client.status("DELETE", "/dav/a/b/f", ["Depth: 0"]) == 204)
        #expect(try await client.status("DELETE", "/dav/a", ["Depth: infinity"]) == 204)
    }

    /// Joplin and AuthPass send other media types.
    @Test(arguments: StoreKind.allCases)
    func theMediaTypeOfXMLDoesNotCount(_ kind: StoreKind) async throws {
        let client = try kind.client()
        #expect(try await client.status("PUT", "/dav/f", [], "x") == 201)
        let find = "<propfind xmlns=\"DAV:\"><prop><getetag/></prop></propfind>"
        let patch = """
            <propertyupdate xmlns="DAV:"><set><prop><p xmlns="u:">1</p></prop></set></propertyupdate>
            """
        for type in ["text/plain", "text/plain; charset=utf-8", "application/octet-stream"] {
            let fields = ["Depth: 0", "Content-Type: \(type)"]
            let found = try await client.send("PROPFIND", "/dav/f", fields, find)
            #expect(found.status == 207 && found.text.contains("<D:getetag>"))
            #expect(!found.text.contains("displayname"))
            let changed = try await client.send("PROPPATCH", "/dav/f", fields, patch)
            #expect(changed.status == 207 && changed.text.contains("200 OK"))
        }
        let lock = try await client.status(
            "LOCK", "/dav/f", ["Content-Type: text/plain"], DAVClient.lockInfo())
        #expect(lock == 200)
    }
}

private actor Told {
    var all: [WebDAVOperation] = []

    func add(_ operation: WebDAVOperation) { all.append(operation) }

    /// Waits for so many operations, a minute at most.
    func wait(for count: Int) async {
        let end = ContinuousClock.now + .seconds(60)
        while all.count < count, ContinuousClock.now < end { await Task.yield() }
    }
}
