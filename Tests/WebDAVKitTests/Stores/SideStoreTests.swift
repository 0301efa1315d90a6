import Foundation
import TestSupport
import Testing
import WebDAVKit

/// These properties are too long for an extended attribute.
@Suite("LocalStore: Properties in separate files")
struct SideStoreTests {
    private let value = String(repeating: "v", count: 100_000)

    private func set(
        _ path: String, _ client: DAVClient, to value: String? = nil
    ) async throws {
        let patch = """
            <propertyupdate xmlns="DAV:"><set><prop><p xmlns="u:">\(value ?? self.value)</p></prop></set>\
            </propertyupdate>
            """
        #expect(try await client.send("PROPPATCH", path, [], patch).text.contains("200 OK"))
    }

    private func has(_ path: String, _ client: DAVClient) async throws -> Bool {
        try await client.send("PROPFIND", path, ["Depth: 0"]).text.contains(">\(value)<")
    }

    private func count(_ share: Share) -> Int {
        let path = share.path + "/.httpkit-dav/properties"
        return (try? FileManager.default.contentsOfDirectory(atPath: path))?.count ?? 0
    }

    @Test func theyGoWithTheirFiles() async throws {
        let share = try Share()
        let client = try share.client()
        for path in ["/dav/a", "/dav/b", "/dav/t/c", "/dav/d"] {
            _ = try await client.send("MKCOL", "/dav/t")
            #expect(try await client.status("PUT", path, [], "x") == 201)
            try await set(path, client)
        }
        try await set("/dav/t", client)
        #expect(count(share) == 5)
        #expect(try await client.status("DELETE", "/dav/a") == 204)
        #expect(count(share) == 4)
        #expect(try await client.status("PUT", "/dav/b", [], "y") == 204)
        #expect(try await has("/dav/b", client))
        #expect(count(share) == 4)
        #expect(try await client.status("MOVE", "/dav/b", ["Destination: /dav/d"]) == 204)
        #expect(try await has("/dav/d", client))
        #expect(count(share) == 3)
        #expect(try await client.status("COPY", "/dav/d", ["Destination: /dav/t"]) == 204)
        #expect(try await has("/dav/t", client))
        #expect(count(share) == 2)
        #expect(try await client.status("DELETE", "/dav/t") == 204)
        #expect(count(share) == 1)
        // Removed properties leave no file, either.
        let patch = """
            <propertyupdate xmlns="DAV:"><remove><prop><p xmlns="u:"/></prop></remove>\
            </propertyupdate>
            """
        #expect(try await client.status("PROPPATCH", "/dav/d", [], patch) == 207)
        #expect(count(share) == 0)
    }

    @Test("Properties stay when a file is moved to another of its names")
    func movedToItself() async throws {
        let share = try Share()
        let store = try LocalStore(root: share.path)
        let client = DAVClient(store: store)
        #expect(try await client.status("PUT", "/dav/a", [], "x") == 201)
        try await set("/dav/a", client)
        // A volume that ignores case has two names for one file, too.
        try FileManager.default.linkItem(atPath: share.path + "/a", toPath: share.path + "/b")
        try await store.move(
            try #require(ResourcePath("a")), to: try #require(ResourcePath("b")),
            replaces: true)
        #expect(share.text("b") == "x")
        #expect(try await has("/dav/b", client))
    }

    @Test("Properties stay with a file whose upload is placed twice")
    func placedTwice() async throws {
        let share = try Share()
        let store = try LocalStore(root: share.path)
        let client = DAVClient(store: store)
        let part = try share.part()
        try await store.place(part, at: "a")
        try await set("/dav/a", client)
        try await store.place(part, at: "a")
        #expect(try await has("/dav/a", client))
        #expect(count(share) == 1)
    }

    @Test func anotherStoreOfTheFolderFindsThem() async throws {
        let share = try Share()
        let (first, second) = (try share.client(), try share.client())
        #expect(try await first.status("PUT", "/dav/a", [], "x") == 201)
        try await set("/dav/a", first)
        #expect(try await has("/dav/a", second))
        let patch = """
            <propertyupdate xmlns="DAV:"><set><prop><q xmlns="u:">1</q></prop></set>\
            </propertyupdate>
            """
        #expect(try await second.status("PROPPATCH", "/dav/a", [], patch) == 207)
        #expect(try await has("/dav/a", first))
        #expect(try await second.status("PUT", "/dav/a", [], "y") == 204)
        #expect(try await has("/dav/a", first))
    }

