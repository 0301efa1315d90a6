import Foundation
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import WebDAVKit
import WebUploader

@Suite("The upload page: Undoing deletions")
struct UploaderBinTests {
    @Test func aDeletionIsUndone() async throws {
        let client = UploaderClient()
        try await client.makeFolder("tree")
        try await client.put("tree/a.txt", "one")
        try await client.put("b.txt", "two")
        let deleted = try await client.post("delete", "path=/tree/&path=/b.txt")
        #expect(deleted.status == 200)
        let undo = try deleted.items.compactMap(\.undo)
        #expect(undo.count == 2 && Set(undo).count == 2)
        #expect(try await client.get("list").names == [])
        #expect(try await client.text("b.txt") == nil)
        let restored = try await client.post("restore", "undo=\(undo[0])&undo=\(undo[1])")
        #expect(restored.status == 200)
        #expect(try restored.items.map(\.path) == ["/tree/", "/b.txt"])
        #expect(try await client.text("tree/a.txt") == "one")
        #expect(try await client.text("b.txt") == "two")
        // A deletion can be undone only once.
        #expect(try await client.post("restore", "undo=\(undo[0])").status == 404)
        #expect(try await client.post("restore", "undo=00").status == 404)
        #expect(try await client.post("restore", "undo=00").code == "undo")
        #expect(try await client.post("restore", "").code == "field")
    }

    @Test func whatTookTheNameStays() async throws {
        let client = UploaderClient()
        try await client.put("a.txt", "old")
        let undo = try #require(try await client.post("delete", "path=/a.txt").items.first?.undo)
        try await client.put("a.txt", "new")
        let restored = try await client.post("restore", "undo=\(undo)")
        #expect(try restored.names == ["a (1).txt"])
        #expect(try await client.text("a.txt") == "new")
        #expect(try await client.text("a%20(1).txt") == "old")
    }

    @Test func withoutItsFolderItWaits() async throws {
        let client = UploaderClient()
        try await client.makeFolder("in")
        try await client.put("in/a.txt")
        let undo = try #require(try await client.post("delete", "path=/in/a.txt").items.first?.undo)
        _ = try await client.post("delete", "path=/in/")
        #expect(try await client.post("restore", "undo=\(undo)").status == 409)
        try await client.makeFolder("in")
        #expect(try await client.post("restore", "undo=\(undo)").status == 200)
        #expect(try await client.text("in/a.txt") == "content")
    }

    @Test func locksAndRolesCount() async throws {
        let client = UploaderClient()
        try await client.makeFolder("in")
        try await client.put("in/a.txt")
        let undo = try #require(try await client.post("delete", "path=/in/a.txt").items.first?.undo)
        try await client.lock("in")
        #expect(try await client.post("restore", "undo=\(undo)").code == "locked")
        for role in UploaderRole.allCases where role != .all {
            var options = UploaderOptions()
            options.role = { _ in role }
            #expect(try await UploaderClient(options).post("restore", "undo=0").code == "role")
        }
        let browser = try await client.post("restore", "undo=0", "Origin: http://example.org")
        #expect(browser.code == "token")
        let other = try await client.post("restore", "undo=0", "Origin: http://evil.example")
        #expect(other.code == "origin")
    }

    @Test func theBinIsEmptied() async throws {
        var options = UploaderOptions()
        options.undoTime = .milliseconds(1)
        let client = UploaderClient(options)
        try await client.put("a.txt", String(repeating: "x", count: 1_000))
        let undo = try #require(try await client.post("delete", "path=/a.txt").items.first?.undo)
        try await waitUntil { try await client.store.quota(at: .root)?.used == 0 }
        #expect(try await client.post("restore", "undo=\(undo)").status == 404)
        options.undoTime = .zero
        let without = UploaderClient(options)
        try await without.put("a.txt")
        let deleted = try await without.post("delete", "path=/a.txt")
        #expect(try deleted.items.first?.undo == nil)
        #expect(try await without.store.quota(at: .root)?.used == 0)
    }

    @Test func aPageWithoutScriptDeletesForGood() async throws {
        let client = UploaderClient()
        try await client.put("a.txt")
        let deleted = try await client.post(
            "delete", "path=/a.txt&confirmed=1", "Accept: text/html")
        #expect(deleted.status == 303)
        #expect(try await client.store.quota(at: .root)?.used == 0)
    }

