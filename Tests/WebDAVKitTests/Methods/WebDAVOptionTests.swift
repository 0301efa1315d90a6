import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem
import WebDAVKit

@Suite("WebDAV: Users, mounts, hooks and visibility")
struct WebDAVOptionTests {
    private static let patch = """
        <propertyupdate xmlns="DAV:"><set><prop><p xmlns="u:">1</p></prop></set></propertyupdate>
        """

    /// Routes that mount one store for all users. The field `X-User` names the user.
    private static var sharedByUsers: Router {
        let handler = WebDAVHandler(store: MemoryStore())
        var router = Router()
        router.mountWebDAV(
            "/dav",
            AsyncHandler { request in
                request.identity = request.fields["X-User"].map { Identity(name: $0) }
                return try await handler.respond(to: request)
            })
        return router
    }

    @Test func eachUserHasAPlace() async throws {
        let stores = ["ann": MemoryStore(), "bob/../ann": MemoryStore()]
        let made = Locked(0)
        let users = WebDAVUsers { user in
            made.withLock { $0 += 1 }
            return stores[user.name].map { WebDAVHandler(store: $0) }
        }
        let client = DAVClient(router: users.mounted)
        let (ann, bob) = (["X-User: ann"], ["X-User: bob/../ann"])
        #expect(try await client.status("PUT", "/home/f", ann, "of ann") == 201)
        #expect(try await client.status("GET", "/home/f", bob) == 404)
        #expect(try await client.status("PUT", "/home/f", bob, "of bob") == 201)
        #expect(try await client.send("GET", "/home/f", ann).text == "of ann")
        // The locks of a user are kept for the next request.
        #expect(try await client.status("LOCK", "/home/f", ann, DAVClient.lockInfo()) == 200)
        #expect(try await client.status("PUT", "/home/f", ann, "x") == 423)
        #expect(try await client.status("PUT", "/home/f", bob, "x") == 204)
        #expect(made.withLock { $0 } == 2)
        #expect(try await client.status("GET", "/home/f") == 403)
        #expect(try await client.status("GET", "/home/f", ["X-User: eve"]) == 403)
        let list = try await client.send("PROPFIND", "/home/", ann + ["Depth: 1"]).text
        #expect(list.contains("<D:href>/home/f</D:href>"))
    }

