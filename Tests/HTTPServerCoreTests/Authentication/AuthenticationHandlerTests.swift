import HTTPParser
import HTTPServerAuthentication
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("RFC 9110, 11: Protected handlers")
struct AuthenticationHandlerTests {
    private let ann = basic(ProtectedSpace.ann.name, ProtectedSpace.ann.password)
    private let jason = basic(ProtectedSpace.jason.name, ProtectedSpace.jason.password)
    private static let expect = "Content-Length: 5\r\nExpect: 100-continue\r\n"

    private static let unreached = AsyncHandler { request in
        Issue.record("the handler was asked")
        return .text(String(decoding: try await request.body.collect(), as: UTF8.self))
    }

    @Test("11.6.1: All schemes are offered at once, and each is accepted")
    func both() async throws {
        let client = try ProtectedSpace().client()
        let answer = try await client.ask()
        let schemes = answer.fields.filter { $0.name == "WWW-Authenticate" }
            .compactMap { $0.value.split(separator: " ").first }
        #expect(schemes == ["Digest", "Digest", "Basic"])
        #expect(try await client.ask("GET", "/", ann).text == "ann")
        let challenge = try #require(answer.challenges("Digest").first)
        #expect(try await client.ask("GET", "/", DigestSample(challenge).value).text == "ann")
    }

    @Test(
        "Without valid credentials a request is refused without 100 (Continue), its content unread")
    func contentOfStrangers() async throws {
        let space = try ProtectedSpace()
        for value in [nil, basic("ann", "x"), basic("nobody", "x"), "Basic !"] {
            let client = MemoryConnection(
                AuthenticationHandler(Self.unreached, by: space.authenticator))
            let line = value.map { "Authorization: \($0)\r\n" } ?? ""
            client.send("PUT / HTTP/1.1\r\nHost: a\r\n\(line)\(Self.expect)\r\n")
            let record = try await client.output("HTTP/1.1 40")
            #expect(!record.text.contains("100 Continue"))
            #expect(ServerAnswer.all(record.output).first.map { 400...401 ~= $0.status } == true)
        }
    }

    @Test("An authenticated client gets 100 (Continue), also when the password was remembered")
    func contentOfUsers() async throws {
        let client = try ProtectedSpace().client(Sample.echo)
        // The first time the password is derived, the second time it is remembered.
        for _ in 0..<2 {
            let seen = client.connection.record.count(of: "100 Continue")
            client.connection.send(
                "PUT / HTTP/1.1\r\nHost: a\r\nAuthorization: \(ann)\r\n\(Self.expect)\r\n")
            try await client.connection.output("100 Continue", times: seen + 1)
            client.connection.send("12345")
            try await client.connection.output("PUT 12345", times: seen + 1)
        }
    }

    @Test("After a 401 to a short request the connection can be used again")
    func persistence() async throws {
        let client = try ProtectedSpace().client(Sample.echo)
        let fields = "Content-Length: 5\r\n"
        let refused = try await client.ask("POST", "/", fields: fields, content: "12345")
        #expect(refused.status == 401 && refused["Connection"] == nil)
        let answer = try await client.ask("POST", "/", ann, fields: fields, content: "abcde")
        #expect(answer.text == "POST abcde")
    }

    @Test("N6: A CORS preflight needs authentication unless preflights are exempt")
    func preflight() async throws {
        let handler = SyncHandler { request in .text(request.identity?.name ?? "nobody") }
        let origin = "Origin: http://b\r\n"
        let asked = "Access-Control-Request-Method: PUT\r\n"
        let space = try ProtectedSpace()
        let client = ProtectedClient(
            AuthenticationHandler(handler, by: space.authenticator, exemptsPreflight: true))
        #expect(try await client.ask("OPTIONS", "/", fields: origin + asked).text == "nobody")
        #expect(try await client.ask("OPTIONS", "/", fields: origin).status == 401)
        #expect(try await client.ask("OPTIONS", "/", fields: asked).status == 401)
        #expect(try await client.ask("GET", "/", fields: origin + asked).status == 401)
        let strict = space.client(handler)
        #expect(try await strict.ask("OPTIONS", "/", fields: origin + asked).status == 401)
    }

    @Test("Optional: requests without credentials pass without an identity, wrong ones get 401")
    func optional() async throws {
        let space = try ProtectedSpace()
        let client = ProtectedClient(
            AuthenticationHandler(
                ProtectedSpace.whoami, by: space.authenticator, isOptional: true))
        let stranger = try await client.ask()
        #expect(stranger.text == "nobody" && stranger["Vary"] == "Authorization")
        #expect(try await client.ask("GET", "/", ann).text == "ann")
        #expect(try await client.ask("GET", "/", basic("ann", "x")).status == 401)
        #expect(try await client.ask("GET", "/", basic("nobody", "x")).status == 401)
    }

