import HTTPParser
import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem

@testable import HTTPServerKit

@Suite("Requests that arrive together share one check of a cached file")
struct SharedLookTests {
    private let directory: ServerDirectory
    private let root: RootDirectory
    private let cache = FileCache(
        byteLimit: 1 << 20, openFileLimit: 4, settlingSeconds: 0, openSeconds: 3_600)
    private let path = FilePath(inRoot: "a.txt")

    init() throws {
        directory = try ServerDirectory()
        root = try RootDirectory(directory.path)
    }

    /// Reads the file and caches it.
    private func keep() throws {
        let file = OpenFile(owning: try path.open(in: root))
        let status = try #require(RootDirectory.status(of: file.descriptor))
        let content = try #require(cache.content(of: file, status, at: path, in: root))
        cache.keep(
            FileCache.Entry(
                status: status, content: content, mediaType: "text/plain",
                validators: Validators(status), varies: false, fields: [:], parents: path.parents),
            at: path)
    }

    @Test(
        "A check is valid only for requests that had begun to arrive before it",
        arguments: [10, 20_000])
    func shared(_ size: Int) throws {
        try directory.write("a.txt", String(repeating: "x", count: size))
        try keep()
        let before = Syscalls.monotonic()
        #expect(cache.entry(at: path, in: root, arrival: .max) != nil)
        let after = Syscalls.monotonic()
        try directory.remove("a.txt")
        // This request was sent while the file existed.
        #expect(cache.entry(at: path, in: root, arrival: before) != nil)
        // This one may have been sent after the removal.
        #expect(cache.entry(at: path, in: root, arrival: after) == nil)
        #expect(cache.counts.small + cache.counts.open == 0)
        #expect(cache.entry(at: path, in: root, arrival: before) == nil)
    }

    @Test("Reading a file is not a check: the first request always checks the file")
    func first() throws {
        try directory.write("a.txt", "text")
        try keep()
        try directory.remove("a.txt")
        #expect(cache.entry(at: path, in: root, arrival: 1) == nil)
    }
}