    @Test("Users are distinguished by the bytes of their names, not by Unicode equivalence")
    func spellingsOfNames() async throws {
        let (composed, combining) = ("X-User: jos\u{e9}", "X-User: jose\u{301}")
        let users = WebDAVUsers { _ in WebDAVHandler(store: MemoryStore()) }
        let client = DAVClient(router: users.mounted)
        #expect(try await client.status("PUT", "/home/f", [composed], "secret") == 201)
        #expect(try await client.status("GET", "/home/f", [combining]) == 404)
        #expect(Identity(name: "jos\u{e9}") != Identity(name: "jose\u{301}"))
        let all = DAVClient(router: Self.sharedByUsers)
        let lock = try await all.send("LOCK", "/dav/a", [composed], DAVClient.lockInfo())
        let token = try #require(lock["Lock-Token"])
        for fields in [["If: (\(token))"], ["Lock-Token: \(token)"]] {
            let method = fields[0].hasPrefix("If") ? "PUT" : "UNLOCK"
            let refused = try await all.status(method, "/dav/a", fields + [combining], "")
            #expect(refused == (method == "PUT" ? 423 : 403))
        }
        #expect(
            try await all.status("UNLOCK", "/dav/a", [composed, "Lock-Token: \(token)"]) == 204)
    }

    @Test func aLockIsItsOwners() async throws {
        let client = DAVClient(router: Self.sharedByUsers)
        let lock = try await client.send("LOCK", "/dav/a", ["X-User: ann"], DAVClient.lockInfo())
        let token = try #require(lock["Lock-Token"])
        let shown = ["If: (\(token))"]
        #expect(try await client.status("PUT", "/dav/a", ["X-User: bob"] + shown, "x") == 423)
        let unlock = ["Lock-Token: \(token)"]
        #expect(try await client.status("UNLOCK", "/dav/a", ["X-User: bob"] + unlock) == 403)
        #expect(try await client.status("PUT", "/dav/a", ["X-User: ann"] + shown, "x") == 204)
        #expect(try await client.status("UNLOCK", "/dav/a", ["X-User: ann"] + unlock) == 204)
    }

    @Test func uploadsAreToldWhileTheyCome() async throws {
        let told = Locked<[String]>([])
        var options = WebDAVOptions()
        options.uploadProgress = { path, bytes, total, _ in
            told.withLock { $0.append("\(path) \(bytes) of \(total.map { "\($0)" } ?? "?")") }
        }
        let router = DAVClient(options: options).router
        let connection = MemoryConnection(router)
        connection.send(
            "PUT /dav/a HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n", "12345", "67890")
        try await connection.wait(for: "an answer") { $0.text.contains("201 Created") }
        #expect(told.withLock { $0.last } == "/a 10 of 10")
        #expect(told.withLock { $0.allSatisfy { $0 == "/a 5 of 10" || $0 == "/a 10 of 10" } })
        connection.end()
        let chunked = MemoryConnection(router)
        chunked.send(
            """
            PUT /dav/b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\
            X-Expected-Entity-Length: 3\r\n\r\n3\r\nabc\r\n0\r\n\r\n
            """)
        try await chunked.wait(for: "an answer") { $0.text.contains("201 Created") }
        #expect(told.withLock { $0.last } == "/b 3 of 3")
        chunked.end()
    }

    private static var operations: [(String, [String], String, WebDAVOperation)] {
        func path(_ text: String) -> ResourcePath { ResourcePath(text) ?? .root }
        return [
            ("GET /dav/f", [], "", .download(path("f"))),
            ("PUT /dav/f", [], "x", .upload(path("f"))),
            ("MKCOL /dav/n", [], "", .makeCollection(path("n"))),
            ("DELETE /dav/f", [], "", .remove(path("f"))),
            ("COPY /dav/f", ["Destination: /dav/n"], "", .copy(path("f"), to: path("n"))),
            ("MOVE /dav/f", ["Destination: /dav/n"], "", .move(path("f"), to: path("n"))),
            ("PROPPATCH /dav/f", [], patch, .changeProperties(path("f"))),
            ("LOCK /dav/f", [], DAVClient.lockInfo(), .lock(path("f"))),
        ]
    }

    @Test(arguments: operations.indices)
    func eachOperationIsAskedForAndToldOnceItIsDone(_ index: Int) async throws {
        let (line, fields, content, operation) = Self.operations[index]
        let words = line.split(separator: " ").map(String.init)
        let store = MemoryStore()
        #expect(try await DAVClient(store: store).status("PUT", "/dav/f", [], "old") == 201)
        let (asked, told) = (Locked<[WebDAVOperation]>([]), Locked<[WebDAVOperation]>([]))
        var options = WebDAVOptions()
        options.shouldPerform = { operation, _ in
            await Task.yield()
            asked.withLock { $0.append(operation) }
            return false
        }
        options.didPerform = { operation, _ in told.withLock { $0.append(operation) } }
        let refused = DAVClient(store: store, options: options)
        #expect(try await refused.status(words[0], words[1], fields, content) == 403)
        #expect(asked.withLock { $0 } == [operation] && told.withLock { $0.isEmpty })
        #expect(try await DAVClient(store: store).send("GET", "/dav/f").text == "old")
        #expect(try await DAVClient(store: store).status("GET", "/dav/n") == 404)
        options.shouldPerform = nil
        let client = DAVClient(store: store, options: options)
        #expect(try await client.status(words[0], words[1], fields, content) < 300)
        try await waitUntil { told.withLock { !$0.isEmpty } }
        #expect(told.withLock { $0 } == [operation])
    }

    @Test func downloadsAreToldOnceAllWasSent() async throws {
        let store = MemoryStore()
        let content = String(repeating: "0123456789abcdef", count: 1 << 16)
        #expect(try await DAVClient(store: store).status("PUT", "/dav/f", [], content) == 201)
        let told = Locked<[String]>([])
        var options = WebDAVOptions()
        options.didPerform = { operation, request in
            told.withLock { $0.append("\(operation) \(request.fields["Mark"] ?? "")") }
        }
        let client = DAVClient(store: store, options: options)
        // A client that disconnects during the download, one with a current copy, and a HEAD.
        let lost = MemoryConnection(client.router)
        lost.fail(at: 100_000, 104)
        lost.send("GET /dav/f HTTP/1.1\r\nHost: example.org\r\nMark: lost\r\n\r\n")
        _ = try await lost.closed()
        let tag = try #require(try await client.send("HEAD", "/dav/f", ["Mark: head"])["ETag"])
        let fields = ["Mark: same", "If-None-Match: \(tag)"]
        #expect(try await client.status("GET", "/dav/f", fields) == 304)
        #expect(try await client.send("GET", "/dav/f", ["Mark: whole"]).text == content)
        try await waitUntil { told.withLock { !$0.isEmpty } }
        let path = try #require(ResourcePath("f"))
        #expect(told.withLock { $0 } == ["\(WebDAVOperation.download(path)) whole"])
    }

    @Test func unlockIsAskedForAndTold() async throws {
        let (store, locks) = (MemoryStore(), MemoryLockStore())
        let token = try await DAVClient(store: store, locks: locks).lock("/dav/f")
        let isAllowed = Locked(false)
        var options = WebDAVOptions()
        let told = Locked<[WebDAVOperation]>([])
        options.shouldPerform = { _, _ in isAllowed.withLock { $0 } }
        options.didPerform = { operation, _ in told.withLock { $0.append(operation) } }
        let client = DAVClient(store: store, locks: locks, options: options)
        let fields = ["Lock-Token: <\(token)>"]
        #expect(try await client.status("UNLOCK", "/dav/f", fields) == 403)
        isAllowed.withLock { $0 = true }
        #expect(try await client.status("UNLOCK", "/dav/f", fields) == 204)
        let path = try #require(ResourcePath("f"))
        #expect(told.withLock { $0 } == [.unlock(path)])
    }

    @Test(arguments: [
        "GET", "HEAD", "PROPFIND", "PUT", "DELETE", "COPY", "MOVE", "PROPPATCH", "LOCK", "MKCOL",
    ])
    func whatIsInAHiddenCollectionIsHidden(_ method: String) async throws {
        let store = MemoryStore()
        var open = WebDAVOptions()
        open.allowsHidden = true
        let owner = DAVClient(store: store, options: open)
        #expect(try await owner.status("MKCOL", "/dav/.h") == 201)
        #expect(try await owner.status("PUT", "/dav/.h/f", [], "secret") == 201)
        let client = DAVClient(store: store)
        let contents = ["PROPPATCH": Self.patch, "LOCK": DAVClient.lockInfo(), "PUT": "x"]
        for path in ["/dav/.h/f", "/dav/.h", "/dav/x/../.h/f", "/dav/%2eh/f", "/dav/.h/n"] {
            let status = try await client.status(
                method, path, ["Destination: /dav/n"], contents[method] ?? "")
            #expect(status == 404 || status == 403, "\(method) \(path): \(status)")
        }
        #expect(try await owner.send("GET", "/dav/.h/f").text == "secret")
        #expect(try await !client.send("PROPFIND", "/dav/").text.contains(".h"))
        #expect(try await client.status("GET", "/dav/n") == 404)
    }

    @Test(arguments: ["GET", "PUT", "DELETE", "COPY", "MOVE", "PROPPATCH", "LOCK", "PROPFIND"])
    func otherExtensionsAreNotThere(_ method: String) async throws {
        let store = MemoryStore()
        let owner = DAVClient(store: store)
        for name in ["a.exe", "b.txt", "noextension"] {
            #expect(try await owner.status("PUT", "/dav/" + name, [], "old") == 201)
        }
        var options = WebDAVOptions()
        options.allowedExtensions = ["txt"]
        let client = DAVClient(store: store, options: options)
        let contents = ["PROPPATCH": Self.patch, "LOCK": DAVClient.lockInfo(), "PUT": "x"]
        for name in ["a.exe", "noextension"] {
            let status = try await client.status(
                method, "/dav/" + name, ["Destination: /dav/n.txt"], contents[method] ?? "")
            #expect(status == 404 || status == 403, "\(method) \(name): \(status)")
            #expect(try await owner.send("GET", "/dav/" + name).text == "old")
        }
        let list = try await client.send("PROPFIND", "/dav/", ["Depth: 1"]).text
        #expect(list.contains("b.txt") && !list.contains("a.exe") && !list.contains("noext"))
        // Collections need no extension.
        #expect(try await client.status("MKCOL", "/dav/folder") == 201)
    }

    @Test func severalMountsAreApart() async throws {
        let (first, second) = (MemoryStore(), MemoryStore())
        var router = Router()
        router.mountWebDAV("/one", WebDAVHandler(store: first))
        router.mountWebDAV("/two/deep", WebDAVHandler(store: second))
        router.on(.get, "/page") { _ in Response(.ok, body: .text("page")) }
        let client = DAVClient(router: router)
        #expect(try await client.status("PUT", "/one/a", [], "1") == 201)
        let other = try await client.send("PUT", "/two/deep/a", [], "2")
        let tag = try #require(other["ETag"])
        #expect(other.status == 201)
        #expect(try await client.send("GET", "/one/a").text == "1")
        #expect(try await client.send("GET", "/two/deep/a").text == "2")
        #expect(try await client.send("GET", "/page").text == "page")
        for method in ["COPY", "MOVE"] {
            let other = ["Destination: /two/deep/b"]
            #expect(try await client.status(method, "/one/a", other) == 502)
        }
        let tagged = ["If: </two/deep/a> ([\(tag)])"]
        #expect(try await client.status("PUT", "/one/a", tagged, "x") == 412)
        #expect(try await client.status("PUT", "/two/deep/a", tagged, "x") == 204)
        let list = try await client.send("PROPFIND", "/two/deep/", ["Depth: 1"]).text
        #expect(list.contains("<D:href>/two/deep/a</D:href>"))
    }

    @Test(arguments: [
        ("PUT", "/dav/f"), ("DELETE", "/dav/f"), ("COPY", "/dav/f"), ("MOVE", "/dav/f"),
        ("PROPPATCH", "/dav/f"), ("LOCK", "/dav/f"), ("GET", "/dav/f"), ("PROPFIND", "/dav/f"),
    ])
    func conditionsHoldForEveryMethod(_ method: String, _ path: String) async throws {
        let client = DAVClient()
        let tag = try #require(try await client.send("PUT", "/dav/f", [], "old")["ETag"])
        let contents = ["PROPPATCH": Self.patch, "LOCK": DAVClient.lockInfo(), "PUT": "x"]
        let failing = [
            "If-Match: \"other\"", "If-Unmodified-Since: Sun, 09 Sep 2001 01:46:40 GMT",
            "If: ([\"other\"])", "If: (<urn:uuid:none>)", "If: (Not [\(tag)])",
        ]
        for field in failing + (method == "GET" ? [] : ["If-None-Match: \(tag)"]) {
            let status = try await client.status(
                method, path, ["Destination: /dav/n", field], contents[method] ?? "")
            #expect(status == 412, "\(method) with \(field)")
        }
        #expect(try await client.send("GET", "/dav/f").text == "old")
        #expect(try await client.status("GET", "/dav/n") == 404)
        for field in ["If-Match: \(tag)", "If: ([\(tag)])"] {
            _ = try await client.send("PUT", "/dav/g", [], "old")
            let same = method == "DELETE" || method == "MOVE" ? "/dav/g" : path
            let current = try #require(try await client.send("HEAD", same)["ETag"])
            let status = try await client.status(
                method, same,
                ["Destination: /dav/m", field.replacing(tag, with: current)]
                    + (method == "LOCK" ? ["Timeout: Second-1"] : []),
                contents[method] ?? "")
            #expect(status < 300, "\(method) with \(field): \(status)")
            if method == "LOCK" { break }
        }
        #expect(try await client.status("MKCOL", "/dav/c", ["If-Match: *"]) == 412)
    }

    @Test(arguments: [
        ("/dav/none/a", [], 409), ("/dav/c", [], 405), ("/dav/.a", [], 403),
        ("/dav/f", ["If-Match: \"x\""], 412), ("/dav/locked", [], 423), ("/dav/a", ["Full"], 507),
        ("/dav/a", ["Long"], 413), ("/dav/a", ["Content-Range: bytes 0-1/2"], 400),
    ])
    func whatCanBeRefusedIsRefusedBeforeTheContentComes(
        _ path: String, _ fields: [String], _ status: Int
    ) async throws {
        var options = WebDAVOptions()
        options.contentLimit = 1000
        let client = DAVClient(store: MemoryStore(byteLimit: 100), options: options)
        _ = try await client.send("MKCOL", "/dav/c")
        _ = try await client.send("PUT", "/dav/f", [], "x")
        _ = try await client.lock("/dav/locked")
        let length = fields == ["Full"] ? 200 : fields == ["Long"] ? 2000 : 5
        let head = fields.filter { $0.contains(":") }.map { $0 + "\r\n" }.joined()
        let connection = MemoryConnection(client.router)
        connection.send(
            "PUT \(path) HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
                + "Content-Length: \(length)\r\n\(head)\r\n")
        let record = try await connection.wait(for: "an answer") { $0.text.contains("\r\n\r\n") }
        #expect(record.text.hasPrefix("HTTP/1.1 \(status) "), "\(record.text)")
        connection.end()
    }

    @Test func contentThatDoesNotComeInWholeChangesNothing() async throws {
        let share = try Share()
        let client = try share.client()
        #expect(try await client.status("PUT", "/dav/a", [], "old") == 201)
        let large = String(repeating: "n", count: 100_000)
        for (fields, content) in [
            ("Content-Length: 10", "12345"), ("Content-Length: 200000", large),
            ("Transfer-Encoding: chunked", "5\r\n12345\r\n"),
            ("Transfer-Encoding: chunked", "5\r\n12345\r\nx\r\n"),
        ] {
            let connection = MemoryConnection(client.router)
            connection.send("PUT /dav/a HTTP/1.1\r\nHost: h\r\n\(fields)\r\n\r\n\(content)")
            connection.end()
            _ = try await connection.closed()
            #expect(try await client.send("GET", "/dav/a").text == "old")
        }
        let list = try await client.send("PROPFIND", "/dav/", ["Depth: 1"]).text
        #expect(list.matches(of: /<D:response>/).count == 2)
    }
}
