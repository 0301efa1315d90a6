import HTTPParser
import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem
import WebDAVKit

@Suite("A custom store with the six required members")
struct CustomStoreTests {
    private let client = DAVClient(store: NoteStore())

    @Test("Files and collections can be created, replaced and removed")
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

    @Test("The default implementations copy and move trees")
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

    @Test(
        "A failed copy or move keeps the file that it would replace",
        arguments: FaultyStore.Fault.allCases, ["COPY", "MOVE"])
    func failedCopies(_ fault: FaultyStore.Fault, _ method: String) async throws {
        let store = FaultyStore(fault: fault)
        let client = DAVClient(store: store)
        for name in ["old", "new"] { _ = try await client.status("PUT", "/dav/\(name)", [], name) }
        _ = try await client.status("MKCOL", "/dav/c")
        _ = try await client.status("PUT", "/dav/c/inner", [], "inner")
        store.isActive.withLock { $0 = true }
        let fields = ["Destination: /dav/old"]
        let status = fault == .streams ? 501 : fault == .isFull ? 507 : 204
        #expect(try await client.status(method, "/dav/new", fields) == status)
        let text = fault == .ownContent ? "new" : "old"
        #expect(try await client.send("GET", "/dav/old").text == text)
        guard status != 204 else { return }
        #expect(try await client.send("GET", "/dav/new").text == "new")
        guard fault == .streams else { return }
        #expect(try await client.status(method, "/dav/c", fields) == 501)
        #expect(try await client.send("GET", "/dav/old").text == "old")
    }

    @Test("A copy has the properties of its source, and none of the replaced file")
    func copiedProperties() async throws {
        let client = DAVClient(store: CopyingStore())
        for (name, properties) in [("a", ["p", "q"]), ("b", ["q", "r"])] {
            _ = try await client.status("PUT", "/dav/\(name)", [], name)
            let values = properties.map { "<\($0) xmlns=\"u:\">\(name)</\($0)>" }.joined()
            let patch = """
                <propertyupdate xmlns="DAV:"><set><prop>\(values)</prop></set></propertyupdate>
                """
            #expect(try await client.status("PROPPATCH", "/dav/\(name)", [], patch) == 207)
        }
        #expect(try await client.status("COPY", "/dav/a", ["Destination: /dav/b"]) == 204)
        let list = try await client.send("PROPFIND", "/dav/b", ["Depth: 0"]).text
        let found = list.matches(of: />([ab])<\/(?:[^>]*:)?([pqr])>/)
        #expect(Set(found.map { "\($0.output.2)\($0.output.1)" }) == ["pa", "qa"])
    }

    @Test("The default implementations refuse properties and partial updates")
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

    @Test("Locks are enforced")
    func locks() async throws {
        _ = try await client.status("PUT", "/dav/a", [], "a")
        let token = try await client.lock("/dav/a")
        #expect(try await client.status("PUT", "/dav/a", [], "b") == 423)
        #expect(try await client.status("PUT", "/dav/a", ["If: (<\(token)>)"], "b") == 204)
    }

    @Test("Content above the default limit is refused before a file changes")
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

/// A store whose copies fail.
struct FaultyStore: WrappingStore {
    enum Fault: CaseIterable { case streams, ownContent, isFull }

    private final class Staged: StagedContent {
        let bytes: [UInt8]
        var length: Int64 { Int64(bytes.count) }

        init(_ bytes: [UInt8]) { self.bytes = bytes }
    }

    let inner = NoteStore()
    let fault: Fault
    let isActive = Locked(false)
    private let written = Locked([ResourcePath: [UInt8]]())

    init(fault: Fault) { self.fault = fault }

    func read(_ path: ResourcePath) async throws -> (info: ResourceInfo, body: ResponseBody) {
        let (info, body) = try await inner.read(path)
        guard fault == .streams, let bytes = written.withLock({ $0[path] }) else {
            return (info, body)
        }
        let stream = ResponseBody.stream(mediaType: "", length: info.length) { writer in
            try await writer.write(bytes)
        }
        return (info, stream)
    }

    func write(
        _ bytes: [UInt8], to path: ResourcePath, modified: Int64?
    ) async throws -> ResourceInfo {
        if fault == .isFull, isActive.withLock({ $0 }) {
            throw WebDAVError(.insufficientStorage)
        }
        written.withLock { $0[path] = bytes }
        return try await inner.write(bytes, to: path, modified: modified)
    }

    func stage(
        _ body: RequestBody, for path: ResourcePath, expected: Int64?
    ) async throws -> any StagedContent {
        var bytes: [UInt8] = []
        for try await piece in body { bytes += piece }
        return fault == .ownContent ? Staged(bytes) : CollectedContent(bytes)
    }

    func place(
        _ content: any StagedContent, at path: ResourcePath, modified: Int64?
    ) async throws -> ResourceInfo {
        let bytes = (content as? Staged)?.bytes
        let collected = fault == .ownContent ? nil : (content as? CollectedContent)?.bytes
        guard let bytes = bytes ?? collected else { throw WebDAVError(.forbidden) }
        return try await write(bytes, to: path, modified: modified)
    }
}

/// A store with properties that uses the default implementation of copies.
private struct CopyingStore: WrappingStore {
    let inner = MemoryStore()

    func properties(of path: ResourcePath) async throws -> [DeadProperty] {
        try await inner.properties(of: path)
    }

    func change(_ changes: [PropertyChange], of path: ResourcePath) async throws {
        try await inner.change(changes, of: path)
    }
}
