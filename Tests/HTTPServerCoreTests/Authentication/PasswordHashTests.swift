import HTTPServerAuthentication
import HTTPServerCore
import Testing

@Suite("Stored passwords")
struct PasswordHashTests {
    @Test("Only the right password matches a hash")
    func matches() {
        let hash = PasswordHash(hashing: "sésame", rounds: 5)
        #expect(hash.matches("sésame"))
        for other in ["sesame", "sésame ", "", "Sésame", "sésame\0"] {
            #expect(!hash.matches(other))
        }
        #expect(PasswordHash(hashing: "", rounds: 5).matches(""))
    }

    @Test("Each hash of one password differs, and its text can be read back")
    func text() throws {
        let hashes = (0..<10).map { _ in PasswordHash(hashing: "x", rounds: 2) }
        #expect(Set(hashes.map(\.description)).count == 10)
        for hash in hashes {
            let again = try #require(PasswordHash(hash.description))
            #expect(again == hash && again.rounds == 2 && again.matches("x"))
        }
    }

    /// By Python's hashlib.pbkdf2_hmac("sha256", b"secret", b"0123456789abcdef", 1000).
    @Test("A hash that another program has made can be read")
    func foreign() throws {
        let text =
            "$pbkdf2-sha256$i=1000$MDEyMzQ1Njc4OWFiY2RlZg$"
            + "tiKWHy4FAGCWE8gn6GtKhaxD2OeeAUUWXFT/p1aaNl8"
        let hash = try #require(PasswordHash(text))
        #expect(hash.matches("secret") && hash.description == text)
    }

    private static let key = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

    @Test(
        "Texts that are not a stored hash are refused",
        arguments: [
            "", "$", "secret", "$pbkdf2-sha256$i=0$MDEyMzQ1Njc4OWFiY2RlZg$\(key)",
            "$pbkdf2-sha256$i=10000001$MDEyMzQ1Njc4OWFiY2RlZg$\(key)",
            "$pbkdf2-sha256$i=+5$MDEyMzQ1Njc4OWFiY2RlZg$\(key)",
            "$pbkdf2-sha256$5$MDEyMzQ1Njc4OWFiY2RlZg$\(key)",
            "$pbkdf2-sha256$i=5$MDEyMw$\(key)", "$pbkdf2-sha256$i=5$$\(key)",
            "$pbkdf2-sha256$i=5$MDEyMzQ1Njc4OWFiY2RlZg$AAAA",
            "$pbkdf2-sha256$i=5$MDEyMzQ1Njc4OWFiY2RlZg==$\(key)",
            "$pbkdf2-sha512$i=5$MDEyMzQ1Njc4OWFiY2RlZg$\(key)",
            "$pbkdf2-sha256$i=5$MDEyMzQ1Njc4OWFiY2RlZg$\(key)$", "x$pbkdf2-sha256$i=5$a$b",
        ])
    func refusal(_ text: String) {
        #expect(PasswordHash(text) == nil)
    }

    @Test("The hash for unknown users does not match, and differs each time")
    func absent() {
        let hash = PasswordHash.unmatchable(rounds: 7)
        #expect(hash.rounds == 7 && !hash.matches("") && hash != .unmatchable(rounds: 7))
    }

    @Test("A Digest secret is read as htdigest writes it; its description does not reveal it")
    func digestSecret() throws {
        let made = DigestSecret(
            name: "Mufasa", realm: "http-auth@example.org", password: "Circle of Life",
            algorithm: .md5)
        let read = DigestSecret(hex: "3D78807DEFE7DE2157E2B0B6573A855F", algorithm: .md5)
        #expect(read == made)
        #expect("\(made)" == "MD5 secret")
        for wrong in ["", "3d78", "3d78807defe7de2157e2b0b6573a855g"] {
            #expect(DigestSecret(hex: wrong, algorithm: .md5) == nil)
        }
    }
}
