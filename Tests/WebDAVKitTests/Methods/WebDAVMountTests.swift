import HTTPCodecs
import HTTPParser
import HTTPServerAuthentication
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem
import WebDAVKit

@Suite("WebDAV: Several mounts, several handlers, and logins")
struct WebDAVMountTests {
    // MARK: One store, two handlers

    @Test func handlersThatShareAStoreWaitForEachOther() async throws {
        let rivals = Locked<[MemoryConnection]>([])
        var options = WebDAVOptions()
        options.shouldPerform = { operation, _ in
            guard case .lock = operation, let rival = rivals.withLock({ $0.first }) else {
                return true
            }
            // The resource does not exist yet, and the lock is about to be granted.
            rival.send("PUT /two/n HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx")
            await rival.settle()
            return true
        }
        let first = WebDAVHandler(store: MemoryStore(), options: options)
        var router = Router()
        router.mountWebDAV("/one", first)
        router.mountWebDAV("/two", WebDAVHandler(sharing: first))
        let client = DAVClient(router: router)
        let connection = MemoryConnection(router)
        rivals.withLock { $0.append(connection) }
        // Breaks the cycle of the connection, its handler and the handler's option.
        defer { rivals.withLock { $0 = [] } }
        #expect(try await client.status("LOCK", "/one/n", [], DAVClient.lockInfo()) == 201)
        let record = try await connection.output("\r\n\r\n")
        #expect(record.text.hasPrefix("HTTP/1.1 423 "), "\(record.text)")
        connection.end()
        #expect(try await client.send("GET", "/two/n").text == "")
    }

    /// RFC 9112, 9.6: a client may disconnect at any time. Its waiting request is dropped.
    @Test(arguments: ["stays", "ends", "resets"])
    func aRequestThatWaitsIsNotCarriedOutForAClientThatIsGone(_ client: String) async throws {
        let rivals = Locked<[MemoryConnection]>([])
        var options = WebDAVOptions()
        options.shouldPerform = { operation, _ in
            guard case .makeCollection(let path) = operation, path.name == Array("c".utf8),
                let rival = rivals.withLock({ $0.first })
            else { return true }
            rival.send("MKCOL /dav/c/d HTTP/1.1\r\nHost: h\r\n\r\n")
            await rival.settle()
            if client == "ends" { rival.end() }
            if client == "resets" { rival.hangUp() }
            await rival.settle()
            return true
        }
        var router = Router()
        router.mountWebDAV("/dav", WebDAVHandler(store: MemoryStore(), options: options))
        let connection = MemoryConnection(router)
        rivals.withLock { $0.append(connection) }
        defer { rivals.withLock { $0 = [] } }
        let first = DAVClient(router: router)
        #expect(try await first.status("MKCOL", "/dav/c") == 201)
        // Runs after the waiting request, unless that was dropped.
        #expect(try await first.status("MKCOL", "/dav/c/e") == 201)
        if client == "stays" { _ = try await connection.output("\r\n\r\n") }
        let isThere = try await first.status("PROPFIND", "/dav/c/d", ["Depth: 0"])
        #expect(isThere == (client == "stays" ? 207 : 404))
        connection.end()
    }

    @Test func handlersThatShareAStoreHaveTheirOwnOptions() async throws {
        let first = WebDAVHandler(store: MemoryStore())
        var options = WebDAVOptions()
        options.isReadOnly = true
        var router = Router()
        router.mountWebDAV("/all", first)
        router.mountWebDAV("/read", WebDAVHandler(sharing: first, options: options))
        let client = DAVClient(router: router)
        #expect(try await client.status("PUT", "/all/a", [], "x") == 201)
        #expect(try await client.send("GET", "/read/a").text == "x")
        #expect(try await client.status("PUT", "/read/a", [], "y") == 403)
        let token = try await client.lock("/all/a")
        let found = try await client.send("PROPFIND", "/read/a", ["Depth: 0"]).text
        #expect(found.contains(token) && found.contains("<D:href>/read/a</D:href></D:lockroot>"))
    }

    // MARK: Mounts inside of mounts

