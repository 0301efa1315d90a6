import HTTPParser
import Testing
import URLClient

@Suite("RFC 7616, 3.6 and RFC 7617, 2.2: Credentials that are sent without a challenge")
struct ProtectionSpaceCacheTests {
    private let origin = Origin(scheme: "http", host: "h.example")
    private let user = ClientCredential.password(user: "u", password: "p")

    private func challenge(_ text: String) throws -> Challenges.Challenge {
        try #require(Challenges.all(in: [.wwwAuthenticate: text], .wwwAuthenticate).first)
    }

    private func known(_ text: String, at target: String) throws -> ProtectionSpaceCache {
        var spaces = ProtectionSpaceCache()
        spaces.enter(
            try challenge(text), user, origin: origin, target: target, cnonce: "c")
        return spaces
    }

    private func sends(_ spaces: ProtectionSpaceCache, to target: String, _ origin: Origin? = nil)
        -> Bool
    {
        var spaces = spaces
        return spaces.authorization(
            origin: origin ?? self.origin, method: .get, target: target, for: .own(user)) != nil
    }

    @Test("An empty cache sends no credentials")
    func nothing() {
        #expect(!sends(ProtectionSpaceCache(), to: "/"))
    }

    @Test(
        "Basic credentials are sent to the folder of the challenged path and below",
        arguments: [
            ("/a/b", true), ("/a/", true), ("/a/c/d?x", true), ("/a", true), ("/", false),
            ("/b", false),
            ("/ab", false), ("/a/../b", false), ("/A/b", false),
        ])
    func basic(_ target: String, _ isSent: Bool) throws {
        let spaces = try known("Basic realm=r", at: "/a/b?q=/x/")
        #expect(sends(spaces, to: target) == isSent)
    }

    @Test("Credentials are not sent to another origin")
    func origins() throws {
        let spaces = try known("Basic realm=r", at: "/")
        for (scheme, host, port) in [
            ("https", "h.example", nil), ("http", "x.h.example", nil), ("http", "h.example", 81),
        ] as [(String, String, UInt16?)] {
            #expect(!sends(spaces, to: "/", Origin(scheme: scheme, host: host, port: port)))
        }
    }

    @Test(
        "Digest credentials go to the whole origin, or to domain's paths and the challenged path",
        arguments: [
            ("", "/x", true), (", domain=\"/a /b\"", "/a/x", true),
            (", domain=\"/a /b\"", "/b", true),
            (", domain=\"/a\"", "/q/w", true), (", domain=\"/a\"", "/q/w/x", false),
            (", domain=\"/a\"", "/x", false), (", domain=\"http://h.example/y\"", "/y/z", true),
            (", domain=\"http://other.example/\"", "/x", true),
        ])
    func digest(_ domain: String, _ target: String, _ isSent: Bool) throws {
        let spaces = try known("Digest realm=r, nonce=n, qop=auth\(domain)", at: "/q/w")
        #expect(sends(spaces, to: target) == isSent)
    }

    @Test("The protection space with the longest path is used")
    func several() throws {
        var spaces = try known("Basic realm=outer", at: "/")
        let storage = CredentialStorage()
        let inner = ClientCredential.password(user: "i", password: "q")
        storage.set(user, for: origin)
        let space = ProtectionSpace(origin: origin, realm: "inner", scheme: .basic)
        storage.set(inner, for: space)
        spaces.enter(
            try challenge("Basic realm=inner"), inner, origin: origin, target: "/in/x", cnonce: "c")
        func credential(_ target: String) -> ClientCredential? {
            spaces.authorization(
                origin: origin, method: .get, target: target, for: .session(storage))?.credential
        }
        #expect(credential("/in/y") == inner && credential("/y") == user)
    }

    @Test("Dot segments are removed before paths are compared")
    func dotSegments() throws {
        let digest = try known("Digest realm=r, nonce=n, qop=auth, domain=\"/a/ /b/\"", at: "/x")
        #expect(sends(digest, to: "/c/../a/x") && sends(digest, to: "/b/./c/../x?q=/../"))
        #expect(!sends(digest, to: "/a/../c") && !sends(digest, to: "/./c"))
        let basic = try known("Basic realm=r", at: "/x/../a/./f")
        #expect(sends(basic, to: "/a/g") && sends(basic, to: "/x/../a/./f"))
        #expect(!sends(basic, to: "/x/g"))
    }

    @Test("Where a challenge names another space than the one sent, that space applies")
    func shared() throws {
        var spaces = try known("Digest realm=a, nonce=n, qop=auth", at: "/a/f")
        func enter(_ text: String, at target: String, over realm: String) throws {
            let carried = ProtectionSpace(origin: origin, realm: realm, scheme: .digest)
            spaces.enter(
                try challenge(text), user, origin: origin, target: target, carried: carried,
                cnonce: "c")
        }
        func realms(_ targets: String...) -> [String] {
            targets.map { target in
                let sent = spaces.authorization(
                    origin: origin, method: .get, target: target, for: .own(user))
                return sent?.space.realm ?? "-"
            }
        }
        try enter("Digest realm=b, nonce=n, qop=auth", at: "/b/f", over: "a")
        try enter("Basic realm=c", at: "/f", over: "a")
        #expect(realms("/a/g", "/b/g", "/f", "/ff", "/g") == ["a", "b", "c", "a", "a"])
        // A new nonce does not change which space applies.
        try enter("Digest realm=b, nonce=m, qop=auth, stale=true", at: "/b/f", over: "b")
        #expect(realms("/a/g", "/b/g", "/f", "/g") == ["a", "b", "c", "a"])
        // Another space may apply to paths inside the paths of this one.
        try enter("Digest realm=a, nonce=n, qop=auth", at: "/b/in/f", over: "b")
        try enter("Digest realm=a, nonce=n, qop=auth", at: "/b/h", over: "b")
        #expect(realms("/b/g", "/b/in/g", "/b/h", "/g") == ["b", "a", "a", "a"])
    }