    @Test("Optional: errors have Vary: Authorization, too", arguments: [true, false])
    func optionalErrors(_ isImmediate: Bool) async throws {
        let handler: any Handler =
            isImmediate
            ? SyncHandler { _ in throw HTTPError(.notFound) }
            : AsyncHandler { _ in throw HTTPError(.notFound) }
        let space = try ProtectedSpace()
        let client = ProtectedClient(
            AuthenticationHandler(handler, by: space.authenticator, isOptional: true))
        let stranger = try await client.ask()
        #expect(stranger.status == 404)
        #expect(stranger["Vary"]?.hasPrefix("Authorization") == true)
        // The first time the password is derived, the second time it is remembered.
        for _ in 0..<2 {
            let answer = try await client.ask("GET", "/", ann)
            #expect(answer.status == 404)
            #expect(answer["Vary"]?.hasPrefix("Authorization") == true)
        }
    }

    @Test("A user without permission gets 403, without a challenge")
    func forbidden() async throws {
        let space = try ProtectedSpace()
        let handler = AuthenticationHandler(Sample.echo, by: space.authenticator) { user, request in
            user.name == "ann" || request.method == .get
        }
        let client = ProtectedClient(handler)
        let fields = "Content-Length: 1\r\n"
        #expect(try await client.ask("GET", "/", jason).status == 200)
        let answer = try await client.ask("POST", "/", jason, fields: fields, content: "x")
        #expect(answer.status == 403 && answer["WWW-Authenticate"] == nil)
        #expect(try await client.ask("POST", "/", ann, fields: fields, content: "x").status == 200)
        #expect(try await client.ask("POST", "/", fields: fields, content: "x").status == 401)
    }

    @Test("A part of a router is protected in every spelling of its path, the rest is not")
    func perPath() async throws {
        let space = try ProtectedSpace()
        var router = Router()
        router.mount("/", SyncHandler { _ in .text("public") })
        router.mount(
            "/private", AuthenticationHandler(ProtectedSpace.whoami, by: space.authenticator))
        router.route(
            .get, "/me", to: AuthenticationHandler(ProtectedSpace.whoami, by: space.authenticator))
        let client = ProtectedClient(router)
        for target in ["/", "/a", "/privates", "/private/..", "/me/x"] {
            #expect(try await client.ask("GET", target).text == "public")
        }
        for target in [
            "/private", "/private/", "/private/a", "/%70rivate", "/a/../private", "//private/",
            "/./private", "/private%2Fa/../private", "/me", "/%6de", "http://x/private",
        ] {
            #expect(try await client.ask("GET", target).status == 401, "\(target)")
            #expect(try await client.ask("GET", target, ann).text == "ann", "\(target)")
        }
        #expect(try await client.ask("DELETE", "/private/a").status == 401)
    }

