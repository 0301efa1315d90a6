import Foundation
import TestSupport
import Testing

/// Uploads of the page over connections that break. `UPLOAD_MIB` and `UPLOAD_CUTS` in the
/// environment set the size and the number of cuts.
@Suite(
    "The upload page in a browser: resumed uploads", .serialized, .fewAtOnce, .overTLSToo,
    .enabled(if: FullSuite.isOn, "make test-all"))
struct UploaderSenderTests {
    private let (folder, source, target): (Folder, Folder, Folder)

    init() throws {
        (folder, source, target) = (try Folder(), try Folder(), try Folder())
        try target.write(ChromeDriver.module, to: "chrome.mjs")
        try target.write(UploaderSender.program, to: "sender.mjs")
    }

    private func serve(_ flags: String...) async throws -> ServeProcess {
        try await ServeProcess(folder, ["--uploader", "/up"] + flags)
    }

    private func run(_ tasks: String..., at address: String, axe: String?) async throws
        -> BrowserOutcome
    {
        let result = try await BrowserOutcome.of(
            target.file("sender.mjs").path, address,
            [source.path, target.path, axe ?? ""] + tasks)
        #expect(result.faults == [])
        #expect(result.violations == [])
        return result
    }

    private static func number(_ name: String, or standard: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? standard
    }

    /// Writes noise of a length, with a repeated piece of a mebibyte.
    private func write(_ mebibytes: Int, to name: String, seed: UInt64) throws {
        var piece = [UInt8].noise(1 << 20, seed: seed)
        try source.write(piece, to: name)
        let handle = try #require(FileHandle(forUpdatingAtPath: source.file(name).path))
        defer { try? handle.close() }
        try handle.seekToEnd()
        // All pieces are different.
        for number in 1..<mebibytes {
            for index in 0..<4 { piece[index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
            try handle.write(contentsOf: piece)
        }
    }

    @Test(
        "An upload continues after cut connections and after a reload of the page",
        arguments: [false, true])
    func cuts(_ isReloaded: Bool) async throws {
        let size = Self.number("UPLOAD_MIB", or: 300) << 20
        let cuts = Self.number("UPLOAD_CUTS", or: 2)
        try write(size >> 20, to: "big.bin", seed: 21)
        if isReloaded { try write(size >> 20, to: "other/big.bin", seed: 22) }
        let server = try await serve()
        // A browser repeats a piece itself, until it reads that the server has a part of it.
        let proxy = try await CuttingProxy(
            to: server.port, every: size / (cuts + 1), cuts: cuts, room: 16 << 10)
        let axe = isReloaded ? try await AxeCore.script(in: target) : nil
        let task = "whole:\(120 + (size >> 20) / 2)" + (isReloaded ? ":reload" : "")
        let result = try await run(task, at: server.url("/up/", port: proxy.port), axe: axe)
        #expect(result.steps == ["done: done: big.bin", "kept: 0"])
        let same = try await Program.run(
            "cmp", [source.file("big.bin").path, folder.file("big.bin").path])
        #expect(same.status == 0, "\(same.text)")
        try await waitUntil { (proxy.counts?.passed ?? 0) >= size }
        let counts = try #require(proxy.counts)
        #expect(counts.left == 0)
        print("page: \(size) bytes, \(cuts) cuts, \(counts.passed - size) bytes more")
        // A reload loses the piece that was being sent.
        let limit = size / 100 + (isReloaded ? 8 << 20 : 0)
        #expect(counts.passed < size + limit, "\(counts.passed - size) bytes more")
    }

    @Test(
        "A file above the limit is refused before it is sent, with a message that names the limit")
    func limit() async throws {
        try source.write([UInt8](repeating: 1, count: (1 << 20) + 1), to: "long.bin")
        try source.write("short", to: "a.txt")
        let server = try await serve("--max-body", "1M")
        let axe = try await AxeCore.script(in: target)
        let result = try await run("limits", at: server.url("/up/"), axe: axe)
        #expect(
            result.steps == ["failed: larger than the limit of 1.0 MiB", "sent: a.txt"])
        #expect(folder.text("a.txt") == "short" && folder.bytes("long.bin") == [])
    }

    @Test("A file whose refusal the browser did not read is sent again with a new token")
    func newToken() async throws {
        try source.write("content", to: "a.txt")
        let server = try await serve()
        let result = try await run("renews", at: server.url("/up/"), axe: nil)
        #expect(result.steps == ["sent 2 times, new: true"])
        #expect(folder.text("a.txt") == "content")
    }

    @Test("Uploads can be paused, cancelled and discarded, and the page asks about conflicts")
    func person() async throws {
        for (name, seed) in [("one.bin", UInt64(1)), ("two.bin", 2), ("three.bin", 3)] {
            try write(20, to: name, seed: seed)
        }
        for name in ["a.txt", "b.txt", "c.txt", "d.txt", "tree/inner/d.txt"] {
            try source.write("content of \(name)", to: name)
        }
        let server = try await serve()
        let axe = try await AxeCore.script(in: target)
        let result = try await run("stops", "asks", at: server.url("/up/"), axe: axe)
        #expect(axe != nil, "axe-core could not be downloaded, so its checks did not run")
        #expect(
            result.steps == [
                "download", "pause", "other tab", "no network", "cancel", "discard", "gone", "end",
                "ask", "ask late", "ask by keys", "unreadable",
            ])
        for name in ["one.bin", "two.bin", "three.bin"] {
            #expect(folder.bytes(name) == source.bytes(name), "\(name)")
        }
        #expect(folder.text("b (1).txt") == "content of b.txt")
        #expect(folder.text("tree/inner/d (1).txt") == "content of tree/inner/d.txt")
        let parts = folder.file(".httpkit-dav/uploads-page").path
        let names = try FileManager.default.contentsOfDirectory(atPath: parts)
        // Only the responses of complete uploads remain; discarded uploads have left nothing.
        #expect(names.allSatisfy { $0.hasSuffix(".json") }, "\(names)")
    }
}