    @Test func eventsAndHooksKnowIt() async throws {
        var options = UploaderOptions()
        let told = Told()
        options.onEvent = { told.add("\($0.operation) \($0.failure?.code ?? 0)") }
        options.shouldPerform = { operation, _ in
            if case .restore(let path) = operation { return path.description != "/no.txt" }
            return true
        }
        let client = UploaderClient(options)
        for name in ["yes.txt", "no.txt"] {
            try await client.put(name)
            let deleted = try await client.post("delete", "path=/\(name)")
            let undo = try #require(try deleted.items.first?.undo)
            _ = try await client.post("restore", "undo=\(undo)")
        }
        #expect(
            told.all == [
                "delete(/yes.txt) 0", "restore(/yes.txt) 0", "delete(/no.txt) 0",
                "restore(/no.txt) 403",
            ])
    }

    // MARK: On a disk

    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let root = FileManager.default.temporaryDirectory.path + "/bin-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        defer { TestFolder.remove(root) }
        try await body(root)
    }

    private func files(_ root: String) -> [String] {
        (FileManager.default.enumerator(atPath: root)?.allObjects as? [String] ?? []).sorted()
    }

    @Test func noClientSeesTheBin() async throws {
        try await withFolder { root in
            let store = try LocalStore(root: root)
            let dav = WebDAVHandler(store: store)
            var options = UploaderOptions()
            (options.hosts, options.allowsHidden) = (nil, true)
            var router = Router()
            router.mountWebDAV("/dav", dav)
            router.mount("/up", UploaderHandler(sharing: dav, options: options))
            let client = UploaderClient(over: router)
            try await client.makeFolder("tree")
            try await client.put("tree/a.txt", "one")
            let undo = try #require(try await client.post("delete", "path=/tree").items.first?.undo)
            #expect(
                files(root).contains { $0.hasSuffix("/a.txt") && $0.hasPrefix(".httpkit-dav/") })
            #expect(try await client.get("list").names == [])
            #expect(try await client.get("list?path=/.httpkit-dav/").status == 404)
            let found = try await client.send("PROPFIND", "/dav/", ["Depth: infinity"])
            #expect(found.status == 207 && !found.text.contains("a.txt"))
            let inner = files(root).first { $0.hasSuffix("/a.txt") } ?? ""
            #expect(try await client.get("download?path=/\(inner)").status == 404)
            #expect(try await client.post("restore", "undo=\(undo)").status == 200)
            #expect(try await client.text("tree/a.txt") == "one")
            store.close()
            #expect(files(root) == ["tree", "tree/a.txt"])
        }
    }

    @Test func theBinIsEmptiedAtTheEndAndAtStart() async throws {
        try await withFolder { root in
            let store = try LocalStore(root: root)
            let path = try #require(ResourcePath("a.txt"))
            for _ in 0..<2 {
                let content = try await store.stage(.of([1]), for: path, expected: 1)
                _ = try await store.place(content, at: path, modified: nil)
                #expect(try await store.discard(path) != nil)
            }
            store.close()
            #expect(files(root) == [])
            // The folder of a dead process, which no longer holds its lock.
            let left = root + "/.httpkit-dav/new-dead/tree"
            try FileManager.default.createDirectory(
                atPath: left, withIntermediateDirectories: true)
            try Data("x".utf8).write(to: URL(filePath: left + "/a.txt"))
            let next = try LocalStore(root: root)
            #expect(files(root) == [])
            next.close()
        }
    }

    @Test func propertiesComeBack() async throws {
        try await withFolder { root in
            let store = try LocalStore(root: root)
            defer { store.close() }
            let path = try #require(ResourcePath("a.txt"))
            let content = try await store.stage(.of([1]), for: path, expected: 1)
            let placed = try await store.place(content, at: path, modified: nil)
            let name = try #require(try await store.discard(path))
            #expect(try await store.isTaken(path) == false)
            try await store.restore(name, to: path)
            #expect(try await store.info(at: path).entityTag == placed.entityTag)
            await store.forget(name)
            #expect(try await store.isTaken(path))
        }
    }
}