    @Test(arguments: [
        ["/", "/dav"], ["/dav", "/"], ["/a/b", "/a"], ["/a", "/a/b"], ["/x/y", "/x", "/"],
    ])
    func mountsInsideOfMountsAllAnswer(_ prefixes: [String]) async throws {
        let stores = prefixes.map { _ in MemoryStore() }
        var router = Router()
        for (prefix, store) in zip(prefixes, stores) {
            router.mountWebDAV(prefix, WebDAVHandler(store: store))
        }
        let client = DAVClient(router: router)
        let path = try #require(ResourcePath("f"))
        for (prefix, store) in zip(prefixes, stores) {
            let base = prefix == "/" ? "" : prefix
            #expect(try await client.status("PUT", base + "/f", [], prefix) == 201)
            #expect(try await store.info(at: path).length == prefix.utf8.count)
            #expect(try await client.send("GET", base + "/f").text == prefix)
            let found = try await client.send("PROPFIND", base + "/", ["Depth: 1"])
            #expect(found.status == 207 && found.text.contains("<D:href>\(base)/f</D:href>"))
            let allowed = try await client.send("OPTIONS", base + "/f")["Allow"]
            #expect(allowed?.contains("PUT") == true && allowed?.contains("LOCK") == true)
        }
    }

    @Test func aMountThatIsMadeAgainTakesThePlaceOfTheOther() async throws {
        let stores = [MemoryStore(), MemoryStore()]
        var router = Router()
        for store in stores { router.mountWebDAV("/a/dav", WebDAVHandler(store: store)) }
        router.mountWebDAV("/a", WebDAVHandler(store: MemoryStore()))
        let client = DAVClient(router: router)
        #expect(try await client.status("PUT", "/a/dav/f", [], "x") == 201)
        let path = try #require(ResourcePath("f"))
        #expect(try await stores[1].info(at: path).length == 1)
    }

