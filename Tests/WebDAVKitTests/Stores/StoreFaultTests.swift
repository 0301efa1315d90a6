import Foundation
import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem
import WebDAVKit

@Suite("LocalStore: Faults of the disk, other programs and the clock")
struct StoreFaultTests {
    private func share(with folders: [String]) throws -> Share {
        let share = try Share()
        for folder in folders {
            try FileManager.default.createDirectory(
                atPath: share.path + "/" + folder, withIntermediateDirectories: true)
        }
        return share
    }

    /// The disk and thus the replacement have failed. Later the client renames the old target to
    /// the name of the source, which looks like the state after a replacement.
    @Test func anEntryOfTheJournalThatIsNotOnTheDiskDoesNothingLater() throws {
        let share = try share(with: ["source", "target", ".httpkit-dav/new-dead"])
        try share.write("old", "target/f")
        let root = try FileTree(share.path).directory([])
        let (source, target) = (Array("source".utf8), Array("target".utf8))
        let staging = try FileTree(share.path).directory(Array(".httpkit-dav/new-dead".utf8))
        let replaced = try #require(ResourcePath("target"))
        let journal = ReplacementJournal(
            source: ResourcePath("source"), target: replaced,
            old: try root.status(of: target), aside: Array("aside".utf8))
        let place = FilePlace(directory: staging, name: Array("replace-1".utf8))
        #expect(throws: SystemError.self) {
            try journal.write(to: place) { () throws(SystemError) in
                throw SystemError.forbidden("fsync")
            }
        }
        #expect(try staging.names().isEmpty)
        try root.remove(source, isDirectory: true)
        try root.rename(target, to: FilePlace(directory: root, name: source), .creating)
        _ = try LocalStore(root: share.path)
        #expect(share.text("source/f") == "old")
    }

    @Test func propertiesOfAFileThatMovesDuringTheSweepStay() throws {
        let share = try share(with: ["a", "b"])
        for name in ["a/a", "b/b"] { try share.write("x", name) }
        let tree = try FileTree(share.path)
        let names = try PropertyFileNames(tree)
        let vanished = Array("1-2-3".utf8)
        var left: Set<[UInt8]> = [vanished]
        for name in ["a/a", "b/b"] {
            left.insert(try names.name(of: try tree.status(of: Array(name.utf8))))
        }
        #expect(left.count == 3)
        var moved: String?
        try names.removeNamesInUse(from: &left) { directory in
            guard moved == nil, let path = tree.path(of: directory), !path.isEmpty else { return }
            // Moves a file from the folder that is not read yet to the one that was read.
            let here = String(decoding: path, as: UTF8.self)
            let other = here == "a" ? "b" : "a"
            try? FileManager.default.moveItem(
                atPath: share.path + "/\(other)/\(other)", toPath: share.path + "/\(here)/\(other)")
            moved = "\(here)/\(other)"
        }
        let place = try #require(moved)
        #expect(share.text(place) == "x")
        #expect(left == [vanished])
    }

    @Test func aClockThatWasSetBackIsFollowed() async throws {
        let share = try Share()
        let seconds = Locked<Int64>(4_000_000_000)
        let clock = UniqueTimestamps(clock: { (seconds.withLock { $0 }, 0) })
        let client = DAVClient(store: try LocalStore(root: share.path, clock: clock))
        #expect(try await client.status("PUT", "/dav/f", [], "1") == 201)
        #expect(try await client.status("PUT", "/dav/f", [], "2") == 204)
        seconds.withLock { $0 = 1_700_000_000 }
        #expect(try await client.status("PUT", "/dav/f", [], "3") == 204)
        let head = try await client.send("HEAD", "/dav/f")
        #expect(head["Last-Modified"] == "Tue, 14 Nov 2023 22:13:20 GMT")
        // The clock is not set back by less than a second, and no two files have the same time.
        let first = head["ETag"]
        #expect(try await client.status("PUT", "/dav/f", [], "4") == 204)
        #expect(try await client.send("HEAD", "/dav/f")["ETag"] != first)
    }
}
