import HTTPParser
import HTTPServerAuthentication
import HTTPServerCore
import Testing

@Suite("RFC 7616, 3.4: Credentials of Digest")
struct DigestCredentialsTests {
    private static func mufasa(_ algorithm: String, _ response: String) -> String {
        """
        Digest username="Mufasa", realm="http-auth@example.org", uri="/dir/index.html", \
        algorithm=\(algorithm), nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", \
        nc=00000001, cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", qop=auth, \
        response="\(response)", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
        """
    }

    private static let md5 = "8ca523f5e9506fed4657c9700eebdbec"
    private static let sha256 = "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"

    private static func credentials(_ value: String) throws -> DigestCredentials {
        try DigestCredentials(try #require(AuthorizationField(value)))
    }

    @Test(
        "3.9.1: The examples of the standard are computed as printed",
        arguments: [(DigestAlgorithm.md5, md5), (.sha256, sha256)])
    func vectors(_ algorithm: DigestAlgorithm, _ response: String) throws {
        let credentials = try Self.credentials(Self.mufasa(algorithm.rawValue, response))
        #expect(credentials.user == .name("Mufasa") && credentials.count == 1)
        let secret = DigestSecret(
            name: "Mufasa", realm: credentials.realm, password: "Circle of Life",
            algorithm: algorithm)
        #expect(credentials.expectedResponse(secret, method: "GET") == credentials.response)
        #expect(credentials.expectedResponse(secret, method: "HEAD") != credentials.response)
        let wrong = DigestSecret(
            name: "Mufasa", realm: credentials.realm, password: "circle of life",
            algorithm: algorithm)
        #expect(credentials.expectedResponse(wrong, method: "GET") != credentials.response)
    }

    @Test("3.9.2: A name is read in both forms and as a hash")
    func names() throws {
        let value = Self.mufasa("SHA-256", Self.sha256)
        let named = try Self.credentials(value.replacing("Mufasa", with: "J\u{E4}s\u{F8}n Doe"))
        #expect(named.user == .name("Jäsøn Doe"))
        let extended = value.replacing(
            "username=\"Mufasa\"", with: "username*=UTF-8''J%C3%A4s%C3%B8n%20Doe")
        #expect(try Self.credentials(extended).user == .name("Jäsøn Doe"))
        let hash = String(repeating: "4b", count: 32)
        let hashed = value.replacing("Mufasa", with: hash.uppercased()) + ", userhash=true"
        #expect(try Self.credentials(hashed).user == .hash(hash))
        #expect(try Self.credentials(value + ", userhash=false").user == .name("Mufasa"))
    }

    @Test("The algorithm is MD5 by default, and its name is read in any case")
    func algorithm() throws {
        let value = Self.mufasa("X", Self.md5).replacing("algorithm=X, ", with: "")
        #expect(try Self.credentials(value).algorithm == .md5)
        #expect(try Self.credentials(Self.mufasa("sha-256", Self.sha256)).algorithm == .sha256)
        #expect(try Self.credentials(Self.mufasa("\"MD5\"", Self.md5)).algorithm == .md5)
    }

    @Test(
        "An algorithm or a qop that is not offered is unsupported",
        arguments: [
            ("algorithm=MD5", "algorithm=SHA-512-256"), ("algorithm=MD5", "algorithm=MD5-sess"),
            ("algorithm=MD5", "algorithm=\"\""), ("qop=auth", "qop=auth-int"),
            ("qop=auth", "qop=\"auth,auth-int\""), (", qop=auth", ""),
        ])
    func unsupported(_ part: String, _ other: String) throws {
        let value = Self.mufasa("MD5", Self.md5).replacing(part, with: other)
        #expect(throws: DigestCredentials.Fault.unsupported) { try Self.credentials(value) }
    }

    @Test(
        "Credentials with a missing or ill-formed parameter are malformed",
        arguments: [
            ("username=\"Mufasa\", ", ""), ("realm=\"http-auth@example.org\", ", ""),
            ("uri=\"/dir/index.html\", ", ""), ("uri=\"/dir/index.html\"", "uri=\"\""),
            ("nc=00000001, ", ""), ("nc=00000001", "nc=1"), ("nc=00000001", "nc=0000000g"),
            ("nc=00000001", "nc=+0000001"), ("nc=00000001", "nc=000000001"),
            ("nc=00000001", "nc=\"\""), ("response=\"8ca5", "response=\"8c"),
            ("response=\"8ca5", "response=\"8cag"), ("response=", "answer="),
            ("cnonce=", "xnonce="), (" nonce=", " ynonce="),
            ("username=", "username*=UTF-8''x, username="), ("username=\"Mufasa\"", "username*=x"),
            ("username=\"Mufasa\"", "username*=UTF-8''%FF"),
            ("username=", "userhash=true, username="), ("username=", "userhash=1, username="),
            ("username=\"Mufasa\"", "userhash=true, username*=UTF-8''x"),
        ])
    func malformed(_ part: String, _ other: String) throws {
        let value = Self.mufasa("MD5", Self.md5)
        #expect(value.contains(part))
        #expect(throws: DigestCredentials.Fault.malformed) {
            try Self.credentials(value.replacing(part, with: other))
        }
    }
}
