import HTTPCrypto
import HTTPServerAuthentication
import HTTPServerCore
import Testing

@Suite("The system's cryptography")
struct CryptoTests {
    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test("The time of a comparison does not reveal where secrets differ")
    func constantTime() {
        let secret = [UInt8](repeating: 1, count: 8 << 20)
        var (early, late) = (secret, secret)
        early[0] = 2
        late[late.count - 1] = 2
        func time(_ other: [UInt8]) -> Duration {
            (0..<7).map { _ in
                ContinuousClock().measure { #expect(!Crypto.areEqual(secret, other)) }
            }.min() ?? .zero
        }
        #expect(Crypto.areEqual(secret, secret))
        // A comparison that ends at the first difference would be a thousand times as fast here.
        #expect(time(early) * 8 > time(late))
    }

    @Test(
        "RFC 1321, A.5: MD5",
        arguments: [
            ("", "d41d8cd98f00b204e9800998ecf8427e"), ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        ])
    func md5(_ text: String, _ hash: String) throws {
        #expect(hex(try #require(Crypto.md5(Array(text.utf8)))) == hash)
        #expect(DigestAlgorithm.md5.hex(text) == hash)
    }

    @Test(
        "SHA-256 agrees with a plain implementation of FIPS 180-4",
        arguments: [0, 1, 55, 56, 64, 999])
    func sha256(_ count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        #expect(Crypto.sha256(bytes) == TestSHA256.hash(bytes))
    }

    @Test("RFC 4231, 4.3: HMAC with SHA-256")
    func hmac() {
        let code = Crypto.hmacSHA256(
            Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
        #expect(
            hex(code) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }

    @Test(
        "RFC 7914, 11: PBKDF2 with HMAC-SHA-256",
        arguments: [
            (
                "passwd", "salt", 1,
                "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"
            ),
            (
                "Password", "NaCl", 80_000,
                "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56"
            ),
        ])
    func pbkdf2(_ password: String, _ salt: String, _ rounds: Int, _ key: String) {
        let derived = Crypto.pbkdf2SHA256(
            Array(password.utf8), salt: Array(salt.utf8), rounds: rounds)
        #expect(hex(derived) == key)
    }

    @Test("Random bytes have the requested count and do not repeat")
    func random() {
        #expect(Crypto.random(0).isEmpty)
        #expect(Set((0..<100).map { _ in Crypto.random(16) }).count == 100)
        #expect(Crypto.random(33).count == 33)
    }

    @Test("Only arrays with all bytes in common are equal")
    func equal() {
        #expect(Crypto.areEqual([], []))
        #expect(Crypto.areEqual([1, 2], [1, 2]))
        #expect(!Crypto.areEqual([1, 2], [1, 3]))
        #expect(!Crypto.areEqual([1, 2], [1, 2, 3]))
        #expect(!Crypto.areEqual([], [0]))
    }
}
