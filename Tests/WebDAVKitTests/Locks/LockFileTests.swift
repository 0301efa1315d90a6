import Foundation
import HTTPParser
import TestSupport
import Testing
import WebDAVKit

@Suite("Lock file")
struct LockFileTests {
    /// A server with a new store for the file, once the previous store has released it.
    private func client(_ share: Share, _ file: String) async throws -> DAVClient {
        var locks: MemoryLockStore?
        try await waitUntil {
            locks = try? MemoryLockStore(file: file)
            return locks != nil
        }
        return DAVClient(store: try LocalStore(root: share.path), locks: try #require(locks))
    }

    /// The locks that a server would load from the file now.
    private func locks(in file: String) async throws -> [ActiveLock] {
        let copy = file + ".copy\(UInt64.random(in: 0...(.max)))"
        try FileManager.default.copyItem(atPath: file, toPath: copy)
        return try await MemoryLockStore(file: copy).locks(on: .root, andInside: true)
    }

    @Test func locksSurviveARestart() async throws {
        let share = try Share()
        let file = share.outer + "/locks"
        let token = try await client(share, file).lock("/dav/a%20b%25")
        do {
            let later = try await client(share, file)
            let shown = ["If: (<\(token)>)"]
            #expect(try await later.status("PUT", "/dav/a%20b%25", [], "x") == 423)
            #expect(try await later.status("PUT", "/dav/a%20b%25", shown, "x") == 204)
            let unlocked = ["Lock-Token: <\(token)>"]
            #expect(try await later.status("UNLOCK", "/dav/a%20b%25", unlocked) == 204)
        }
        do {
            let later = try await client(share, file)
            #expect(try await later.status("PUT", "/dav/a%20b%25", [], "y") == 204)
            // Collections are still known as such.
            #expect(try await later.status("MKCOL", "/dav/c") == 201)
            _ = try await later.lock("/dav/c")
        }
        let refused = try await client(share, file).send("PUT", "/dav/c/f", [], "x")
        #expect(refused.status == 423 && refused.text.contains("<D:href>/dav/c/</D:href>"))
    }

    /// Two stores would overwrite each other's locks.
    @Test func aFileBelongsToOneStore() async throws {
        let share = try Share()
        let file = share.outer + "/locks"
        do {
            let first = try MemoryLockStore(file: file)
            let error = #expect(throws: LockFileError.self) { try MemoryLockStore(file: file) }
            #expect(error?.path == file && error?.reason.contains("another server") == true)
            // The claim stays when the file is replaced under its name.
            let path = try #require(ResourcePath("a"))
            _ = try await first.add(
                ActiveLock(root: path, isDeep: false, scope: .exclusive, timeout: 600))
            #expect(throws: LockFileError.self) { try MemoryLockStore(file: file) }
        }
        var second: MemoryLockStore?
        try await waitUntil {
            second = try? MemoryLockStore(file: file)
            return second != nil
        }
        let kept = try await second?.locks(on: .root, andInside: true)
        #expect(kept?.map(\.root.description) == ["/a"])
    }

    /// Both stores were created before there was a folder for the file.
    @Test func theFirstLockClaimsAFileThatWasNoFileYet() async throws {
        let share = try Share()
        let (first, second) = (
            try MemoryLockStore(file: share.outer + "/late/locks"),
            try MemoryLockStore(file: share.outer + "/late/locks")
        )
        try FileManager.default.createDirectory(
            atPath: share.outer + "/late", withIntermediateDirectories: false)
        let path = try #require(ResourcePath("a"))
        let lock = ActiveLock(root: path, isDeep: false, scope: .exclusive, timeout: 600)
        _ = try await first.add(lock)
        await #expect(throws: (any Error).self) { try await second.add(lock) }
        #expect(try await locks(in: share.outer + "/late/locks").count == 1)
        #expect(try await first.locks(on: .root, andInside: true).count == 1)
    }

    /// Each change appends a line; a file with too many old lines is rewritten.
    @Test func aChangeOfALockIsALineMore() async throws {
        let share = try Share()
        let file = share.outer + "/locks"
        func size() throws -> Int {
            try #require(FileManager.default.contents(atPath: file)).count
        }
        let locks = try MemoryLockStore(file: file)
        func lock(_ name: String) throws -> ActiveLock {
            ActiveLock(
                root: try #require(ResourcePath(name)), isDeep: false, scope: .exclusive,
                timeout: 600)
        }
        for number in 0..<1_000 { _ = try await locks.add(try lock("n\(number)")) }
        let before = try size()
        let added = try await locks.add(try lock("one-more"))
        #expect(try (50..<300).contains(size() - before))
        _ = try await locks.refresh(added.token, timeout: 700)
        try await locks.remove(added.token)
        #expect(try (100..<800).contains(size() - before))
        // The file grows to little more than twice the size of its current locks.
        for number in 0..<3_000 {
            try await locks.remove(try await locks.add(try lock("h\(number)")).token)
        }
        #expect(try size() < 3 * before)
        let all = try await locks.locks(on: .root, andInside: true)
        let again = try await self.locks(in: file)
        #expect(all.count == 1_000 && Set(again) == Set(all))
    }

    /// A process may die at any byte of a line, so an incomplete last line is dropped. A complete
    /// line that is not a lock is an error.
    @Test func aTornLineAtTheEndIsDropped() async throws {
        let share = try Share()
        let file = share.outer + "/locks"
        let path = try #require(ResourcePath(segments: [Array("a b%é".utf8), Array("c".utf8)]))
        let locks = try MemoryLockStore(file: file)
        let kept = try await locks.add(
            ActiveLock(
                root: path, isCollection: true, isDeep: true, scope: .shared, owner: "<o>x</o>",
                user: "ann", timeout: 600))
        let whole = try #require(FileManager.default.contents(atPath: file))
        let torn = try await locks.add(
            ActiveLock(root: path, isDeep: false, scope: .shared, timeout: 600))
        try await locks.remove(kept.token)
        let all = try #require(FileManager.default.contents(atPath: file))
        #expect(all.starts(with: whole))
        for end in whole.count...all.count {
            let cut = file + "\(end)"
            try all.prefix(end).write(to: URL(fileURLWithPath: cut))
            let read = try MemoryLockStore(file: cut)
            let found = try await read.locks(on: path, andInside: true)
            let lines = all[whole.count..<end].count { $0 == 0x0A }
            let expected = lines == 0 ? [kept] : lines == 1 ? [kept, torn] : [torn]
            guard found == expected else {
                Issue.record("\(end) of \(all.count): \(found)")
                return
            }
            guard end % 7 == 0 else { continue }
            // A line that is added after the truncated one can be read.
            let more = try await read.add(
                ActiveLock(root: path, isDeep: false, scope: .shared, timeout: 600))
            let again = try await self.locks(in: cut)
            #expect(again == expected + [more], "\(end) of \(all.count)")
        }
        let other = share.outer + "/other"
        try (all + Data("my notes\n".utf8)).write(to: URL(fileURLWithPath: other))
        let error = #expect(throws: LockFileError.self) { try MemoryLockStore(file: other) }
        #expect(error?.reason.contains("something other") == true)
    }

    /// Locks are not lost if another program removes or replaces the file.
    @Test(arguments: [true, false])
    func replacedFileIsWrittenAgain(_ isRemoved: Bool) async throws {
        let share = try Share()
        let file = share.outer + "/locks"
        let locks = try MemoryLockStore(file: file)
        for name in ["a", "b"] {
            let path = try #require(ResourcePath(name))
            _ = try await locks.add(
                ActiveLock(root: path, isDeep: false, scope: .exclusive, timeout: 600))
            if isRemoved {
                try? FileManager.default.removeItem(atPath: file)
            } else {
                try Data("x".utf8).write(to: URL(fileURLWithPath: file))
            }
        }
        let path = try #require(ResourcePath("c"))
        _ = try await locks.add(
            ActiveLock(root: path, isDeep: false, scope: .exclusive, timeout: 600))
        let again = try await self.locks(in: file)
        #expect(again.map(\.root.description).sorted() == ["/a", "/b", "/c"])
    }

    /// The next lock would overwrite the file.
    @Test func aFileThatHoldsSomethingElseThanLocksIsAnError() throws {
        let share = try Share()
        try share.write("# My notes\n", "notes")
        try share.write("", "empty")
        #expect(throws: LockFileError.self) {
            try MemoryLockStore(file: share.path + "/notes")
        }
        #expect(share.text("notes") == "# My notes\n")
        let error = #expect(throws: LockFileError.self) { try MemoryLockStore(file: share.path) }
        #expect(error?.path == share.path && error?.reason.isEmpty == false)
        _ = try MemoryLockStore(file: share.path + "/empty")
        _ = try MemoryLockStore(file: share.path + "/none")
    }

