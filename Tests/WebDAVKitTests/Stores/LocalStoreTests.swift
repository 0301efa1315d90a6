import Foundation
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem
import WebDAVKit

@Suite("LocalStore: No access outside, and no partial changes")
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
        // The link is replaced, not its target.
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
        // A second store does not remove the folder of a running one.
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

    /// Replacing one name of a file by its other name would leave nothing to copy.
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
        // New content replaces only one of the names.
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

    @Test("An upload that is placed twice leaves no second link to its file, and counts once")
    func placedTwice() async throws {
        let share = try Share()
        let store = try LocalStore(root: share.path, byteLimit: 1 << 20)
        let part = try share.part()
        for _ in 0..<2 { try await store.place(part, at: "a") }
        #expect(share.text("a") == share.text("../part"))
        // The thread that placed the content may hold it for a moment.
        try await waitUntil { try await store.quota(at: .root)?.used == part.length }
        let own = share.path + "/.httpkit-dav"
        for folder in try FileManager.default.contentsOfDirectory(atPath: own) {
            let left = try FileManager.default.contentsOfDirectory(atPath: own + "/" + folder)
            #expect(left == [])
        }
    }

    /// Content whose announced length cannot fit is refused before any of it is read.
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

    /// Names made by other programs: not UTF-8, with control characters, with a line feed.
    @Test func namesThatAreNoTextAreShownAndReached() async throws {
        let share = try Share()
        let root = try FileTree(share.path).directory([])
        try root.makeDirectory(Array("d".utf8))
        let names: [(bytes: [UInt8], path: String)] = [
            ([0xFF], "%FF"), ([0x61, 0x0A, 0x62], "a%0Ab"), ([0x7F], "%7F"),
            (Array("\u{FFFE}".utf8), "%EF%BF%BE"), ([0xC3, 0x28], "%C3%28"),
        ]
        let directory = try root.directory(Array("d".utf8))
        for name in names { try directory.create(name.bytes).write(Array(name.path.utf8)) }
        try directory.makeDirectory([0xFE, 0x0A])
        try directory.directory([0xFE, 0x0A]).create([0xFD]).write([0x78])
        // The first name would become this one if its bytes were repaired.
        try share.write("other", "d/\u{FFFD}")
        let client = try share.client()
        let list = try await client.send("PROPFIND", "/dav/d", ["Depth: infinity"])
        let members = try XMLReader.read(Array(list.text.utf8)).children
        #expect(members.count == names.count + 4)
        #expect(list.text.contains("<D:href>/dav/d/%FE%0A/%FD</D:href>"))
        for (_, path) in names {
            let href =
                list.text.contains("<D:href>/dav/d/\(path)</D:href>")
                || list.text.contains(
                    "<D:href>/dav/d/\(path.replacing("%28", with: "("))</D:href>")
            #expect(href, "\(path)")
            let read = try await client.send("GET", "/dav/d/" + path)
            #expect(read.text == path)
            #expect(try await client.status("PUT", "/dav/d/" + path, [], path + "!") == 204)
            let token = try await client.lock("/dav/d/" + path)
            let one = try await client.send("PROPFIND", "/dav/d/" + path, ["Depth: 0"])
            #expect(one.status == 207 && one.text.contains(token))
            _ = try XMLReader.read(Array(one.text.utf8))
            let shown = ["If: (<\(token)>)"]
            #expect(try await client.status("DELETE", "/dav/d/" + path, shown) == 204)
            #expect(try await client.status("GET", "/dav/d/" + path) == 404)
            // New files cannot have such a name.
            #expect(
                try await client.status("PUT", "/dav/d/" + path, [], "x")
                    == (path == "%EF%BF%BE" ? 201 : 400))
        }
        let destination = ["Destination: /dav/d/a%0Ab"]
        let origin = "/dav/d/%EF%BF%BD"
        for method in ["COPY", "MOVE"] {
            #expect(try await client.status(method, origin, destination) == 400)
        }
        for (method, content) in [("MKCOL", ""), ("LOCK", DAVClient.lockInfo())] {
            #expect(try await client.status(method, "/dav/d/%FF", [], content) == 400)
        }
        // A collection with such a name can be renamed.
        let renamed = ["Destination: /dav/d/folder"]
        #expect(try await client.status("MOVE", "/dav/d/%FE%0A", renamed) == 201)
        #expect(try await client.send("GET", "/dav/d/folder/%FD").text == "x")
        #expect(share.text("d/\u{FFFD}") == "other")
        #expect(try await client.status("DELETE", "/dav/d/folder") == 204)
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

    /// A new file may get the inode of a file that was just removed in any way, and then needs
    /// another modification time.
    @Test(arguments: ["DELETE", "DELETE tree", "MOVE", "MOVE tree", "COPY", "PUT"])
    func removalsAreNoted(_ removal: String) async throws {
        let share = try Share()
        try share.write("a", "a")
        try share.write("b", "b")
        // This clock never forgets a removal.
        let clock = UniqueTimestamps(stillness: .max)
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
        try await store.copy(path("a"), to: path("copy"), deep: true, replaces: false)
        try await store.move(path("copy"), to: path("moved"), replaces: false)
        #expect(!clock.mayRepeat)
        switch removal {
        case "DELETE": #expect(try await store.remove(path("a")).isEmpty)
        case "DELETE tree": #expect(try await store.remove(path("tree")).isEmpty)
        case "MOVE": try await store.move(path("a"), to: path("b"), replaces: true)
        case "MOVE tree":
            try await store.move(path("tree"), to: path("other"), replaces: true)
        case "COPY": try await store.copy(path("a"), to: path("b"), deep: true, replaces: true)
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

    /// The lock of a member that another program has removed does not block requests.
    @Test(arguments: ["DELETE", "MOVE", "COPY", "LOCK", "start"])
    func aLockOnAGoneMemberKeepsNothing(_ method: String) async throws {
        let share = try Share()
        let locks = MemoryLockStore()
        let handler = WebDAVHandler(store: try LocalStore(root: share.path), locks: locks)
        var router = Router()
        router.mountWebDAV("/dav", handler)
        let client = DAVClient(router: router)
        #expect(try await client.status("MKCOL", "/dav/f") == 201)
        #expect(try await client.status("MKCOL", "/dav/f/in") == 201)
        for name in ["gone", "in/gone", "stays"] { _ = try await client.lock("/dav/f/" + name) }
        try FileManager.default.removeItem(atPath: share.path + "/f/gone")
        try FileManager.default.removeItem(atPath: share.path + "/f/in")
        let path = try #require(ResourcePath("f"))
        func roots() async throws -> [String] {
            try await locks.locks(on: path, andInside: true).map(\.root.description)
        }
        if method == "start" {
            try await handler.removeStaleLocks()
            #expect(try await roots() == ["/f/stays"])
            return
        }
        _ = try await client.status("MKCOL", "/dav/other")
        let source = method == "COPY" ? "/dav/other" : "/dav/f"
        let fields = ["Destination: " + (method == "COPY" ? "/dav/f" : "/dav/g")]
        let content = method == "LOCK" ? DAVClient.lockInfo() : ""
        // The lock of the remaining member still blocks.
        let refused = try await client.send(method, source, fields, content)
        #expect(refused.status == 207 && refused.text.contains("/dav/f/stays<"))
        #expect(!refused.text.contains("gone"), "\(refused.text)")
        try FileManager.default.removeItem(atPath: share.path + "/f/stays")
        let status = try await client.status(method, source, fields, content)
        #expect(status < 300 && status != 207, "\(status)")
        #expect(try await roots() == (method == "LOCK" ? ["/f"] : []))
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
}
