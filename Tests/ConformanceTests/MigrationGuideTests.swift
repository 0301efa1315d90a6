import Foundation
import HTTPParser
import TestSupport
import Testing
import URLClient

@Suite("The migration guide", .fewAtOnce)
struct MigrationGuideTests {
    private static let examples = URL(filePath: ExampleProcess.folder)

    /// The lines of a text that are not empty, without the white space around them.
    private static func lines(_ text: some StringProtocol) -> [String] {
        text.split(separator: "\n")
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
    }

    /// The blocks of Swift in a page.
    private static func blocks(_ page: String) throws -> [[String]] {
        let guide = examples.deletingLastPathComponent().appending(path: page)
        return try String(contentsOf: guide, encoding: .utf8)
            .components(separatedBy: "```swift\n").dropFirst()
            .map { lines($0.components(separatedBy: "```")[0]) }
    }

    /// The lines of each source of an example.
    private static func sources(_ example: String) throws -> [[String]] {
        let files = try FileManager.default.contentsOfDirectory(
            at: examples.appending(path: example), includingPropertiesForKeys: nil)
        return try files.filter { $0.pathExtension == "swift" }
            .map { lines(try String(contentsOf: $0, encoding: .utf8)) }
    }

    @Test(
        "All code of the guide is contained in an example, so that it is compiled",
        arguments: [("Docs/Migrating-from-GCDWebServer.md", 8), ("Docs/Migrating.md", 4)])
    func code(_ page: String, _ count: Int) throws {
        let sources = try Self.sources("MigrationGuide")
        let blocks = try Self.blocks(page)
        #expect(blocks.count >= count)
        for block in blocks {
            let isThere = sources.contains { !$0.ranges(of: block).isEmpty }
            #expect(isThere, "\(block.joined(separator: "\n"))")
        }
    }

    @Test("The routes of the guide respond as documented")
    func routes() async throws {
        let example = try await ExampleProcess("MigrationGuide")
        for (path, answer) in [
            ("/any", "<p>The default</p>\n200"), ("/hello", "Hello\n\n200"),
            ("/users/7", "7\n200"), ("/count", "1\n2\n3\n\n200"), ("/pulled", "1\n2\n3\n\n200"),
            ("/search?q=a+b&tag=x&tag=y", "a b, [\"x\", \"y\"]\n\n200"),
            ("/value", "{\"answer\":42}\n200"),
            ("/page/%3CAda%3E", "<h1>Hello, &lt;Ada&gt;!</h1>\n200"),
            ("/secret", "403 Forbidden: not for you\n\n403"), ("/picture", "404 Not Found\n\n404"),
        ] {
            #expect(try await example.ask(path) == answer)
        }
        #expect(try await example.ask("/", .get, ["X-Robot": "1"]) == "Hello, robot\n\n200")
        let notes = try await example.ask("/notes/12")
        #expect(notes == "12 [Optional(\"/notes/12\"), Optional(\"12\"), nil]\n200")
        let part = try await example.ask("/table", .get, [.range: "bytes=0-0"])
        #expect(part == "\u{1}\n206")
        let note = #"{"title":"a"}"#
        let json = ClientBody.text(note, mediaType: "application/json")
        #expect(try await example.ask("/notes", .post, body: json) == "a\n201")
        let pairs = ClientBody.text(
            "name=Jo&tag=a&tag=b", mediaType: "application/x-www-form-urlencoded")
        let form = try await example.ask("/form", .post, body: pairs)
        #expect(form == "Jo and [\"a\", \"b\"]\n\n200")
    }

    @Test("The upload page of the guide is customized as documented")
    func uploads() async throws {
        let folder = try Folder()
        let example = try await ExampleProcess("MigrationGuide", folder.path)
        let page = try await example.ask("/inbox/", .get, [.accept: "text/html"])
        for text in [
            "<title>Inbox</title>", "The inbox of Jo &amp; Co", "<em>scans</em>",
            "Files are kept for a week.", "Inbox 1.2",
        ] {
            #expect(page.contains(text), "\(text)")
        }
        let upload = "/inbox/upload?name="
        #expect(try await example.ask(upload + "a.pdf", .post, body: .text("x")).hasSuffix("201"))
        #expect(folder.text("a.pdf") == "x")
        #expect(try await example.ask(upload + "a.exe", .post, body: .text("x")).hasSuffix("403"))
        let path = ClientBody.text("path=/a.pdf", mediaType: "application/x-www-form-urlencoded")
        #expect(try await example.ask("/inbox/delete", .post, body: path).hasSuffix("403"))
    }
}
