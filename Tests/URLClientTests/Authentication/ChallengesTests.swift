import HTTPCrypto
import HTTPParser
import Testing
import URLClient

@Suite("RFC 9110, 11.6.1: Choosing among challenges")
struct ChallengesTests {
    private func schemes(_ values: [String]) -> [String] {
        var fields = HTTPFields()
        for value in values { fields.append(.wwwAuthenticate, value) }
        return Challenges.all(in: fields, .wwwAuthenticate).map { challenge in
            switch challenge {
            case .basic: "basic"
            case .bearer: "bearer"
            case .digest(let digest): "\(digest.hash.rawValue)\(digest.isSession ? "-sess" : "")"
            }
        }
    }

    @Test("The strongest challenge comes first, in one header field or several")
    func strength() {
        let basic = "Basic realm=\"a, b\""
        let md5 = "Digest realm=r, nonce=n, qop=\"auth\""
        let sha = "Digest realm=r, nonce=n, qop=\"auth-int, auth\", algorithm=SHA-256"
        #expect(schemes([basic, md5, sha]) == ["SHA-256", "MD5", "basic"])
        #expect(
            schemes(["\(basic), \(sha), \(md5), Bearer"]) == ["bearer", "SHA-256", "MD5", "basic"])
        #expect(schemes([]).isEmpty)
    }

    @Test("Malformed and unknown challenges are ignored, and the others are used")
    func leftAside() {
        #expect(schemes(["Basic realm=\"a", "Basic realm=b"]) == ["basic"])
        #expect(schemes(["Negotiate, NTLM, Basic realm=b, Hoba x=y"]) == ["basic"])
        for digest in [
            "Digest nonce=n", "Digest realm=r", "Digest realm=r, nonce=n, algorithm=SHA-512",
            "Digest realm=r, nonce=n, qop=auth-int", "Digest realm=r, nonce=n, algorithm=SHA-256",
            "Digest realm=r, nonce=n, algorithm=MD5-sess", "Digest abc=",
        ] {
            #expect(schemes([digest]).isEmpty)
        }
        #expect(schemes(["Digest realm=r, nonce=n"]) == ["MD5"])
        let session = "Digest realm=r, nonce=n, algorithm=md5-SESS, qop=auth"
        #expect(schemes([session]) == ["MD5-sess"])
    }

    @Test("A field with very many challenges is not read to its end")
    func bounded() {
        let many = Array(repeating: "Basic realm=a", count: 1_000).joined(separator: ", ")
        #expect(schemes([many]).count <= 32)
    }
}

@Suite("RFC 7617: Basic credentials")
struct BasicAuthorizationTests {
    @Test(
        "2 and 2.1: user name and password are sent in UTF-8",
        arguments: [
            ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            ("test", "123£", "Basic dGVzdDoxMjPCow=="), ("a", "", "Basic YTo="),
            ("", "b:c", "Basic OmI6Yw=="),
        ])
    func vectors(_ user: String, _ password: String, _ value: String) {
        #expect(BasicAuthorization.value(user: user, password: password) == value)
    }

    @Test("A user name with a colon and credentials with control characters are refused")
    func refusal() {
        for (user, password) in [("a:b", "c"), ("a\n", "b"), ("a", "b\0"), ("a", "\u{7F}")] {
            #expect(BasicAuthorization.value(user: user, password: password) == nil)
        }
    }

    @Test(
        "2.2: the protection space is the path up to its last slash",
        arguments: [("/", "/"), ("/a", "/"), ("/a/", "/a/"), ("/a/b", "/a/"), ("*", "/")])
    func scope(_ path: String, _ scope: String) {
        #expect(BasicAuthorization.scope(of: path) == scope)
    }
}

