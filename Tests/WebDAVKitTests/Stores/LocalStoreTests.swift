import Foundation
import HTTPParser
import HTTPServerCore
import TestSupport
import Testing
import WebDAVKit

@Suite("LocalStore: nothing leads out, and nothing is half done")
struct LocalStoreTests {

    @Test func linksDoNotLeadOut() async throws {
        let share = try Share()
        try share.link("file", to: "../secret")
        try share.link("up", to: "..")
        try share.link("absolute", to: share.outer)
        try share.write("inside", "real")
        try share.link("good", to: "real")
        let client = try share.client()
        for path in ["file", "up/", "up/secret", "absolute/secret", "../secret"] {
            let status = try await client.status("GET", "/dav/" + path)
            #expect(status == 404 || status == 400, "\(path)")
        }
        #expect(try await client.status("PUT", "/dav/up/secret", [], "x") == 409)
        #expect(try await client.status("MOVE", "/dav/real", ["Destination: /dav/up/x"]) == 409)
        #expect(try await client.send("GET", "/dav/good").text == "inside")
        let list = try await client.send("PROPFIND", "/dav/", ["Depth: infinity"]).text
        #expect(
            list.contains("/dav/good<") && !list.contains("/dav/up") && !list.contains("secret"))
        // A link is replaced, not what it leads to.
        #expect(try await client.status("PUT", "/dav/file", [], "new") == 201)
        #expect(share.text("../secret") == "secret" && share.text("file") == "new")
        #expect(try await client.status("DELETE", "/dav/good") == 204)
        #expect(share.text("real") == "inside")
    }

    @Test func aTreeIsRemovedWithItsLinksAndNotWhatIsBehindThem() async throws {
        let share = try Share()
        let client = try share.client()
        #expect(try await client.status("MKCOL", "/dav/tree") == 201)
        try share.link("tree/out", to: "../..")
        #expect(try await client.status("COPY", "/dav/tree", ["Destination: /dav/copy"]) == 201)
        #expect(try await client.status("DELETE", "/dav/tree") == 204)
        #expect(try await client.status("DELETE", "/dav/copy") == 204)
        #expect(share.text("../secret") == "secret" && share.text("tree") == nil)
    }

    @Test func copiesThroughLinksIntoThemselvesAreRefused() async throws {
        let share = try Share()
        let client = try share.client()
        #expect(try await client.status("MKCOL", "/dav/tree") == 201)
        #expect(try await client.status("PUT", "/dav/tree/f", [], "x") == 201)
        try share.link("again", to: "tree")
        for method in ["COPY", "MOVE"] {
            let status = try await client.status(
                method, "/dav/tree", ["Destination: /dav/again/inner"])
            #expect(status == 403)
        }
        #expect(share.text("tree/f") == "x")
    }

    @Test func theOtherUnicodeFormIsFound() async throws {
        let share = try Share()
        let client = try share.client()
        let (composed, decomposed) = ("/dav/%C3%A4.txt", "/dav/a%CC%88.txt")
        #expect(try await client.status("PUT", composed, [], "one") == 201)
        #expect(try await client.send("GET", decomposed).text == "one")
        #expect(try await client.status("PUT", decomposed, [], "two") == 204)
        let list = try await client.send("PROPFIND", "/dav/", ["Depth: 1"]).text
        #expect(list.contains(composed + "<") && !list.contains(decomposed))
    }

    @Test func namesOfOurOwnAreNobodysBusiness() async throws {
        let share = try Share()
        var options = WebDAVOptions()
        options.allowsHidden = true
        let client = DAVClient(store: try LocalStore(root: share.path), options: options)
        #expect(try await client.status("PUT", "/dav/a", [], "x") == 201)
        #expect(try await client.status("GET", "/dav/.httpkit-dav/") == 404)
        #expect(try await client.status("PUT", "/dav/.httpkit-dav/x", [], "x") == 409)
        #expect(try await client.status("MKCOL", "/dav/.httpkit-dav") == 403)
        #expect(try await client.status("DELETE", "/dav/.httpkit-dav") == 404)
        let list = try await client.send("PROPFIND", "/dav/", ["Depth: infinity"]).text
        #expect(list.contains("/dav/a<") && !list.contains("httpkit"))
    }

    @Test func whatDeadProcessesHaveLeftIsSwept() async throws {
        let share = try Share()
        let left = share.path + "/.httpkit-dav/new-dead"
        try FileManager.default.createDirectory(
            atPath: left + "/tree", withIntermediateDirectories: true)
        try share.write("half", ".httpkit-dav/new-dead/file")
        let living = try share.client()
        #expect(!FileManager.default.fileExists(atPath: share.path + "/.httpkit-dav"))
        #expect(try await living.status("PUT", "/dav/a", [], "x") == 201)
        // Another store does not take the folder of one that lives.
        _ = try LocalStore(root: share.path)
        #expect(try await living.status("PUT", "/dav/a", [], "y") == 204)
    }

    @Test(arguments: [1, 3_000, 100_000])
    func propertiesStayWithTheFileWhateverTheirSize(_ size: Int) async throws {
        let share = try Share()
        let client = try share.client()
        let value = String(repeating: "v", count: size)
        let patch = """
            <propertyupdate xmlns="DAV:"><set><prop><p xmlns="u:">\(value)</p></prop></set>\
            </propertyupdate>
            """
        #expect(try await client.status("PUT", "/dav/a", [], "x") == 201)
        let tag = try await client.send("HEAD", "/dav/a")["ETag"]
        #expect(try await client.send("PROPPATCH", "/dav/a", [], patch).text.contains("200 OK"))
        #expect(try await client.send("HEAD", "/dav/a")["ETag"] == tag)
        #expect(try await client.status("PUT", "/dav/a", [], "y") == 204)
        #expect(try await client.status("MOVE", "/dav/a", ["Destination: /dav/b"]) == 201)
        #expect(try await client.status("COPY", "/dav/b", ["Destination: /dav/c"]) == 201)
        for path in ["/dav/b", "/dav/c"] {
            let text = try await client.send("PROPFIND", path, ["Depth: 0"]).text
            #expect(text.contains(">\(value)<"), "\(path)")
        }
        #expect(try await client.status("DELETE", "/dav/b") == 204)
        #expect(try await client.status("PUT", "/dav/b", [], "z") == 201)
        #expect(try await !client.send("PROPFIND", "/dav/b", ["Depth: 0"]).text.contains(">v"))
    }

    @Test func collectionsReplaceFilesAndTheOtherWayRound() async throws {
        let share = try Share()
        let client = try share.client()
        #expect(try await client.status("MKCOL", "/dav/c") == 201)
        #expect(try await client.status("PUT", "/dav/c/f", [], "x") == 201)
        #expect(try await client.status("PUT", "/dav/f", [], "y") == 201)
        #expect(try await client.status("COPY", "/dav/c", ["Destination: /dav/f"]) == 204)
        #expect(share.text("f/f") == "x")
        #expect(try await client.status("MOVE", "/dav/c/f", ["Destination: /dav/f"]) == 204)
        #expect(share.text("f") == "x")
        #expect(try await client.status("MOVE", "/dav/f", ["Destination: /dav/c"]) == 204)
        #expect(share.text("c") == "x")
    }

    /// Two names of one file: with one replaced by the other nothing would be left to copy.
    @Test func hardLinksAreTheSameFile() async throws {
        let share = try Share()
        let client = try share.client()
        #expect(try await client.status("PUT", "/dav/a", [], "x") == 201)
        #expect(try await client.status("MKCOL", "/dav/c") == 201)
        try FileManager.default.linkItem(
            atPath: share.path + "/a", toPath: share.path + "/c/b")
        for method in ["COPY", "MOVE"] {
            for (from, to) in [("a", "c/b"), ("c/b", "a")] {
                let status = try await client.status(
                    method, "/dav/" + from, ["Destination: /dav/" + to])
                #expect(status == 403, "\(method) \(from)")
                #expect(share.text("a") == "x" && share.text("c/b") == "x")
            }
        }
        // New content is that of one name.
        #expect(try await client.status("PUT", "/dav/a", [], "y") == 204)
        #expect(share.text("a") == "y" && share.text("c/b") == "x")
    }

    @Test func contentMayBeWaitedFor() async throws {
        let share = try Share()
        let client = DAVClient(store: try LocalStore(root: share.path, synchronizes: true))
        for length in [0, 1, 100_000] {
            let content = String(repeating: "x", count: length)
            #expect(try await client.status("PUT", "/dav/a", [], content) < 300)
            #expect(share.text("a") == content)
        }
    }

    /// What is announced and cannot fit is refused before any of it is taken.
    @Test func moreThanThereIsRoomForIs507() async throws {
        let share = try Share()
        try share.write("old", "a")
        let store = try LocalStore(root: share.path)
        let path = try #require(ResourcePath("a"))
        let error = await #expect(throws: WebDAVError.self) {
            try await store.stage(.empty, for: path, expected: .max)
        }
        #expect(error?.status == .insufficientStorage)
        #expect(error?.condition == .sufficientDiskSpace)
        store.close()
        #expect(share.text("a") == "old")
        #expect(try FileManager.default.contentsOfDirectory(atPath: share.path) == ["a"])
    }

    @Test func namesThatAreTooLongAreRefused() async throws {
        let share = try Share()
        let client = try share.client()
        let name = String(repeating: "n", count: 300)
        #expect(try await client.status("PUT", "/dav/" + name, [], "x") == 403)
        #expect(try await client.status("MKCOL", "/dav/" + name) == 403)
    }

    @Test func locksSurviveARestart() async throws {
        let share = try Share()
        let file = share.outer + "/locks"
        func client() throws -> DAVClient {
            DAVClient(
                store: try LocalStore(root: share.path), locks: try MemoryLockStore(file: file))
        }
        let token = try await client().lock("/dav/a%20b%25")
        let later = try client()
        #expect(try await later.status("PUT", "/dav/a%20b%25", [], "x") == 423)
        #expect(try await later.status("PUT", "/dav/a%20b%25", ["If: (<\(token)>)"], "x") == 204)
        let unlocked = ["Lock-Token: <\(token)>"]
        #expect(try await later.status("UNLOCK", "/dav/a%20b%25", unlocked) == 204)
        #expect(try await client().status("PUT", "/dav/a%20b%25", [], "y") == 204)
        // It is still known what was a collection.
        #expect(try await client().status("MKCOL", "/dav/c") == 201)
        _ = try await client().lock("/dav/c")
        let refused = try await client().send("PUT", "/dav/c/f", [], "x")
        #expect(refused.status == 423 && refused.text.contains("<D:href>/dav/c/</D:href>"))
    }

    /// It would be replaced as a whole when the next lock is taken.
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
        // They are given up all the same.
        #expect(try await client.status("PUT", "/dav/a", [], "x") == 201)
        #expect(try await client.status("PUT", "/dav/c", [], "x") == 204)
    }

    @Test func manyMembersAreListedInPieces() async throws {
        let share = try Share()
        for number in 0..<2_000 { try share.write("", "file-\(number)") }
        let client = try share.client()
        let list = try await client.send("PROPFIND", "/dav/", ["Depth: 1"])
        #expect(list["Transfer-Encoding"] == "chunked")
        #expect(list.text.matches(of: /<D:response>/).count == 2_001)
    }

    @Test func tagsTellContentsApartThatAreWrittenInOneTick() async throws {
        let share = try Share()
        let store = try LocalStore(root: share.path)
        let path = try #require(ResourcePath("a"))
        var tags: Set<String> = []
        for _ in 0..<1_000 {
            let content = try await store.stage(.empty, for: path, expected: 0)
            let info = try await store.place(content, at: path, modified: 1_000_000_000)
            tags.insert(info.entityTag.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "")
        }
        #expect(tags.count == 1_000)
    }

    /// A file that is new may have the inode of one that was removed just before, whatever has
    /// removed it: then it needs a time of its own.
    @Test(arguments: ["DELETE", "DELETE tree", "MOVE", "MOVE tree", "COPY", "PUT"])
    func removalsAreNoted(_ removal: String) async throws {
        let share = try Share()
        try share.write("a", "a")
        try share.write("b", "b")
        // Once it has noted something it never forgets it.
        let clock = WriteClock(stillness: .max)
        let store = try LocalStore(root: share.path, clock: clock)
        func path(_ name: String) throws -> ResourcePath { try #require(ResourcePath(name)) }
        for name in ["tree", "other"] {
            try await store.makeCollection(at: path(name))
            try share.write("c", name + "/c")
        }
        func put(_ name: String) async throws {
            let content = try await store.stage(.empty, for: path(name), expected: 0)
            _ = try await store.place(content, at: path(name), modified: nil)
        }
        try await put("new")
        try await store.copy(path("a"), to: path("copy"), deep: true)
        try await store.move(path("copy"), to: path("moved"))
        #expect(!clock.mayRepeat)
        switch removal {
        case "DELETE": #expect(try await store.remove(path("a")).isEmpty)
        case "DELETE tree": #expect(try await store.remove(path("tree")).isEmpty)
        case "MOVE": try await store.move(path("a"), to: path("b"))
        case "MOVE tree": try await store.move(path("tree"), to: path("other"))
        case "COPY": try await store.copy(path("a"), to: path("b"), deep: true)
        default: try await put("a")
        }
        #expect(clock.mayRepeat)
    }

    @Test func ourFolderGoesWhenTheStoreIsClosed() async throws {
        let share = try Share()
        let store = try LocalStore(root: share.path)
        let client = DAVClient(store: store)
        for _ in 0..<2 {
            #expect(try await client.status("PUT", "/dav/a", [], "x") < 300)
            #expect(FileManager.default.fileExists(atPath: share.path + "/.httpkit-dav"))
            store.close()
            #expect(!FileManager.default.fileExists(atPath: share.path + "/.httpkit-dav"))
        }
    }

    @Test func locksOnWhatOthersHaveRemovedAreGone() async throws {
        let share = try Share()
        let client = try share.client()
        #expect(try await client.status("PUT", "/dav/a", [], "x") == 201)
        _ = try await client.lock("/dav/a")
        try FileManager.default.removeItem(atPath: share.path + "/a")
        #expect(try await client.status("PUT", "/dav/a", [], "y") == 201)
        _ = try await client.lock("/dav/b")
        try FileManager.default.removeItem(atPath: share.path + "/b")
        #expect(try await client.status("MKCOL", "/dav/b") == 201)
        #expect(try await client.status("PUT", "/dav/b/c", [], "y") == 201)
    }

    @Test func aLockMakesNoFileEmptyThatCameMeanwhile() async throws {
        let share = try Share()
        var options = WebDAVOptions()
        options.shouldPerform = { operation, _ in
            if case .upload = operation { try share.write("theirs", "a") }
            return true
        }
        let client = DAVClient(store: try LocalStore(root: share.path), options: options)
        #expect(try await client.status("LOCK", "/dav/a", [], DAVClient.lockInfo()) == 409)
        #expect(share.text("a") == "theirs")
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