    @Test("A failed removal of properties is reported, and loses nothing")
    func failedRemoval() async throws {
        let share = try Share()
        let client = try share.client()
        #expect(try await client.status("PUT", "/dav/a", [], "x") == 201)
        try await set("/dav/a", client)
        let folder = share.path + "/.httpkit-dav/properties/"
        let name = try #require(
            try FileManager.default.contentsOfDirectory(atPath: folder).first)
        // The short value fits into the attribute, so the file of the longer one is removed.
        try await set("/dav/a", client, to: "short")
        #expect(count(share) == 0)
        try FileManager.default.createDirectory(
            atPath: folder + name + "/x", withIntermediateDirectories: true)
        let patch = """
            <propertyupdate xmlns="DAV:"><remove><prop><p xmlns="u:"/></prop></remove>\
            </propertyupdate>
            """
        let answer = try await client.send("PROPPATCH", "/dav/a", [], patch)
        #expect(!answer.text.contains("200 OK"), "\(answer.text)")
        let found = try await client.send("PROPFIND", "/dav/a", ["Depth: 0"])
        #expect(found.text.contains(">short<"))
    }

    /// Properties that cannot be read now must not be treated as missing, or they would be
    /// overwritten.
    @Test func thoseThatCannotBeReadAreNotLost() async throws {
        let share = try Share()
        let client = try share.client()
        #expect(try await client.status("PUT", "/dav/a", [], "x") == 201)
        try await set("/dav/a", client)
        let folder = share.path + "/.httpkit-dav/properties"
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
        let (file, aside) = (folder + "/" + name, share.outer + "/aside")
        try FileManager.default.moveItem(atPath: file, toPath: aside)
        // A directory can be opened, but not read as a file.
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        let patch = """
            <propertyupdate xmlns="DAV:"><set><prop><q xmlns="u:">1</q></prop></set>\
            </propertyupdate>
            """
        let patched = try await client.send("PROPPATCH", "/dav/a", [], patch)
        #expect(patched.status >= 500 || !patched.text.contains("200 OK"))
        #expect(try await client.status("PUT", "/dav/a", [], "y") >= 500)
        #expect(try await client.status("COPY", "/dav/a", ["Destination: /dav/b"]) >= 500)
        #expect(share.text("a") == "x" && share.text("b") == nil)
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.moveItem(atPath: aside, toPath: file)
        #expect(try await has("/dav/a", client))
    }

    @Test("Properties of volumes that are not mounted are kept")
    func otherVolumes() throws {
        let share = try Share()
        let folder = share.path + "/.httpkit-dav/properties"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        // The second file belongs to a volume without a path, known by its device number.
        for name in ["1-2-3-v4f", "1-2-3-2f", "1-2-3"] {
            try share.write("x", ".httpkit-dav/properties/" + name)
        }
        _ = try LocalStore(root: share.path)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(left.sorted() == ["1-2-3-2f", "1-2-3-v4f"])
    }

    @Test func thoseOfVanishedFilesAreSwept() async throws {
        let share = try Share()
        let store = try LocalStore(root: share.path)
        let client = DAVClient(store: store)
        _ = try await client.send("MKCOL", "/dav/t")
        for path in ["/dav/a", "/dav/t/b"] {
            #expect(try await client.status("PUT", path, [], "x") == 201)
            try await set(path, client)
        }
        try FileManager.default.removeItem(atPath: share.path + "/a")
        // While another store is running nothing is swept, because it may be moving files.
        _ = try LocalStore(root: share.path)
        #expect(count(share) == 2)
        store.close()
        let next = try share.client()
        #expect(count(share) == 1)
        #expect(try await has("/dav/t/b", next))
        try FileManager.default.removeItem(atPath: share.path + "/t")
        _ = try LocalStore(root: share.path)
        #expect(!FileManager.default.fileExists(atPath: share.path + "/.httpkit-dav"))
    }
}
