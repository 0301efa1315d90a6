import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("Files outside of the root cannot be reached")
struct FileTraversalTests {
    private let directory: ServerDirectory

    init() throws {
        directory = try ServerDirectory()
        try directory.makeDirectory("root")
        try directory.write("secret", "secret")
        try directory.write("root/file", "file")
        try directory.makeDirectory("root/sub")
        try directory.write("root/sub/deep", "deep")
    }

    private func get(
        _ target: String, _ change: (inout FileHandler.Options) -> Void = { _ in }
    ) async throws -> ServerAnswer {
        var options = FileHandler.Options()
        change(&options)
        let handler = FileHandler(root: directory.path("root"), options: options)
        return try await RouterTests.answer(handler, Sample.get(target))
    }

    @Test(
        "Dots, encoded or not, do not lead out of the root",
        arguments: [
            "/../secret", "/..%2fsecret", "/%2e%2e/secret", "/%2e%2e%2fsecret", "/.%2e/secret",
            "/%252e%252e/secret", "/sub/../../secret", "/sub/%2e%2e/%2e%2e/secret",
            "/..%5csecret", "/..\\secret", "/%2e%2e%5csecret", "/sub/..%00/secret",
            "/%00", "/file%00.txt", "/file%00", "/./../secret", "//../secret", "/.../secret",
            "/%c0%ae%c0%ae/secret", "/%uff0e%uff0e/secret", "/..;/secret", "/sub/..%2f..%2fsecret",
            "http://a/../secret", "http://a/%2e%2e/secret", "/%2Fetc%2Fpasswd", "//etc/passwd",
            "/%2f..%2fsecret", "/sub%2f..%2f..%2fsecret", "/sub%2fdeep",
        ])
    func dots(_ target: String) async throws {
        for showsHidden in [false, true] {
            let answer = try await get(target) { $0.showsHidden = showsHidden }
            #expect(answer.status == 400 || answer.status == 404)
            #expect(!answer.text.contains("secret"))
        }
    }

    @Test(
        "Dots within the root are resolved",
        arguments: ["/sub/../file", "/./file", "/sub/%2e%2e/file"])
    func inside(_ target: String) async throws {
        let answer = try await get(target)
        #expect(answer.text == "file")
    }

    @Test("A link out of the root is 404, and is not listed")
    func linksOut() async throws {
        try directory.link("root/out", to: "../secret")
        try directory.link("root/absolute", to: directory.path("secret"))
        try directory.link("root/up", to: "..")
        try directory.link("root/back", to: "../root/file")
        try directory.link("root/loop", to: "loop")
        try directory.link("root/dangling", to: "nothing")
        for target in [
            "/out", "/absolute", "/up", "/up/", "/up/secret", "/up/root/file", "/back", "/loop",
            "/dangling",
        ] {
            let answer = try await get(target)
            #expect(answer.status == 404, "\(target)")
            #expect(!answer.text.contains("secret"))
        }
        let listing = try await get("/").text
        for name in ["out", "absolute", "up", "back", "loop", "dangling"] {
            #expect(!listing.contains("href=\"\(name)"), "\(name)")
        }
    }

    @Test("A link that is switched during requests never leads out of the root")
    func changingLinks() async throws {
        let directory = directory
        try directory.makeDirectory("outside")
        try directory.write("outside/deep", "secret")
        try directory.link("root/flip", to: "sub")
        let flips = Task.detached {
            var count = 0
            while !Task.isCancelled {
                let target = count.isMultiple(of: 2) ? "../outside" : "sub"
                try directory.link("root/next", to: target)
                try Syscalls.moveFile(
                    directory.path("root/next"), to: directory.path("root/flip"), replaces: true)
                count += 1
                await Task.yield()
            }
        }
        for _ in 0..<200 {
            let answer = try await get("/flip/deep")
            #expect(answer.status == 404 || answer.text == "deep")
        }
        flips.cancel()
        try await flips.value
    }