@Suite("RFC 7616: Digest credentials")
struct DigestSessionTests {
    private func session(
        _ challenge: String, user: String = "Mufasa", password: String = "Circle of Life",
        cnonce: String = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
    ) throws -> DigestSession {
        let field = try #require(ChallengeField.list(challenge)?.first)
        return DigestSession(
            try #require(DigestChallenge(field)), user: user, password: password, cnonce: cnonce)
    }

    private func field(_ session: inout DigestSession, _ method: String = "GET", _ target: String)
        throws -> AuthorizationField
    {
        let value = session.authorization(method: method, target: target)
        return try #require(AuthorizationField(value))
    }

    private static let challenge = """
        Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=ALGORITHM, \
        nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", \
        opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
        """

    @Test(
        "3.9.1: the example of the standard, with MD5 and SHA-256",
        arguments: [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ])
    func example(_ algorithm: String, _ response: String) throws {
        let text = Self.challenge.replacing("ALGORITHM", with: algorithm)
        var session = try session(text)
        let sent = try field(&session, "GET", "/dir/index.html")
        #expect(sent["response"] == response && sent["username"] == "Mufasa")
        #expect(sent["uri"] == "/dir/index.html" && sent["qop"] == "auth")
        #expect(sent["nc"] == "00000001" && sent["algorithm"] == algorithm)
        #expect(sent["opaque"] == "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS")
        #expect(sent["realm"] == "http-auth@example.org")
    }

    @Test("3.4: the nonce count grows, and starts again at 1 with nextnonce")
    func counting() throws {
        var session = try session("Digest realm=r, nonce=n, qop=auth")
        for count in 1...17 {
            let digits = String(count, radix: 16)
            let text = String(repeating: "0", count: 8 - digits.count) + digits
            #expect(try field(&session, "GET", "/")["nc"] == text)
        }
        session.receive(info: "nextnonce=\"m\", qop=auth, rspauth=\"x\", cnonce=\"y\", nc=1")
        let next = try field(&session, "GET", "/")
        #expect(next["nc"] == "00000001" && next["nonce"] == "m")
        session.receive(info: "rspauth=\"x\"")
        session.receive(info: "nextnonce=\"")
        session.receive(info: "nextnonce=\"\"")
        #expect(try field(&session, "GET", "/")["nonce"] == "m")
    }

    @Test("3.4.2: -sess hashes the nonces into the secret")
    func sess() throws {
        var session = try session(
            "Digest realm=r, nonce=n, qop=auth, algorithm=SHA-256-sess", user: "u", password: "p",
            cnonce: "c")
        let sent = try field(&session, "POST", "/x?y")
        let hash = DigestHash.sha256
        let secret = hash.hex("\(hash.hex("u:r:p")):n:c")
        #expect(
            sent["response"] == hash.hex("\(secret):n:00000001:c:auth:\(hash.hex("POST:/x?y"))"))
        #expect(sent["algorithm"] == "SHA-256-sess")
    }

    @Test("Without qop, the response is computed as in RFC 2069")
    func old() throws {
        var session = try session("Digest realm=r, nonce=n", user: "u", password: "p")
        let sent = try field(&session, "GET", "/")
        let hash = DigestHash.md5
        #expect(sent["response"] == hash.hex("\(hash.hex("u:r:p")):n:\(hash.hex("GET:/"))"))
        #expect(sent["qop"] == nil && sent["nc"] == nil && sent["cnonce"] == nil)
    }

    @Test("3.4.4: the user name is sent as a hash, as an extended value, or quoted")
    func names() throws {
        var hashed = try session(
            "Digest realm=\"api@example.org\", nonce=n, qop=auth, algorithm=SHA-256, userhash=TRUE",
            user: "Jäsøn Doe")
        let sent = try field(&hashed, "GET", "/")
        #expect(sent["userhash"] == "true")
        #expect(sent["username"] == DigestHash.sha256.hex("Jäsøn Doe:api@example.org"))
        var plain = try session("Digest realm=r, nonce=n, qop=auth", user: "Jäsøn Doe")
        let extended = try field(&plain, "GET", "/")
        #expect(extended["username*"] == "UTF-8''J%C3%A4s%C3%B8n%20Doe")
        #expect(extended["username"] == nil)
        var quoted = try session("Digest realm=\"a \\\"b\\\"\", nonce=n, qop=auth", user: "x\"y\\z")
        let both = try field(&quoted, "GET", "/")
        #expect(both["username"] == "x\"y\\z" && both["realm"] == "a \"b\"")
    }

    @Test("3.3: stale and domain are read from the challenge")
    func parameters() throws {
        let session = try session(
            "Digest realm=r, nonce=n, qop=auth, stale=TRUE, domain=\"/a http://h/b\"")
        #expect(session.challenge.isStale && session.challenge.domain == ["/a", "http://h/b"])
    }
}
