import HTTPParser
import HTTPServerCore
import TestSupport
import Testing
import WebDAVKit

@Suite("A custom store implements six members")
struct CustomStoreTests {
    private let client = DAVClient(store: NoteStore())

    @Test("Files and collections come and go")
    func lifeCycle() async throws {
        #expect(try await client.status("PUT", "/dav/none/a", [], "text") == 409)
        #expect(try await client.status("MKCOL", "/dav/c") == 201)
        #expect(try await client.status("MKCOL", "/dav/c") == 405)
        #expect(try await client.status("PUT", "/dav/c/a", [], "text") == 201)
        let first = try await client.send("GET", "/dav/c/a")
        #expect(first.text == "text" && first["ETag"] != nil)
        #expect(try await client.status("PUT", "/dav/c/a", [], "longer text") == 204)
        let second = try await client.send("GET", "/dav/c/a")
        #expect(second.text == "longer text" && second["ETag"] != first["ETag"])
        let list = try await client.send("PROPFIND", "/dav/c/", ["Depth: 1"])
        #expect(list.status == 207 && list.text.contains("/dav/c/a"))
        #expect(try await client.status("DELETE", "/dav/c") == 204)
        #expect(try await client.status("GET", "/dav/c/a") == 404)
    }

    @Test("The defaults copy and move trees")
    func trees() async throws {
        for path in ["/dav/c", "/dav/c/d"] { _ = try await client.status("MKCOL", path) }
        _ = try await client.status("PUT", "/dav/c/d/a", [], "a")
        _ = try await client.status("PUT", "/dav/old", [], "b")
        let fields = ["Destination: /dav/copy"]
        #expect(try await client.status("COPY", "/dav/c", fields) == 201)
        #expect(try await client.send("GET", "/dav/copy/d/a").text == "a")
        #expect(try await client.send("GET", "/dav/c/d/a").text == "a")
        #expect(try await client.status("COPY", "/dav/c", fields + ["Depth: 0"]) == 204)
        #expect(try await client.status("GET", "/dav/copy/d/a") == 404)
        #expect(try await client.status("MOVE", "/dav/c", ["Destination: /dav/old"]) == 204)
        #expect(try await client.send("GET", "/dav/old/d/a").text == "a")
        #expect(try await client.status("GET", "/dav/c/d/a") == 404)
    }

    @Test("The defaults refuse properties, times and parts of files")
    func refusals() async throws {
        _ = try await client.status("PUT", "/dav/a", [], "a")
        let update = """
            <propertyupdate xmlns="DAV:"><set><prop><x xmlns="urn:a">1</x></prop></set>\
            </propertyupdate>
            """
        let answer = try await client.send("PROPPATCH", "/dav/a", [], update)
        #expect(answer.status == 207 && answer.text.contains("403 Forbidden"))
        let fields = [
            "Content-Type: application/x-sabredav-partialupdate", "X-Update-Range: append",
        ]
        #expect(try await client.status("PATCH", "/dav/a", fields, "b") == 501)
        #expect(try await client.send("GET", "/dav/a").text == "a")
    }

    @Test("Locks hold")
    func locks() async throws {
        _ = try await client.status("PUT", "/dav/a", [], "a")
        let token = try await client.lock("/dav/a")
        #expect(try await client.status("PUT", "/dav/a", [], "b") == 423)
        #expect(try await client.status("PUT", "/dav/a", ["If: (<\(token)>)"], "b") == 204)
    }

    @Test("Content above the limit of the default is refused before a file changes")
    func limit() async throws {
        let length = "Content-Length: \(NoteStore().stagedByteLimit + 1)"
        let connection = MemoryConnection(client.router)
        connection.send("PUT /dav/a HTTP/1.1\r\nHost: a\r\n\(length)\r\n\r\n")
        try await connection.output("\r\n\r\n")
        connection.end()
        #expect(try await connection.closed().text.hasPrefix("HTTP/1.1 507"))
        #expect(try await client.status("GET", "/dav/a") == 404)
    }

    @Test("The stores of the library write bytes in one step", arguments: [true, false])
    func writes(_ isLocal: Bool) async throws {
        let share = try Share()
        let store: any ResourceStore =
            isLocal ? try LocalStore(root: share.path) : MemoryStore()
        let path = try #require(ResourcePath("a"))
        for text in ["one", "", "three"] {
            let info = try await store.write(Array(text.utf8), to: path, modified: 1_000)
            #expect(info.length == Int64(text.utf8.count))
            #expect(info.modified.secondsSinceEpoch == 1_000)
        }
        await #expect(throws: WebDAVError.self) {
            _ = try await store.write([], to: .root, modified: nil)
        }
    }

    @Test("RFC 4918, 10.4: A tagged resource that cannot be looked up is an error")
    func failedLookup() async throws {
        let client = DAVClient(store: UnresolvableStore())
        _ = try await client.status("PUT", "/dav/a", [], "old")
        let fields = ["If: </dav/b> (Not <urn:uuid:0>)"]
        #expect(try await client.status("PUT", "/dav/a", fields, "new") == 503)
        #expect(try await client.send("GET", "/dav/a").text == "old")
        let elsewhere = ["If: <http://other.example/b> (Not <urn:uuid:0>)"]
        #expect(try await client.status("PUT", "/dav/a", elsewhere, "new") == 204)
    }
}

/// A store that cannot look up the name `b`.
private struct UnresolvableStore: WrappingStore {
    let inner = NoteStore()

    func resolved(_ path: ResourcePath) async throws -> ResourcePath {
        guard path.name != Array("b".utf8) else { throw WebDAVError(.serviceUnavailable) }
        return path
    }
}
