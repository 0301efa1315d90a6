import HTTPServerCore
import TestSupport
import Testing
import WebDAVKit

@Suite("RFC 9530 and ownCloud: Hashes of content")
struct WebDAVChecksumTests {
    private static let sha256 = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="
    private static let sha512 =
        "m3HSJL1i83hdltRq0+o9czGb+8KJDKra4t/3JRlnPKcjI8PZm6XBHXx6zG4UuMXaDEZjR1wuXDre9G9zvN7AQw=="
    private static let sha1 = "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"
    private static let md5 = "5d41402abc4b2a76b9719d911017c592"

    @Test(
        "Content that matches its hashes is accepted",
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

    @Test("All hashes of both fields are checked, and more than four of a field are 400")
    func allHashes() async throws {
        let client = DAVClient()
        let fields = [
            "Repr-Digest: sha-256=:\(Self.sha256):, sha-512=:\(Self.sha512):",
            "OC-Checksum: MD5:\(Self.md5) SHA1:\(Self.sha1) SHA256:"
                + "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
        ]
        #expect(try await client.send("PUT", "/dav/a", fields, "hello").status == 201)
        let fifth = [
            "OC-Checksum: " + Array(repeating: "MD5:\(Self.md5)", count: 5).joined(separator: " ")
        ]
        #expect(try await client.send("PUT", "/dav/a", fifth, "hello").status == 400)
    }

    @Test(
        "Content with another hash is refused, and the file does not change",
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

    private static let all = [
        "Repr-Digest: sha-256=:\(sha256):", "OC-Checksum: SHA1:\(sha1)",
    ]
    private static let wish = ["Want-Repr-Digest: sha-512=9, sha-256=3"]

    /// The property in the form that rclone requests.
    private static func property(_ client: DAVClient, _ path: String) async throws -> String? {
        let query = """
            <propfind xmlns="DAV:"><prop><checksums xmlns="http://owncloud.org/ns"/></prop></propfind>
            """
        let answer = try await client.send("PROPFIND", path, ["Depth: 0"], query)
        #expect(answer.status == 207)
        let match = answer.text.firstMatch(
            of: /<oc:checksums xmlns:oc="http:\/\/owncloud.org\/ns"><oc:checksum>([^<]*)</)
        return match.map { String($0.output.1) }
    }

    @Test(
        "Hashes are stored with their content, and dropped with it", arguments: StoreKind.allCases)
    func kept(_ kind: StoreKind) async throws {
        let client = try kind.client()
        #expect(try await client.send("PUT", "/dav/a", Self.all, "hello").status == 201)
        let sha256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
        for method in ["GET", "HEAD"] {
            let answer = try await client.send(method, "/dav/a", Self.wish)
            #expect(answer["Repr-Digest"] == "sha-256=:\(Self.sha256):")
            #expect(answer["OC-Checksum"] == "SHA256:\(sha256)")
            #expect(try await client.send(method, "/dav/a")["Repr-Digest"] == nil)
        }
        let texts = "SHA256:\(sha256) SHA1:\(Self.sha1) MD5:\(Self.md5)"
        #expect(try await Self.property(client, "/dav/a") == texts)
        // A copy keeps the hashes, and so does a file with another time or property.
        let copy = ["Destination: http://example.org/dav/b"]
        #expect(try await client.send("COPY", "/dav/a", copy).status == 201)
        let change = """
            <propertyupdate xmlns="DAV:"><set><prop><x xmlns="u:">1</x>\
            <getlastmodified>Sun, 06 Nov 1994 08:49:37 GMT</getlastmodified></prop></set>\
            </propertyupdate>
            """
        _ = try await client.send("PROPPATCH", "/dav/b", [], change)
        #expect(try await Self.property(client, "/dav/b") == texts)
        // New content does not keep the old hashes.
        let part = ["Content-Type: application/x-sabredav-partialupdate", "X-Update-Range: append"]
        #expect(try await client.send("PATCH", "/dav/b", part, "!").status == 204)
        #expect(try await client.send("PUT", "/dav/a", [], "hello").status == 204)
        for path in ["/dav/a", "/dav/b"] {
            #expect(try await Self.property(client, path) == nil)
            #expect(try await client.send("GET", path, Self.wish)["OC-Checksum"] == nil)
        }
    }

    @Test(
        "The preferred hash is sent, and none if the client wants none of them",
        arguments: [
            ("sha-256=1", "sha-256"), ("sha-512=2, sha-256=1", "sha-512"),
            ("sha-512=1, sha-256=10", "sha-256"), ("sha-256=0", ""), ("md5=9", ""), ("", ""),
            ("sha-256=11", ""), ("sha-256=5, sha-256=0", ""), ("sha-256", ""), ("\"", ""),
        ])
    func preference(_ wish: String, _ function: String) async throws {
        let client = DAVClient()
        let fields = ["Repr-Digest: sha-256=:\(Self.sha256):, sha-512=:\(Self.sha512):"]
        #expect(try await client.send("PUT", "/dav/a", fields, "hello").status == 201)
        let answer = try await client.send("GET", "/dav/a", ["Want-Repr-Digest: \(wish)"])
        #expect((answer["Repr-Digest"] ?? "").prefix { $0 != "=" } == function)
    }

    @Test("RFC 9530, 3: A partial response has the hash of the whole, and an error has none")
    func parts() async throws {
        let client = DAVClient()
        #expect(try await client.send("PUT", "/dav/a", Self.all, "hello").status == 201)
        let part = try await client.send("GET", "/dav/a", Self.wish + ["Range: bytes=1-2"])
        #expect(part.status == 206 && part.text == "el")
        #expect(part["Repr-Digest"] == "sha-256=:\(Self.sha256):")
        #expect(part["OC-Checksum"] != nil)
        for (field, status) in [("Range: bytes=9-", 416), ("If-Match: \"x\"", 412)] {
            let answer = try await client.send("GET", "/dav/a", Self.wish + [field])
            #expect(answer.status == status)
            #expect(answer["Repr-Digest"] == nil && answer["OC-Checksum"] == nil)
        }
    }

    @Test("Content that another program has changed has no hash, even at the same length")
    func otherProgram() async throws {
        let share = try Share()
        let client = try share.client()
        #expect(try await client.send("PUT", "/dav/a", Self.all, "hello").status == 201)
        #expect(try await Self.property(client, "/dav/a") != nil)
        try share.write("jello", "a")
        #expect(try await Self.property(client, "/dav/a") == nil)
        #expect(try await client.send("GET", "/dav/a", Self.wish)["Repr-Digest"] == nil)
    }

    @Test("Clients cannot set the checksums property")
    func isProtected() async throws {
        let client = DAVClient()
        #expect(try await client.send("PUT", "/dav/a", [], "hello").status == 201)
        let change = """
            <propertyupdate xmlns="DAV:"><set><prop>\
            <checksums xmlns="http://owncloud.org/ns">x</checksums></prop></set></propertyupdate>
            """
        #expect(try await client.send("PROPPATCH", "/dav/a", [], change).text.contains("403"))
    }
}
