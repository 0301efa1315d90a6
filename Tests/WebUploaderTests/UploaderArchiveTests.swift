import Foundation
import HTTPParser
import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem
import WebDAVKit
import WebUploader

@Suite("The upload page: Archives")
struct UploaderArchiveTests {
    /// The members that an independent reader finds, each with its content as text.
    private func members(_ archive: [UInt8]) async throws -> [String: String] {
        let path = FileManager.default.temporaryDirectory.path + "/up-\(UUID().uuidString).zip"
        try Data(archive).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let script = """
            import json, sys, zipfile
            archive = zipfile.ZipFile(sys.argv[1])
            assert len(set(archive.namelist())) == len(archive.namelist())
            print(json.dumps({name: archive.read(name).decode() for name in archive.namelist()}))
            """
        let result = try await Program.run("python3", ["-c", script, path])
        try #require(result.status == 0, "\(result.complaints)")
        let tested = try await Program.run("unzip", ["-tq", path])
        #expect(tested.status == 0, "\(tested.text)")
        return try JSONDecoder().decode([String: String].self, from: Data(result.text.utf8))
    }

    private func client(
        _ options: UploaderOptions = UploaderOptions()
    ) async throws -> UploaderClient {
        let client = UploaderClient(options)
        for folder in ["tree", "tree/inner", "tree/.hidden", "tree/empty", "other"] {
            try await client.makeFolder(folder)
            let path = try #require(ResourcePath(folder))
            if folder.contains(".") { try await client.store.makeCollection(at: path) }
        }
        for (path, content) in [
            ("tree/a.txt", "one"), ("tree/inner/b.bin", "two"), ("other/a.txt", "three"),
        ] {
            try await client.put(path, content)
        }
        let hidden = try #require(ResourcePath("tree/.secret"))
        let content = try await client.store.stage(.of([1]), for: hidden, expected: nil)
        _ = try await client.store.place(content, at: hidden, modified: nil)
        return client
    }

    @Test func aFolderIsDownloadedAsArchive() async throws {
        let client = try await client()
        let answer = try await client.get("download?path=/tree/")
        #expect(answer.status == 200 && answer["Content-Type"] == "application/zip")
        #expect(answer["Content-Disposition"] == "attachment; filename=\"tree.zip\"")
        #expect(answer["X-Content-Type-Options"] == "nosniff")
        #expect(answer["Content-Length"] == nil && answer["ETag"] == nil)
        #expect(
            try await members(answer.content) == [
                "tree/": "", "tree/a.txt": "one", "tree/inner/": "", "tree/inner/b.bin": "two",
                "tree/empty/": "",
            ])
        let head = try await client.send("HEAD", "/up/download?path=/tree/")
        #expect(head.status == 200 && head.content.isEmpty)
        #expect(head["Content-Type"] == "application/zip")
    }

    @Test func theRootIsNamedByTheTitle() async throws {
        var options = UploaderOptions()
        options.title = "My \"files\""
        let client = try await client(options)
        let answer = try await client.get("download?path=/")
        let disposition = try #require(answer["Content-Disposition"])
        #expect(disposition.contains("files") && disposition.contains(".zip"))
        let names = try await members(answer.content).keys
        #expect(names.contains("tree/a.txt") && names.contains("other/a.txt"))
    }

    @Test func aSelectionIsOneArchive() async throws {
        let client = try await client()
        let both = try await client.get(
            "download?path=/tree/a.txt&path=/other/a.txt&path=/tree/a.txt&path=/tree/inner/"
                + "&path=/tree/inner/b.bin")
        #expect(
            try await members(both.content) == [
                "a.txt": "three", "a (1).txt": "one", "inner/": "", "inner/b.bin": "two",
            ])
        let posted = try await client.post("download", "path=/tree/a.txt&link=%2Fother%2Fa.txt")
        #expect(try await members(posted.content).count == 2)
        let browser = try await client.post(
            "download", "path=/tree/a.txt&path=/other/", "Origin: http://example.org")
        #expect(browser.status == 403 && browser.code == "token")
        let missing = try await client.get("download?path=/tree/a.txt&path=/none")
        #expect(missing.status == 404 && missing.isProblem)
    }

    @Test func whatIsHiddenOrRefusedIsLeftOut() async throws {
        var options = UploaderOptions()
        options.allowedExtensions = ["txt"]
        let extensions = try await client(options)
        let some = try await members(try await extensions.get("download?path=/tree/").content)
        #expect(some.keys.sorted() == ["tree/", "tree/a.txt", "tree/empty/", "tree/inner/"])
        options.allowedExtensions = nil
        options.shouldPerform = { operation, _ in
            switch operation {
            case .list(let path): path.description != "/tree/inner"
            case .download(let path): path.description != "/tree/a.txt"
            default: true
            }
        }
        let refusing = try await client(options)
        let rest = try await members(try await refusing.get("download?path=/tree/").content)
        #expect(rest.keys.sorted() == ["tree/", "tree/empty/"])
        #expect(try await refusing.get("download?path=/tree/inner/").status == 403)
        options.shouldPerform = nil
        options.role = { _ in .downloadOnly }
        let blind = try await client(options)
        #expect(try await blind.get("download?path=/tree/").code == "role")
        #expect(try await blind.get("download?path=/tree/a.txt").status == 200)
        options.role = { _ in .uploadOnly }
        #expect(try await client(options).get("download?path=/tree/").code == "role")
    }

    @Test func oddNamesAreSafeAndDistinct() async throws {
        let client = UploaderClient()
        try await client.makeFolder("odd")
        let odd: [[UInt8]] = [
            Array("a\\b".utf8), Array("gpj.\u{202E}exe".utf8), Array("a\nb".utf8),
            Array("\u{1F600}".utf8), Array("<img src=x>".utf8), Array("\"quotes\"".utf8),
            [UInt8](repeating: 0x61, count: 255), [0x61, 0xFF], [0x61, 0xFE],
        ]
        for name in odd {
            let path = try #require(ResourcePath(segments: [Array("odd".utf8), name]))
            let content = try await client.store.stage(.of([0x78]), for: path, expected: 1)
            _ = try await client.store.place(content, at: path, modified: nil)
        }
        let found = try await members(try await client.get("download?path=/odd/").content)
        #expect(found.count == odd.count + 1)
        for name in found.keys {
            #expect(!name.contains("\\") && !name.contains("\u{202E}") && !name.contains("\n"))
        }
        #expect(found["odd/\u{1F600}"] == "x" && found["odd/<img src=x>"] == "x")
    }

    @Test func anArchiveIsTold() async throws {
        var options = UploaderOptions()
        let events = Told()
        options.onEvent = { event in events.add("\(event.operation)") }
        let client = try await client(options)
        _ = try await client.get("download?path=/tree/a.txt&path=/other/")
        try await waitUntil { events.all.count == 2 }
        #expect(events.all.sorted() == ["download(/other)", "download(/tree/a.txt)"])
    }
}

/// Messages in order.
final class Told: @unchecked Sendable {
    private let lock = NSLock()
    private var texts: [String] = []

    var all: [String] { lock.withLock { texts } }
    func add(_ text: String) { lock.withLock { texts.append(text) } }
}