    /// A program may create an `Identity` with such a name.
    @Test func theUserOfALockMayHaveAnyName() async throws {
        let share = try Share()
        let file = share.outer + "/locks"
        let path = try #require(ResourcePath("a"))
        let store = try MemoryLockStore(file: file)
        let lock = try await store.add(
            ActiveLock(
                root: path, isDeep: false, scope: .exclusive, user: "a\u{0} %00\n", timeout: 600))
        #expect(lock.user == "a\u{0} %00\n")
        let again = try await locks(in: file)
        #expect(again == [lock])
    }

    @Test func whatHasHappenedIsToldThoughLocksCannotBeGivenUpInTheFile() async throws {
        let share = try Share()
        let folder = share.outer + "/locks"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false)
        let locks = try MemoryLockStore(file: folder + "/locks")
        let client = DAVClient(store: try LocalStore(root: share.path), locks: locks)
        let tokens = [try await client.lock("/dav/a"), try await client.lock("/dav/b")]
        try FileManager.default.removeItem(atPath: folder)
        let shown = tokens.map { "If: (<\($0)>)" }
        #expect(try await client.status("DELETE", "/dav/a", [shown[0]]) == 204)
        #expect(
            try await client.status("MOVE", "/dav/b", ["Destination: /dav/c", shown[1]]) == 201)
        #expect(share.text("a") == nil && share.text("b") == nil && share.text("c") == "")
        // The locks have been released all the same.
        #expect(try await client.status("PUT", "/dav/a", [], "x") == 201)
        #expect(try await client.status("PUT", "/dav/c", [], "x") == 204)
    }

    @Test func aLockThatCannotBeKeptIsNotPromised() async throws {
        let share = try Share()
        let locks = try MemoryLockStore(file: share.outer + "/none/locks")
        let client = DAVClient(store: try LocalStore(root: share.path), locks: locks)
        #expect(try await client.status("LOCK", "/dav/a", [], DAVClient.lockInfo()) >= 500)
        #expect(share.text("a") == nil)
        #expect(try await client.status("PUT", "/dav/a", [], "x") == 201)
    }
}
