import Foundation
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem
import WebDAVKit
import WebUploader

@Suite("Uploads: Existing names, and hashes of content")
struct UploaderConflictTests {
    private func asking(_ role: UploaderRole = .all) async throws -> UploaderClient {
        var options = UploaderOptions()
        options.conflict = .ask
        options.role = { _ in role }
        let client = UploaderClient(options)
        try await client.put("a.txt", "old")
        return client
    }

    @Test("With the policy `ask` an upload to an existing name without a choice is refused")
    func ask() async throws {
        let client = try await asking()
        for query in ["name=a.txt", "name=a.txt&conflict=ask"] {
            let asked = try await client.upload(query, "new")
            #expect(asked.status == 409 && asked.code == "exists" && asked.isProblem)
        }
        let form = try await client.form([("files[]", "a.txt", "new")])
        #expect(form.status == 409 && form.code == "exists")
        #expect(try await client.text("a.txt") == "old")
        #expect(try await client.upload("name=b.txt", "new").names == ["b.txt"])
        #expect(try await client.upload("name=a.txt&conflict=keep").names == ["a (1).txt"])
        #expect(try await client.upload("name=a.txt&conflict=replace", "x").names == ["a.txt"])
        #expect(try await client.text("a.txt") == "x")
        let page = try await client.get("", "Accept: text/html").text
        #expect(page.contains("data-conflict=\"ask\""))
        // Without a script the page cannot ask.
        #expect(page.contains("<option value=\"refuse\" selected>"))
        #expect(!page.contains("<option value=\"ask\""))
    }

    @Test func whoMayOnlyUploadIsAskedToo() async throws {
        let client = try await asking(.uploadOnly)
        #expect(try await client.upload("name=a.txt", "new").code == "exists")
        #expect(try await client.upload("name=a.txt&conflict=replace", "new").status == 403)
        #expect(try await client.upload("name=a.txt&conflict=keep", "new").status == 201)
    }

    @Test func askingIsRefusedWhereNobodyMayChoose() async throws {
        var options = UploaderOptions()
        options.letsClientsChoose = false
        let client = UploaderClient(options)
        #expect(try await client.upload("name=a.txt&conflict=ask").status == 403)
        #expect(try await client.upload("name=a.txt").status == 201)
    }

    /// A page and WebDAV with one store, and the handler whose lock can hold up their changes.
    private func page(_ options: UploaderOptions) -> (client: UploaderClient, dav: WebDAVHandler) {
        var options = options
        options.hosts?.allow("example.org")
        let dav = WebDAVHandler(store: MemoryStore())
        var router = Router()
        router.mountWebDAV("/dav", dav)
        router.mount("/up", UploaderHandler(sharing: dav, options: options))
        return (UploaderClient(over: router), dav)
    }

    /// Queues requests for one file, in order, and returns their statuses.
    private func queue(
        _ name: String, _ dav: WebDAVHandler,
        _ requests: [@Sendable () async throws -> ServerAnswer]
    ) async throws -> [Int] {
        let path = try #require(ResourcePath(segments: [Array(name.utf8)]))
        let tasks = try await dav.pathLock.hold([path]) {
            var tasks: [Task<ServerAnswer, any Error>] = []
            for request in requests {
                tasks.append(Task { try await request() })
                let count = tasks.count
                try await waitUntil { dav.pathLock.waitingCount == count }
            }
            return tasks
        }
        var statuses: [Int] = []
        for task in tasks { statuses.append(try await task.value.status) }
        return statuses
    }

    @Test("A file that replaces a folder before its queued move cannot get a forbidden extension")
    func anotherKind() async throws {
        var options = UploaderOptions()
        options.allowedExtensions = ["txt"]
        let (client, dav) = page(options)
        try await client.makeFolder("d.txt")
        let statuses = try await queue(
            "d.txt", dav,
            [
                { try await client.post("move", "oldPath=/d.txt&newPath=/old") },
                { try await client.upload("name=d.txt") },
                { try await client.post("move", "oldPath=/d.txt&newPath=/x.exe") },
            ])
        #expect(statuses == [200, 201, 404])
        #expect(try await client.text("x.exe") == nil)
        #expect(try await client.text("d.txt") == "content")
    }