    @Test("A user gets only that user's logins, and a session those of stored credentials")
    func users() throws {
        var spaces = try known("Basic realm=r", at: "/")
        let storage = CredentialStorage()
        let other = ClientCredential.password(user: "o", password: "q")
        func credential(_ user: RequestUser) -> ClientCredential? {
            spaces.authorization(origin: origin, method: .get, target: "/", for: user)?.credential
        }
        #expect(credential(.own(user)) == user && credential(.own(other)) == nil)
        #expect(credential(.session(storage)) == nil)
        storage.set(other, for: origin)
        #expect(credential(.session(storage)) == nil)
        spaces.enter(
            try challenge("Basic realm=r"), other, origin: origin, target: "/", cnonce: "c")
        #expect(credential(.session(storage)) == other && credential(.own(user)) == user)
    }

    @Test(
        "An answer that is not stored is used until the storage changes for the origin",
        arguments: [true, false])
    func answers(_ removesAll: Bool) throws {
        let storage = CredentialStorage()
        var spaces = ProtectionSpaceCache()
        spaces.enter(
            try challenge("Basic realm=r"), user, origin: origin, target: "/",
            answered: storage.revision(of: origin), cnonce: "c")
        func isSent() -> Bool {
            spaces.authorization(
                origin: origin, method: .get, target: "/", for: .session(storage)) != nil
        }
        #expect(isSent())
        storage.set(user, for: Origin(scheme: "http", host: "elsewhere.example"))
        #expect(isSent())
        if removesAll { storage.removeAll() } else { storage.set(nil, for: origin) }
        #expect(!isSent())
    }

    @Test("A refused login is forgotten")
    func leaving() throws {
        var spaces = try known("Basic realm=r", at: "/")
        spaces.leave(ProtectionSpace(origin: origin, realm: "r", scheme: .basic), user)
        #expect(!sends(spaces, to: "/"))
    }

    @Test("Digest counts all requests, and accepts nextnonce only for the nonce that was sent")
    func counting() throws {
        var spaces = try known("Digest realm=r, nonce=n, qop=auth", at: "/")
        func next() throws -> AuthorizationField {
            let sent = spaces.authorization(
                origin: origin, method: .get, target: "/", for: .own(user))
            return try #require(sent.flatMap { AuthorizationField($0.value) })
        }
        #expect(try next()["nc"] == "00000001")
        #expect(try next()["nc"] == "00000002")
        spaces.receive(info: "nextnonce=m", origin: origin, sent: "Digest nonce=other")
        #expect(try next()["nonce"] == "n")
        spaces.receive(info: "nextnonce=m", origin: origin, sent: "Digest nonce=n")
        let field = try next()
        #expect(field["nonce"] == "m" && field["nc"] == "00000001")
    }

    @Test("The nonce count continues when the server sends the same nonce again")
    func sameNonce() throws {
        let text = "Digest realm=r, nonce=n, qop=auth"
        var spaces = try known(text, at: "/")
        func next() throws -> AuthorizationField {
            let sent = spaces.authorization(
                origin: origin, method: .get, target: "/", for: .own(user))
            return try #require(sent.flatMap { AuthorizationField($0.value) })
        }
        #expect(try next()["nc"] == "00000001")
        spaces.enter(try challenge(text), user, origin: origin, target: "/", cnonce: "d")
        let second = try next()
        #expect(second["nc"] == "00000002" && second["cnonce"] == "c")
        spaces.receive(info: "nextnonce=n", origin: origin, sent: "Digest nonce=n")
        #expect(try next()["nc"] == "00000003")
        spaces.enter(
            try challenge("Digest realm=r, nonce=m, qop=auth"), user, origin: origin, target: "/",
            cnonce: "d")
        let other = try next()
        #expect(other["nc"] == "00000001" && other["cnonce"] == "d")
    }

    @Test("The number of protection spaces is limited, and the oldest one is removed")
    func bounded() throws {
        var spaces = ProtectionSpaceCache()
        for number in 0..<100 {
            spaces.enter(
                try challenge("Basic realm=r\(number)"), user, origin: origin,
                target: "/\(number)/", cnonce: "c")
        }
        #expect(!sends(spaces, to: "/0/") && sends(spaces, to: "/99/"))
    }
}

@Suite("Credentials that the application stores")
struct CredentialStorageTests {
    @Test("A password is found by space, else by origin, but not for a token or a proxy")
    func lookup() {
        let storage = CredentialStorage()
        let origin = Origin(scheme: "https", host: "h.example")
        let space = ProtectionSpace(origin: origin, realm: "r", scheme: .digest)
        let bearer = ProtectionSpace(origin: origin, realm: "r", scheme: .bearer)
        let proxy = ProtectionSpace(origin: origin, realm: "r", scheme: .basic, isProxy: true)
        let general = ClientCredential.password(user: "g", password: "p")
        let special = ClientCredential.password(user: "s", password: "p")
        #expect(storage.credential(for: space) == nil)
        storage.set(general, for: origin)
        storage.set(special, for: space)
        #expect(storage.credential(for: space) == special)
        let other = ProtectionSpace(origin: origin, realm: "x", scheme: .basic)
        #expect(storage.credential(for: other) == general)
        #expect(storage.credential(for: bearer) == nil && storage.credential(for: proxy) == nil)
        storage.set(nil, for: space)
        #expect(storage.credential(for: space) == general)
        storage.removeAll()
        #expect(storage.credential(for: space) == nil)
        #expect("\(special)" == "password of s" && "\(ClientCredential.token("x"))" == "token")
    }
}