    @Test("The access log has the names of authenticated users only, each as one word")
    func accessLog() async throws {
        let log = ServerLog<AccessRecord>()
        let space = try ProtectedSpace()
        let client = ProtectedClient(
            AuthenticationHandler(Sample.targetLater, by: space.authenticator),
            configuration: .test { $0.accessLog = { log.add($0) } })
        _ = try await client.ask("GET", "/1", ann)
        _ = try await client.ask("GET", "/2", ann)
        _ = try await client.ask("GET", "/3", jason)
        _ = try await client.ask("GET", "/4", basic("ann", "x"))
        _ = try await client.ask("GET", "/5")
        client.connection.end()
        try await client.connection.closed()
        #expect(log.entries.map(\.user) == ["ann", "ann", "Jäsøn Doe", nil, nil])
        let starts = log.entries.map { $0.combined.prefix { $0 != "[" } }
        #expect(
            starts == [
                "unix - ann ", "unix - ann ", "unix - Jäsøn\\x20Doe ", "unix - - ", "unix - - ",
            ])
    }

    @Test("A handler may set the identity itself")
    func ownIdentity() async throws {
        let log = ServerLog<AccessRecord>()
        let handler = SyncHandler { request in
            request.identity = Identity(name: "token 7")
            return .text(request.identity?.scheme?.rawValue ?? "own")
        }
        let client = ProtectedClient(
            handler, configuration: .test { $0.accessLog = { log.add($0) } })
        #expect(try await client.ask().text == "own")
        #expect(await log.first()?.user == "token 7")
    }

    @Test("RFC 9111, 3.5: Responses to authenticated users are not for shared caches")
    func caching() async throws {
        let control = Locked("")
        let handler = SyncHandler { _ in
            Response(fields: [.cacheControl: control.withLock { $0 }], body: .text("x"))
        }
        let space = try ProtectedSpace()
        let client = ProtectedClient(
            AuthenticationHandler(handler, by: space.authenticator, isOptional: true))
        for (given, sent) in [
            ("public, max-age=60", "private, max-age=60"),
            ("max-age=60, Public", "private, max-age=60"), ("no-cache", "no-cache"),
            ("x-public=1", "x-public=1"), ("s-maxage=60", "private"),
            ("max-age=60, must-revalidate", "private, max-age=60, must-revalidate"),
            ("private, s-maxage=60", "private, s-maxage=60"),
            ("private=\"Set-Cookie\", s-maxage=60", "private"),
        ] {
            control.withLock { $0 = given }
            #expect(try await client.ask("GET", "/", ann)["Cache-Control"] == sent)
            #expect(try await client.ask()["Cache-Control"] == given)
        }
    }

    @Test("RFC 9111, 3.5: All lines of Cache-Control count, also those of errors")
    func cachingOfErrors() async throws {
        let fields: HTTPFields = [.cacheControl: "max-age=60", .cacheControl: "Public"]
        let handlers: [any Handler] = [
            SyncHandler { _ in Response(fields: fields, body: .text("x")) },
            SyncHandler { _ in throw HTTPError(.notFound, fields: fields) },
            AsyncHandler { _ in throw HTTPError(.notFound, fields: fields) },
        ]
        for handler in handlers {
            let space = try ProtectedSpace()
            let client = ProtectedClient(
                AuthenticationHandler(handler, by: space.authenticator))
            // The first time the password is derived, the second time it is remembered.
            for _ in 0..<2 {
                let answer = try await client.ask("GET", "/", ann)
                let sent = answer.fields.filter { $0.name == "Cache-Control" }.map(\.value)
                #expect(sent == ["private, max-age=60"])
            }
        }
    }

    @Test("An account store may suspend, and its error becomes the response")
    func asyncStore() async throws {
        struct Slow: AccountStore {
            let realm = "Slow"
            let inner: MemoryAccountStore
            var absentPassword: PasswordHash { inner.absentPassword }
            func account(named name: String) async throws -> Account? {
                await Task.yield()
                if name == "broken" { throw HTTPError(.serviceUnavailable) }
                return inner.accountNow(named: name)
            }
        }
        let accounts = MemoryAccountStore(realm: "Slow", rounds: 2)
        try accounts.add("ann", password: "correct: horse")
        let authenticator = Authenticator(accounts: Slow(inner: accounts))
        let client = ProtectedClient(
            AuthenticationHandler(ProtectedSpace.whoami, by: authenticator))
        let challenge = try #require(try await client.ask().challenges("Digest").first)
        for _ in 0..<2 { #expect(try await client.ask("GET", "/", ann).text == "ann") }
        #expect(try await client.ask("GET", "/", basic("ann", "x")).status == 401)
        #expect(try await client.ask("GET", "/", basic("broken", "x")).status == 503)
        var sample = DigestSample(challenge)
        sample.realm = "Slow"
        #expect(try await client.ask("GET", "/", sample.value).text == "ann")
        #expect(try await client.ask("GET", "/", sample.value).status == 401)
        let hashed = sample.changed {
            $0.user = "username=\"\($0.algorithm.hex("ann:Slow"))\", userhash=true"
        }
        #expect(try await client.ask("GET", "/", hashed).status == 401)
    }

    @Test("A closure may check passwords; its successes are remembered")
    func verifier() async throws {
        let calls = Locked(0)
        let authenticator = Authenticator(realm: "Directory") { name, password in
            calls.withLock { $0 += 1 }
            await Task.yield()
            return name == "ann" && password == "p"
        }
        let client = ProtectedClient(
            AuthenticationHandler(ProtectedSpace.whoami, by: authenticator))
        let answer = try await client.ask()
        #expect(answer["WWW-Authenticate"] == #"Basic realm="Directory", charset="UTF-8""#)
        for _ in 0..<3 {
            #expect(try await client.ask("GET", "/", basic("ann", "p")).text == "ann")
        }
        #expect(calls.withLock { $0 } == 1)
        #expect(try await client.ask("GET", "/", basic("ann", "x")).status == 401)
        #expect(try await client.ask("GET", "/", basic("bob", "p")).status == 401)
        #expect(calls.withLock { $0 } == 3)
    }

    @Test("Without a password Basic gets 401, and without a secret Digest does")
    func partialAccounts() async throws {
        let space = try ProtectedSpace()
        let secret = DigestSecret(
            name: "d", realm: ProtectedSpace.realm, password: "p", algorithm: .md5)
        try space.accounts.add(Account(name: "d", digestSecrets: [secret]))
        try space.accounts.add(Account(name: "b", password: PasswordHash(hashing: "p", rounds: 3)))
        let client = space.client()
        let challenges = try await client.ask().challenges("Digest")
        for (user, index, status) in [("d", 0, 401), ("d", 1, 200), ("b", 0, 401), ("b", 1, 401)] {
            var sample = DigestSample(challenges[index])
            (sample.name, sample.password) = (user, "p")
            #expect(try await client.ask("GET", "/", sample.value).status == status)
        }
        #expect(try await client.ask("GET", "/", basic("b", "p")).status == 200)
        #expect(try await client.ask("GET", "/", basic("d", "p")).status == 401)
    }

    @Test(
        "Names that no client could send are refused",
        arguments: ["", "a:b", "a\0", "a\n", "\u{7F}"])
    func invalidNames(_ name: String) {
        let accounts = MemoryAccountStore(rounds: 1)
        #expect(accounts.realm == ServerConfiguration.defaultServerName)
        let error = #expect(throws: InvalidUserName.self) {
            try accounts.add(name, password: "x")
        }
        #expect(error?.name == name && error?.description.isEmpty == false)
        #expect(accounts.names.isEmpty)
    }
}