    @Test func whatIsAboveTellsOfAllMounts() async throws {
        var options = WebDAVOptions()
        options.isReadOnly = true
        var router = Router()
        router.mountWebDAV("/some/all", WebDAVHandler(store: MemoryStore()))
        router.mountWebDAV("/some/read", WebDAVHandler(store: MemoryStore(), options: options))
        router.mountWebDAV("/other/read", WebDAVHandler(store: MemoryStore(), options: options))
        let client = DAVClient(router: router)
        for path in ["*", "/", "/some", "/some/"] {
            let answer = try await client.send("OPTIONS", path)
            #expect(
                answer["DAV"] == "1, 2, 3, extended-mkcol, sabredav-partialupdate"
                    && answer["MS-Author-Via"] == "DAV", "\(path)")
        }
        for path in ["/other", "/other/"] {
            #expect(try await client.send("OPTIONS", path)["DAV"] == "1, 3", "\(path)")
        }
        // Old versions of GNOME repeat the request endlessly after a 405.
        for path in ["/", "/some", "/some/", "/other", "/other/"] {
            #expect(try await client.status("PROPFIND", path, ["Depth: 0"]) == 404, "\(path)")
        }
    }

    @Test func filesAroundAMountDoNotHideWhatIsAbove() async throws {
        var router = Router()
        router.mount("/", SyncHandler { _ in throw HTTPError(.methodNotAllowed) })
        router.mountWebDAV("/some/dav", WebDAVHandler(store: MemoryStore()))
        let client = DAVClient(router: router)
        #expect(try await client.status("PROPFIND", "/some/", ["Depth: 0"]) == 404)
        #expect(
            try await client.send("OPTIONS", "/some/")["DAV"]
                == "1, 2, 3, extended-mkcol, sabredav-partialupdate")
        #expect(try await client.status("PROPFIND", "/some/dav/", ["Depth: 0"]) == 207)
    }

    // MARK: Origins

    @Test func aProxyIsKnownByItsOrigin() async throws {
        var options = WebDAVOptions()
        options.origins = ["https://files.example"]
        let client = DAVClient(options: options)
        let tag = try #require(try await client.send("PUT", "/dav/a", [], "x")["ETag"])
        let copied = try await client.status(
            "COPY", "/dav/a", ["Destination: https://Files.example/dav/b"])
        #expect(copied == 201)
        for other in ["http://files.example", "https://files.example:444", "https://x.example"] {
            let status = try await client.status(
                "COPY", "/dav/a", ["Destination: \(other)/dav/c"])
            #expect(status == 502, "\(other)")
        }
        let tagged = "If: <https://files.example/dav/a> ([\(tag)])"
        #expect(try await client.status("PUT", "/dav/b", [tagged], "y") == 204)
        #expect(
            try await client.status(
                "COPY", "/dav/a", ["Destination: https://example.org/dav/d"]) == 201)
    }

    // MARK: Logins

    private static func authenticator(_ names: [String]) throws -> Authenticator {
        let accounts = MemoryAccountStore(realm: "test", rounds: 1)
        for name in names { try accounts.add(name, password: "secret of \(name)") }
        return Authenticator(accounts: accounts)
    }

    private static func login(_ name: String) -> String {
        "Authorization: Basic " + Base64.text(of: Array("\(name):secret of \(name)".utf8))
    }

    @Test func eachUserLogsInToAPlace() async throws {
        let users = WebDAVUsers { user in
            user.name == "eve" ? nil : WebDAVHandler(store: MemoryStore())
        }
        let names = ["ann", "bob", "eve"]
        var router = Router()
        router.mountWebDAV(
            "/home", AuthenticationHandler(users, by: try Self.authenticator(names)))
        let client = DAVClient(router: router)
        let (ann, bob) = ([Self.login("ann")], [Self.login("bob")])
        #expect(try await client.status("PUT", "/home/f", [], "x") == 401)
        #expect(try await client.status("PUT", "/home/f", ann, "of ann") == 201)
        #expect(try await client.status("GET", "/home/f", bob) == 404)
        #expect(try await client.send("GET", "/home/f", ann).text == "of ann")
        let lock = try await client.send("LOCK", "/home/f", ann, DAVClient.lockInfo())
        let token = try #require(lock["Lock-Token"])
        #expect(try await client.status("PUT", "/home/f", ann, "x") == 423)
        #expect(try await client.status("PUT", "/home/f", ann + ["If: (\(token))"], "x") == 204)
        #expect(try await client.status("GET", "/home/f", [Self.login("eve")]) == 403)
    }

    /// Sends PUT for a user, and lets the server run as far as it can without another event.
    private static func put(_ path: String, over router: Router) async -> MemoryConnection {
        let connection = MemoryConnection(router)
        connection.send(
            "PUT \(path) HTTP/1.1\r\nHost: h\r\nX-User: ann\r\nContent-Length: 1\r\n\r\nx")
        await connection.settle()
        return connection
    }

    /// Two handlers would not see each other's locks, and a lock file belongs to one store.
    @Test("The first requests of a user share one call of the closure; a failed call is repeated")
    func firstRequestsOfAUser() async throws {
        let (calls, isHeld) = (Locked(0), Locked(false))
        let users = WebDAVUsers { _ in
            let number = calls.withLock { calls in
                calls += 1
                return calls
            }
            try await waitUntil { !isHeld.withLock { $0 } }
            guard number > 1 else { throw WebDAVError(.serviceUnavailable) }
            return WebDAVHandler(store: MemoryStore())
        }
        let router = users.mounted
        let failed = try await DAVClient(router: router)
            .status("PUT", "/home/a", ["X-User: ann"], "x")
        #expect(failed >= 500)
        isHeld.withLock { $0 = true }
        defer { isHeld.withLock { $0 = false } }
        let connections = [
            await Self.put("/home/a", over: router), await Self.put("/home/b", over: router),
        ]
        isHeld.withLock { $0 = false }
        for connection in connections {
            let record = try await connection.output("\r\n\r\n")
            #expect(record.text.hasPrefix("HTTP/1.1 201 "), "\(record.text)")
            connection.end()
        }
        #expect(calls.withLock { $0 } == 2)
    }

    /// Office sends OPTIONS before it asks the user for a login. Browsers send preflights to other
    /// origins, whose responses must not reveal names.
    @Test func loginsAreAskedForWhateverComes() async throws {
        let handler = WebDAVHandler(store: MemoryStore())
        var router = Router()
        router.mountWebDAV(
            "/dav",
            AuthenticationHandler(
                handler, by: try Self.authenticator(["ann"]),
                optionsFields: WebDAVHandler.classFields()))
        let client = DAVClient(router: router)
        for fields in [
            [], ["Authorization: Bearer"], ["Authorization: Bearer "], ["Authorization: Basic"],
            ["Origin: https://evil.example", "Access-Control-Request-Method: PUT"],
        ] {
            for method in ["OPTIONS", "GET", "PROPFIND"] {
                let answer = try await client.send(method, "/dav/a", fields)
                #expect(answer.status == 401, "\(method) \(fields)")
                #expect(answer["WWW-Authenticate"] != nil && answer["Allow"] == nil)
                // Some clients look for the field even in a 401.
                #expect(
                    answer["DAV"]
                        == (method == "OPTIONS"
                            ? "1, 2, 3, extended-mkcol, sabredav-partialupdate" : nil))
            }
        }
        #expect(try await client.status("PUT", "/dav/a", [Self.login("ann")], "x") == 201)
    }
}