    @Test("The quota counts the length that a file has when its queued copy is made")
    func anotherLength() async throws {
        var options = UploaderOptions()
        options.quota = { _ in 10 }
        let (client, dav) = page(options)
        try await client.put("a", "short")
        let long = [UInt8](repeating: 0x61, count: 20)
        let statuses = try await queue(
            "a", dav,
            [
                { try await client.send("PUT", "/dav/a", [], long) },
                { try await client.post("copy", "oldPath=/a&newPath=/b") },
            ])
        #expect(statuses == [204, 507])
        #expect(try await client.text("b") == nil)
        // The response has the length of the copy.
        try await client.put("a", "short")
        let answers = Locked([String]())
        _ = try await queue(
            "a", dav,
            [
                { try await client.send("PUT", "/dav/a", [], Array("longer".utf8)) },
                {
                    let answer = try await client.post("copy", "oldPath=/a&newPath=/b")
                    answers.withLock { $0.append(answer.text) }
                    return answer
                },
            ])
        #expect(answers.withLock { $0.first?.contains("\"size\":6") } == true)
    }

    @Test("Even if uploads replace by default, moves and copies do so only if requested")
    func moves() async throws {
        var options = UploaderOptions()
        options.conflict = .replace
        for mayChoose in [true, false] {
            options.letsClientsChoose = mayChoose
            let client = UploaderClient(options)
            for name in ["a.txt", "b.txt", "c.txt"] { try await client.put(name, name) }
            for (action, form) in [
                ("move", "path=/a.txt&newName=b.txt"), ("move", "oldPath=/a.txt&newPath=/b.txt"),
                ("copy", "oldPath=/a.txt&newPath=/b.txt"),
                ("move", "oldPath=/a.txt&newPath=/b.txt&conflict="),
            ] {
                let answer = try await client.post(action, form)
                #expect(answer.status == 409 && answer.code == "exists", "\(action) \(form)")
            }
            #expect(try await client.text("a.txt") == "a.txt")
            #expect(try await client.text("b.txt") == "b.txt")
            let chosen = try await client.post(
                "move", "oldPath=/a.txt&newPath=/b.txt&conflict=replace")
            #expect(chosen.status == 200)
            #expect(try await client.text("b.txt") == "a.txt")
            #expect(try await client.upload("name=c.txt", "new").names == ["c.txt"])
            #expect(try await client.text("c.txt") == "new")
        }
    }

    @Test("A move can change the Unicode form of a file's name")
    func respelled() async throws {
        let root = TestFolder.name("uploader-")
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        defer { TestFolder.remove(root) }
        var options = UploaderOptions()
        options.hosts?.allow("example.org")
        var router = Router()
        router.mount("/up", UploaderHandler(store: try LocalStore(root: root), options: options))
        let client = UploaderClient(over: router)
        // Composed on the disk, and decomposed in the request.
        #expect(try await client.upload("name=%C3%A4", "content").status == 201)
        let moved = try await client.post("move", "path=/%C3%A4&newName=a%CC%88")
        #expect(moved.status == 200)
        let names = try FileManager.default.contentsOfDirectory(atPath: root)
        #expect(names.map { Array($0.utf8) }.contains(Array("a\u{308}".utf8)), "\(names)")
        #expect(names.filter { !$0.hasPrefix(".") }.count == 1)
    }

    // MARK: Hashes

    /// SHA-256 of `content` and of `other`.
    private static let (right, wrong) = (
        "Repr-Digest: sha-256=:7XACtDnprIRfIjV9giusFERzD722AW0+yUMil7nsn3M=:",
        "Repr-Digest: sha-256=:2SmKENGwc1g33EvYXaxkGw887yekfl1TpU8vP1svz/o=:"
    )

    @Test("RFC 9530: Repr-Digest is checked before the file is stored")
    func hashes() async throws {
        let client = UploaderClient()
        try await client.put("a.txt", "old")
        #expect(try await client.upload("name=b.txt", "content", Self.right).status == 201)
        for query in ["name=a.txt&conflict=replace", "name=c.txt", "name=in/d.txt"] {
            let answer = try await client.upload(query, "content", Self.wrong)
            #expect(answer.status == 400 && answer.code == "digest" && answer.isProblem)
        }
        #expect(try await client.text("a.txt") == "old")
        #expect(try await client.text("c.txt") == nil)
        let none = try await client.upload("name=c.txt", "content", "Repr-Digest: sha-256=:x:")
        #expect(none.status == 400)
        // Unknown algorithms are ignored (section 3), and an empty file is checked, too.
        let unknown = try await client.upload("name=e.txt", "content", "Repr-Digest: md5=:AA==:")
        #expect(unknown.status == 201)
        let empty = try await client.upload("name=f.txt", "", Self.wrong)
        #expect(empty.code == "digest")
    }
}
