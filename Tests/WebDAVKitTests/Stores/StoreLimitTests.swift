import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem
import WebDAVKit

@Suite("RFC 4331: The byte limit of LocalStore")
struct StoreLimitTests {
    private let share: Share

    init() throws {
        share = try Share()
        try share.write("12345", "old")
    }

    /// A client of a store with a limit of 15 bytes, five of which are used.
    private func client() throws -> DAVClient {
        DAVClient(store: try LocalStore(root: share.path, byteLimit: 15))
    }

    private func put(_ client: DAVClient, _ name: String, _ count: Int) async throws -> Int {
        try await client.status(
            "PUT", "/dav/" + name, [], String(repeating: "x", count: count))
    }

    @Test("Content below and at the limit is accepted, above it refused, with and without a length")
    func limit() async throws {
        for fields in [[], ["Transfer-Encoding: chunked"]] {
            for (count, status) in [(9, 201), (10, 201), (11, 507)] {
                let client = try client()
                let content = String(repeating: "x", count: count)
                let sent =
                    fields.isEmpty
                    ? content : String(count, radix: 16) + "\r\n\(content)\r\n0\r\n\r\n"
                let answer = try await client.send("PUT", "/dav/new", fields, sent)
                #expect(answer.status == status)
                #expect(answer.text.contains("quota-not-exceeded") == (status == 507))
                #expect(share.text("new") == (status == 507 ? nil : content))
                _ = try await client.status("DELETE", "/dav/new")
            }
        }
    }

    @Test("Properties in separate files count, and their removal frees the bytes")
    func properties() async throws {
        let store = try LocalStore(root: share.path, byteLimit: 250_000)
        let client = DAVClient(store: store)
        let value = String(repeating: "v", count: 100_000)
        func patch(_ name: String, _ value: String) async throws -> String {
            let patch = """
                <propertyupdate xmlns="DAV:"><set><prop><p xmlns="u:">\(value)</p></prop></set>\
                </propertyupdate>
                """
            return try await client.send("PROPPATCH", "/dav/" + name, [], patch).text
        }
        for name in ["a", "b", "c"] { #expect(try await put(client, name, 0) == 201) }
        for name in ["a", "b", "b"] { #expect(try await patch(name, value).contains("200 OK")) }
        #expect(try await patch("c", value).contains("507 Insufficient Storage"))
        #expect(try await put(client, "d", 60_000) == 507)
        #expect(try await patch("b", "short").contains("200 OK"))
        #expect(try await put(client, "d", 60_000) == 201)
        #expect(try await client.status("DELETE", "/dav/a") == 204)
        #expect(try await patch("c", value).contains("200 OK"))
        // The next store of the folder counts them, too.
        let later = DAVClient(store: try LocalStore(root: share.path, byteLimit: 250_000))
        #expect(try await put(later, "e", 100_000) == 507)
        #expect(try await put(later, "e", 50_000) == 201)
    }

    @Test("The removal of uncounted files does not make the sum negative")
    func uncounted() async throws {
        let client = DAVClient(store: try LocalStore(root: share.path, byteLimit: .max))
        try share.write(String(repeating: "x", count: 100), "foreign")
        #expect(try await client.status("DELETE", "/dav/foreign") == 204)
        #expect(try await put(client, "new", 1) == 201)
    }

    @Test("Removing, replacing or shortening a file frees its bytes")
    func room() async throws {
        let client = try client()
        #expect(try await put(client, "new", 10) == 201)
        #expect(try await put(client, "more", 1) == 507)
        #expect(try await client.status("DELETE", "/dav/old") == 204)
        #expect(try await put(client, "more", 5) == 201)
        // Both the new and the old content exist for a moment.
        #expect(try await put(client, "more", 4) == 507)
        #expect(try await client.status("DELETE", "/dav/new") == 204)
        #expect(try await put(client, "more", 4) == 204)
        #expect(try await put(client, "rest", 11) == 201)
        #expect(try await put(client, "one", 1) == 507)
    }

    @Test("A copy counts with its whole tree, and a move does not")
    func trees() async throws {
        let client = try client()
        #expect(try await client.status("MKCOL", "/dav/tree") == 201)
        #expect(try await put(client, "tree/a", 4) == 201)
        #expect(try await client.status("COPY", "/dav/tree", ["Destination: /dav/copy"]) == 201)
        let refused = try await client.send("COPY", "/dav/tree", ["Destination: /dav/other"])
        #expect(refused.status == 507 && refused.text.contains("quota-not-exceeded"))
        #expect(share.text("other/a") == nil)
        // The partial copy was removed and has freed its bytes.
        #expect(try await put(client, "two", 2) == 201)
        #expect(try await put(client, "one", 1) == 507)
        #expect(try await client.status("MOVE", "/dav/tree", ["Destination: /dav/moved"]) == 201)
        #expect(try await put(client, "one", 1) == 507)
        #expect(try await client.status("DELETE", "/dav/moved") == 204)
        #expect(try await put(client, "four", 4) == 201)
        #expect(try await put(client, "one", 1) == 507)
    }

    @Test("Discarded files count until they are deleted")
    func bin() async throws {
        let store = try LocalStore(root: share.path, byteLimit: 5)
        let client = DAVClient(store: store)
        let path = try #require(ResourcePath("/old"))
        let name = try #require(try await store.discard(path))
        #expect(try await put(client, "new", 1) == 507)
        try await store.restore(name, to: path)
        #expect(try await put(client, "new", 1) == 507)
        await store.forget(try #require(try await store.discard(path)))
        #expect(try await put(client, "new", 5) == 201)
    }

    @Test("Closing the store deletes discarded files, which no longer count")
    func closedBin() async throws {
        let store = try LocalStore(root: share.path, byteLimit: 5)
        let client = DAVClient(store: store)
        let path = try #require(ResourcePath("/old"))
        let name = try #require(try await store.discard(path))
        #expect(try await put(client, "new", 1) == 507)
        store.close()
        #expect(try await put(client, "new", 5) == 201)
        await #expect(throws: WebDAVError.self) { try await store.restore(name, to: path) }
    }

    @Test("Content that does not become a file frees its bytes")
    func brokenOff() async throws {
        let store = try LocalStore(root: share.path, byteLimit: 300_000)
        let client = DAVClient(store: store)
        for _ in 0..<3 {
            let isSent = Locked(false)
            await #expect(throws: RequestBodyError.self) {
                _ = try await store.stage(
                    .pieces {
                        guard !isSent.withLock({ $0 }) else {
                            throw RequestBodyError.connectionLost
                        }
                        isSent.withLock { $0 = true }
                        return [UInt8](repeating: 1, count: 200_000)
                    }, for: ResourcePath.root.appending([0x61]), expected: nil)
            }
        }
        #expect(try await put(client, "new", 250_000) == 201)
    }

    @Test("Clients can query the available and used bytes")
    func told() async throws {
        let client = try client()
        let wish = """
            <?xml version="1.0"?><propfind xmlns="DAV:"><prop><quota-available-bytes/>\
            <quota-used-bytes/></prop></propfind>
            """
        let text = try await client.send("PROPFIND", "/dav/", ["Depth: 0"], wish).text
        #expect(text.contains("quota-available-bytes>10<"), "\(text)")
        #expect(text.contains("quota-used-bytes>5<"))
    }
}
