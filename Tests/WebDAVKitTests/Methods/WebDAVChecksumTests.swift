import HTTPServerCore
import TestSupport
import Testing
import WebDAVKit

@Suite("Hashes that come with content: RFC 9530 and ownCloud's")
struct WebDAVChecksumTests {
    private static let sha256 = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="
    private static let sha1 = "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"
    private static let md5 = "5d41402abc4b2a76b9719d911017c592"

    @Test(
        "Content that fits its hashes is taken",
        arguments: [
            "Repr-Digest: sha-256=:\(sha256):",
            "Repr-Digest: unknown=:AA==:,\tsha-256=:\(sha256):;a=1",
            "OC-Checksum: SHA1:\(sha1)", "OC-Checksum: MD5:\(md5) sha1:\(sha1) ADLER32:062c0215",
            "OC-Checksum: ADLER32:00000000", "Repr-Digest: sha=:AA==:",
        ])
    func right(_ field: String) async throws {
        let client = DAVClient()
        #expect(try await client.send("PUT", "/dav/a", [field], "hello").status == 201)
        #expect(try await client.send("GET", "/dav/a").text == "hello")
    }

    @Test(
        "Content of another hash is refused, and the file stays as it was",
        arguments: [
            "Repr-Digest: sha-256=:\(sha256):", "OC-Checksum: SHA1:\(sha1)",
            "OC-Checksum: MD5:\(md5)", "OC-Checksum: ADLER32:1 MD5:\(md5)",
            "Repr-Digest: sha-256=:AAAA:", "Repr-Digest: sha-256=\(sha256)",
            "Repr-Digest: sha-512=:\(sha256):", "OC-Checksum: SHA1:\(md5)", "OC-Checksum: MD5:x",
        ], StoreKind.allCases)
    func wrong(_ field: String, _ kind: StoreKind) async throws {
        let client = try kind.client()
        #expect(try await client.send("PUT", "/dav/a", [field], "other").status == 400)
        #expect(try await client.send("GET", "/dav/a").status == 404)
        #expect(try await client.send("PUT", "/dav/a", [], "old").status == 201)
        #expect(try await client.send("PUT", "/dav/a", [field], "other").status == 400)
        #expect(try await client.send("GET", "/dav/a").text == "old")
    }

    @Test("Content of many pieces is hashed as a whole")
    func large() async throws {
        // The SHA-1 of a million letters (FIPS 180-4's example).
        let hash = "34aa973cd4c4daa4f61eeb2bdbad27316534016f"
        let client = try StoreKind.local.client()
        let text = String(repeating: "a", count: 1_000_000)
        let fields = ["OC-Checksum: SHA1:\(hash)"]
        #expect(try await client.send("PUT", "/dav/a", fields, text).status == 201)
        #expect(try await client.send("PUT", "/dav/b", fields, text + "a").status == 400)
    }
}
