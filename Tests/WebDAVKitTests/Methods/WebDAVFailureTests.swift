import HTTPCodecs
import HTTPServerCore
import TestSupport
import Testing
import WebDAVKit

@Suite("What a store cannot do is told, and changes nothing")
struct WebDAVFailureTests {
    private static let patch = """
        <propertyupdate xmlns="DAV:"><set><prop><p xmlns="u:">1</p></prop></set></propertyupdate>
        """

    @Test(arguments: [
        ("PUT", "/dav/t/f", [], "new"), ("PUT", "/dav/t/n", [], "new"),
        ("MKCOL", "/dav/t/n", [], ""),
        ("COPY", "/dav/s", ["Destination: /dav/t/n"], ""),
        ("COPY", "/dav/s", ["Destination: /dav/t"], ""),
        ("MOVE", "/dav/s", ["Destination: /dav/t"], ""),
        ("PROPPATCH", "/dav/t/f", [], patch), ("LOCK", "/dav/t/n", [], DAVClient.lockInfo()),
    ])
    func aFullDisk(
        _ method: String, _ path: String, _ fields: [String], _ content: String
    ) async throws {
        let isFull = Locked(false)
        let store = FailingStore { path in
            isFull.withLock { $0 } && path.description.hasPrefix("/t") ? .storageFull : nil
        }
        let client = DAVClient(store: store)
        for name in ["/dav/t", "/dav/s"] {
            #expect(try await client.status("MKCOL", name) == 201)
            #expect(try await client.status("PUT", name + "/f", [], "old of \(name)") == 201)
        }
        isFull.withLock { $0 = true }
        let answer = try await client.send(method, path, fields, content)
        #expect(answer.status == 507)
        #expect(answer.text.contains("<D:sufficient-disk-space/>"))
        #expect(try await client.send("GET", "/dav/t/f").text == "old of /dav/t")
        #expect(try await client.send("GET", "/dav/s/f").text == "old of /dav/s")
        #expect(try await client.status("GET", "/dav/t/n") == 404)
        isFull.withLock { $0 = false }
        // No lock is left of what was refused.
        #expect(try await client.status("PUT", "/dav/t/n", [], "x") == 201)
    }

    @Test func aMemberThatCannotBeRemovedIsNamed() async throws {
        let store = FailingStore { $0.description == "/t/kept" ? .forbidden : nil }
        let client = DAVClient(store: store)
        _ = try await client.send("MKCOL", "/dav/t")
        let other = try #require(ResourcePath("t/kept"))
        try await store.inner.makeCollection(at: other)
        _ = try await client.send("PUT", "/dav/t/gone", [], "x")
        let answer = try await client.send("DELETE", "/dav/t")
        #expect(answer.status == 207)
        #expect(answer.text.contains("<D:href>/dav/t/kept</D:href>"))
        #expect(answer.text.contains("HTTP/1.1 403 Forbidden"))
        #expect(!answer.text.contains("/dav/t/gone"))
        #expect(try await client.status("HEAD", "/dav/t/kept/") == 200)
        #expect(try await client.status("GET", "/dav/t/gone") == 404)
    }

    @Test func errorsOfUnknownKindsAre500AndTellNothing() async throws {
        struct Secret: Error, CustomStringConvertible { var description: String { "secret" } }
        var options = WebDAVOptions()
        options.shouldPerform = { _, _ in throw Secret() }
        let client = DAVClient(options: options)
        let answer = try await client.send("PUT", "/dav/a", [], "x")
        #expect(answer.status == 500 && !answer.text.contains("secret"))
    }

    @Test func memoryIsAFullDiskAsWell() async throws {
        let client = DAVClient(store: MemoryStore(byteLimit: 10))
        #expect(try await client.status("PUT", "/dav/a", [], "1234567") == 201)
        #expect(try await client.status("PUT", "/dav/b", [], "1234567") == 507)
        #expect(try await client.status("COPY", "/dav/a", ["Destination: /dav/b"]) == 507)
        #expect(try await client.status("PUT", "/dav/a", [], "1234567890") == 204)
    }
}