    @Test("A link within the root is served and listed")
    func linksInside() async throws {
        try directory.link("root/link", to: "sub/deep")
        try directory.link("root/folder", to: "sub")
        try directory.link("root/sub/parent", to: "../file")
        #expect(try await get("/link").text == "deep")
        #expect(try await get("/folder/deep").text == "deep")
        #expect(try await get("/sub/parent").text == "file")
        let listing = try await get("/").text
        #expect(listing.contains("href=\"link\""))
        #expect(listing.contains("href=\"folder/\""))
    }

    @Test("Opening step by step follows no links and does not leave the root")
    func stepwise() throws {
        try directory.link("root/link", to: "sub/deep")
        try directory.link("root/folder", to: "sub")
        let root = try RootDirectory(directory.path("root"))
        for path in ["../secret", "sub/../../secret", "link", "folder/deep", "..", "sub/..", ""] {
            #expect(throws: SystemError.self, "\(path)") { unsafe try root.openStepwise(path, 0) }
        }
        Syscalls.close(unsafe try root.openStepwise("sub/deep", 0))
        Syscalls.close(unsafe try root.openStepwise("file", 0))
    }

    @Test("A pipe is 404, is not listed and does not block")
    func pipe() async throws {
        try directory.makePipe("root/pipe")
        #expect(try await get("/pipe").status == 404)
        #expect(try await get("/").text.contains("href=\"pipe\"") == false)
    }

    @Test("Hidden names are neither served nor listed unless the option allows it")
    func hidden() async throws {
        try directory.write("root/.hidden", "hidden")
        try directory.makeDirectory("root/.git")
        try directory.write("root/.git/config", "config")
        for target in [
            "/.hidden", "/%2ehidden", "/.git", "/.git/", "/.git/config", "/sub/../.hidden",
        ] {
            #expect(try await get(target).status == 404, "\(target)")
        }
        #expect(try await get("/").text.contains(".hidden") == false)
        // HFS+ ignores such a character when it compares names.
        try directory.write("root/\u{200C}.hidden", "hidden")
        #expect(try await get("/%E2%80%8C.hidden").status == 404)
        let isOwn = ReservedNames.contains(Array(".ht\u{200C}tpkit-dav".utf8).span)
        let isHidden = ReservedNames.isHidden(Array("\u{2192}.a".utf8).span)
        #expect(isOwn && !isHidden)
        let shown = try await get("/.hidden") { $0.showsHidden = true }
        #expect(shown.text == "hidden")
        let listing = try await get("/") { $0.showsHidden = true }
        #expect(listing.text.contains(".hidden"))
        let config = try await get("/.git/config") { $0.showsHidden = true }
        #expect(config.text == "config")
    }

    @Test("A file that is still being uploaded is neither served nor listed")
    func unfinishedUpload() async throws {
        let pending = try await PendingFile.create(for: directory.path("root/new"))
        let names = Content.names(in: directory.path("root"))
        let name = try #require(names.first { $0.contains("upload-") })
        #expect(try await get("/" + name) { $0.showsHidden = true }.status == 404)
        let listing = try await get("/") { $0.showsHidden = true }
        #expect(listing.text.contains("href=\"file\""))
        #expect(!listing.text.contains(name))
        withExtendedLifetime(pending) {}
    }

    static let names = [
        "a&b <i>.txt", "50%.txt", "ü ñ.txt", "#1?.txt", "a+b.txt", "a\\b.txt", "\"quoted\".txt",
        "a:b.txt", "javascript:alert(1)", "..foo", "a..b", "line\nbreak.txt", "~tilde", "a;b=c",
    ]

    @Test("Names with special characters are listed with working links", arguments: names)
    func oddNames(_ name: String) async throws {
        try directory.write("root/sub/" + name, name)
        let isHidden = name.hasPrefix(".")
        let link = PathEncoding.link(to: Array(name.utf8), isDirectory: false)
        let answer = try await get("/sub/" + link) { $0.showsHidden = isHidden }
        #expect(answer.status == 200)
        #expect(answer.text == name)
        let listing = try await get("/sub/") { $0.showsHidden = isHidden }
        #expect(listing.text.contains("href=\"\(link)\""))
    }

    @Test("A name that is too long is 404")
    func longName() async throws {
        #expect(try await get("/" + String(repeating: "a", count: 300)).status == 404)
        #expect(try await get("/" + String(repeating: "a/", count: 2_500)).status == 404)
    }
}
