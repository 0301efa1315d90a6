import Foundation
import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem
import WebDAVKit

@Suite("LocalStore: Links and equivalent names")
struct LinkTests {
    private let share: Share
    private let client: DAVClient

    /// A collection with a file, a link to the collection, and a link to a file.
    init() throws {
        share = try Share()
        try FileManager.default.createDirectory(
            atPath: share.path + "/tree/sub", withIntermediateDirectories: true)
        try share.write("x", "tree/f")
        try share.write("inside", "real")
        try share.link("again", to: "tree")
        try share.link("good", to: "real")
        client = try share.client()
    }

    private static let patch = """
        <propertyupdate xmlns="DAV:"><set><prop><p xmlns="u:">1</p></prop></set></propertyupdate>
        """

    @Test("PATCH of a link changes its target")
    func partOfATarget() async throws {
        let fields = [
            "Content-Type: application/x-sabredav-partialupdate", "X-Update-Range: append",
        ]
        let answer = try await client.send("PATCH", "/dav/good", fields, "!")
        #expect(answer.status == 204)
        #expect(share.text("real") == "inside!")
        #expect(try await client.send("GET", "/dav/good").text == "inside!")
    }

    private static let changes: [(String, String, [String], String)] = [
        ("PUT", "/dav/again/f", [], "y"), ("DELETE", "/dav/again/f", [], ""),
        ("MOVE", "/dav/again/f", ["Destination: /dav/n"], ""),
        ("COPY", "/dav/real", ["Destination: /dav/again/f"], ""),
        ("MOVE", "/dav/real", ["Destination: http://example.org/dav/again/f"], ""),
        ("PROPPATCH", "/dav/again/f", [], patch),
        ("LOCK", "/dav/again/f", [], DAVClient.lockInfo()),
    ]

    @Test(arguments: changes)
    func aLockHoldsByEveryPath(
        _ method: String, _ path: String, _ fields: [String], _ content: String
    ) async throws {
        let token = try await client.lock("/dav/tree/f", depth: "0")
        #expect(try await client.status(method, path, fields, content) == 423)
        #expect(share.text("tree/f") == "x")
        // A second exclusive lock is refused, also with the token.
        guard method != "LOCK" else { return }
        let shown = fields + ["If: </dav/again/f> (<\(token)>)"]
        let status = try await client.status(method, path, shown, content)
        #expect(status < 300, "\(status)")
    }

    @Test func aLockThatWasTakenThroughALinkHoldsToo() async throws {
        let token = try await client.lock("/dav/again/f", depth: "0")
        #expect(try await client.status("PUT", "/dav/tree/f", [], "y") == 423)
        let shown = ["If: (<\(token)>)"]
        #expect(try await client.status("PUT", "/dav/again/f", shown, "y") == 204)
        #expect(try await client.status("PUT", "/dav/tree/f", shown, "z") == 204)
        let unlocked = ["Lock-Token: <\(token)>"]
        #expect(try await client.status("UNLOCK", "/dav/again/f", unlocked) == 204)
        #expect(try await client.status("PUT", "/dav/tree/f", [], "w") == 204)
        #expect(share.text("tree/f") == "w")
    }

    @Test func aLockOnALinkToACollectionIsOnTheCollection() async throws {
        for path in ["/dav/again", "/dav/again/"] {
            let token = try await client.lock(path)
            #expect(try await client.status("PUT", "/dav/tree/f", [], "y") == 423)
            #expect(try await client.status("PUT", "/dav/again/n", [], "y") == 423)
            #expect(try await client.status("MKCOL", "/dav/again/sub/n") == 423)
            let unlocked = ["Lock-Token: <\(token)>"]
            #expect(try await client.status("UNLOCK", path, unlocked) == 204)
        }
        #expect(try await client.status("PUT", "/dav/tree/f", [], "y") == 204)
    }

    @Test func aLockIsFoundByTheLinkThatItWasTakenBy() async throws {
        let token = try await client.lock("/dav/again")
        let shown = ["If: (<\(token)>)"]
        #expect(try await client.status("LOCK", "/dav/again", shown) == 200)
        let tagged = ["If: </dav/again/> (<\(token)>)"]
        #expect(try await client.status("PUT", "/dav/again/n", tagged, "y") == 201)
        for path in ["/dav/again", "/dav/again/f", "/dav/tree/f"] {
            let found = try await client.send("PROPFIND", path, ["Depth: 0"])
            #expect(found.text.contains(token), "\(path)")
        }
        let all = try await client.send("PROPFIND", "/dav/again/", ["Depth: 1"]).text
        #expect(all.ranges(of: token).count > 1)
        let unlocked = ["Lock-Token: <\(token)>"]
        #expect(try await client.status("UNLOCK", "/dav/again", unlocked) == 204)
        #expect(try await !client.send("PROPFIND", "/dav/again/f").text.contains(token))
    }

    /// A cached directory may be moved.
    @Test func whatWasSeenIsForgottenWhereItMoves() async throws {
        #expect(try await client.status("MKCOL", "/dav/d") == 201)
        #expect(try await client.status("PUT", "/dav/d/x", [], "d") == 201)
        #expect(try await client.status("PUT", "/dav/tree/x", [], "t") == 201)
        #expect(try await client.status("MOVE", "/dav/d", ["Destination: /dav/old"]) == 201)
        #expect(try await client.status("MOVE", "/dav/again", ["Destination: /dav/d"]) == 201)
        let token = try await client.lock("/dav/d/x")
        #expect(try await client.status("PUT", "/dav/tree/x", [], "y") == 423)
        let shown = ["If: (<\(token)>)"]
        #expect(try await client.status("PUT", "/dav/tree/x", shown, "y") == 204)
    }

    /// A copy may put a link in place of a directory.
    @Test func aCopyMakesALinkOfADirectory() async throws {
        try FileManager.default.createDirectory(
            atPath: share.path + "/source", withIntermediateDirectories: true)
        try share.link("source/s", to: "../tree")
        for path in ["/dav/d", "/dav/d/s"] {
            #expect(try await client.status("MKCOL", path) == 201)
        }
        #expect(try await client.status("PUT", "/dav/d/s/f", [], "d") == 201)
        #expect(try await client.status("COPY", "/dav/source", ["Destination: /dav/d"]) == 204)
        let token = try await client.lock("/dav/d/s/f")
        #expect(try await client.status("PUT", "/dav/tree/f", [], "y") == 423)
        let shown = ["If: (<\(token)>)"]
        #expect(try await client.status("PUT", "/dav/d/s/f", shown, "y") == 204)
        #expect(share.text("tree/f") == "y")
    }

    /// Replaces a cached directory by a link to another one.
    private func makeLinkOfDirectory() async throws {
        let manager = FileManager.default
        try manager.createDirectory(
            atPath: share.path + "/d", withIntermediateDirectories: true)
        #expect(try await client.status("PUT", "/dav/d/f", [], "old") == 201)
        try manager.removeItem(atPath: share.path + "/d")
        try share.link("d", to: "tree")
    }

    /// The lock must be on the link's target, or it would protect nothing.
    @Test func aLockWhereADirectoryHasBecomeALink() async throws {
        try await makeLinkOfDirectory()
        _ = try await client.lock("/dav/d/f")
        #expect(try await client.status("PUT", "/dav/tree/f", [], "y") == 423)
        #expect(share.text("tree/f") == "x")
    }

    @Test func propertiesOfALinkAreThoseOfTheLockedFile() async throws {
        let token = try await client.lock("/dav/real")
        #expect(try await client.status("PROPPATCH", "/dav/good", [], Self.patch) == 423)
        let shown = ["If: (<\(token)>)"]
        #expect(try await client.status("PROPPATCH", "/dav/good", shown, Self.patch) == 207)
        let text = try await client.send("PROPFIND", "/dav/real", ["Depth: 0"]).text
        #expect(text.contains("xmlns:ns0=\"u:\"") || text.contains("\"u:\""))
    }

    /// The link itself is locked, replaced and unlocked, as editors do.
    @Test func aLinkToAFileIsLockedAsAName() async throws {
        let token = try await client.lock("/dav/good")
        #expect(try await client.status("PUT", "/dav/good", [], "y") == 423)
        #expect(try await client.status("PUT", "/dav/good", ["If: (<\(token)>)"], "y") == 204)
        #expect(share.text("real") == "inside" && share.text("good") == "y")
        let unlocked = ["Lock-Token: <\(token)>"]
        #expect(try await client.status("UNLOCK", "/dav/good", unlocked) == 204)
    }

    /// Listings use the requested paths, because clients search them for those.
    @Test func readersSeeTheNamesThatTheyAskedFor() async throws {
        let text = try await client.send("PROPFIND", "/dav/again/", ["Depth: 1"]).text
        #expect(text.contains("<D:href>/dav/again/</D:href>"))
        #expect(text.contains("<D:href>/dav/again/f</D:href>"))
        let inner = try await client.send("PROPFIND", "/dav/again/sub", ["Depth: 1"]).text
        #expect(inner.contains("<D:href>/dav/again/sub/</D:href>"))
    }

    /// A stale cache entry must not bypass the lock.
    @Test func aDirectoryThatBecomesALink() async throws {
        try await makeLinkOfDirectory()
        _ = try await client.lock("/dav/tree/f")
        #expect(try await client.status("PUT", "/dav/d/f", [], "y") == 409)
        #expect(try await client.status("PUT", "/dav/d/f", [], "y") == 423)
        #expect(share.text("tree/f") == "x")
    }

    @Test func aLinkIntoOurOwnFolderLeadsNowhere() async throws {
        try share.link("own", to: ".httpkit-dav")
        #expect(try await client.status("PUT", "/dav/a", [], "x") == 201)
        #expect(try await client.status("PUT", "/dav/own/x", [], "x") == 403)
        #expect(try await client.status("COPY", "/dav/own", ["Destination: /dav/c"]) == 404)
    }

    @Test func aCopyOfALinkIsACopyOfWhatItLeadsTo() async throws {
        try share.link("tree/up", to: "../real")
        for (source, destination) in [
            ("again", "backup"), ("good", "tree/sub/x"), ("tree/up", "y"), ("again/up", "z"),
        ] {
            let status = try await client.status(
                "COPY", "/dav/" + source, ["Destination: /dav/" + destination])
            #expect(status == 201, "\(source)")
        }
        #expect(try await client.status("DELETE", "/dav/again/f") == 204)
        #expect(share.text("backup/f") == "x" && share.text("tree/f") == nil)
        for name in ["tree/sub/x", "y", "z"] {
            #expect(try await client.send("GET", "/dav/" + name).text == "inside", "\(name)")
            #expect(try await client.status("PUT", "/dav/" + name, [], "new") == 204)
        }
        #expect(share.text("real") == "inside")
        // A shallow copy that replaces a collection.
        let fields = ["Destination: /dav/backup", "Depth: 0"]
        #expect(try await client.status("COPY", "/dav/again", fields) == 204)
        #expect(try await client.status("PROPFIND", "/dav/backup/f", ["Depth: 0"]) == 404)
    }

    @Test(arguments: [
        ("tree/f", false, "tree/f"), ("again/f", false, "tree/f"), ("again", false, "again"),
        ("again", true, "tree"), ("again/none/x", false, "tree/none/x"), ("good", true, "real"),
        ("two/f", false, "tree/f"), ("two/sub/back/f", false, "tree/f"), ("loop/x", false, nil),
        ("out/x", false, nil), ("absolute/x", false, nil), ("dead", true, "none/y"),
        ("good/x", false, nil), ("", false, ""),
    ])
    func theRealPath(_ path: String, _ followsLast: Bool, _ expected: String?) throws {
        try share.link("two", to: "./again")
        try share.link("tree/sub/back", to: "../../again/")
        try share.link("loop", to: "loop")
        try share.link("out", to: "..")
        try share.link("absolute", to: share.path + "/tree")
        try share.link("dead", to: "none/y")
        let tree = try FileTree(share.path)
        let found = try? tree.realPath(of: Array(path.utf8), followsLast: followsLast)
        #expect(found.map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test func linksAreNotFollowedUnlessWanted() async throws {
        let client = DAVClient(store: try LocalStore(root: share.path, followsLinks: false))
        for path in ["good", "again/", "again/f"] {
            #expect(try await client.status("GET", "/dav/" + path) == 404, "\(path)")
        }
        #expect(try await client.status("PUT", "/dav/again/n", [], "x") == 409)
        #expect(try await client.status("COPY", "/dav/good", ["Destination: /dav/c"]) == 404)
        let list = try await client.send("PROPFIND", "/dav/", ["Depth: 1"]).text
        #expect(list.contains("/dav/real<") && !list.contains("good") && !list.contains("again"))
        #expect(try await client.send("GET", "/dav/tree/f").text == "x")
    }

    /// On systems without O_PATH this is the only check against links.
    @Test func aPathIsNotResolvedWhereLinksAreNotFollowed() throws {
        let tree = try FileTree(share.path, followsLinks: false)
        for (path, followsLast) in [("good", true), ("again/f", false)] {
            #expect(throws: SystemError.self) {
                try tree.realPath(of: Array(path.utf8), followsLast: followsLast)
            }
        }
        let plain = Array("tree/f".utf8)
        #expect(try tree.realPath(of: plain, followsLast: true) == plain)
    }

    // MARK: Case and Unicode

    @Test func whereCaseDoesNotCountThereIsOneSpelling() throws {
        try share.write("x", "tree/File")
        let canonicalNames = CanonicalNameCache(try FileTree(share.path), ignoresCase: true)
        for (path, expected) in [
            ("TREE/file", "tree/File"), ("Tree/F", "tree/f"), ("tree/New", "tree/New"),
            ("AGAIN/FILE", "again/File"), ("Tree", "tree"),
        ] {
            let path = try #require(ResourcePath(path))
            #expect(!canonicalNames.isKnown(path))
            let found = try canonicalNames.canonical(path, followsLast: false)
            #expect(found == ResourcePath(expected))
        }
        let others = CanonicalNameCache(try FileTree(share.path), ignoresCase: false)
        let path = try #require(ResourcePath("TREE/file"))
        #expect(try others.canonical(path, followsLast: false) == path)
    }

    @Test func whatWasSeenTakesNoSecondLook() throws {
        let canonicalNames = CanonicalNameCache(try FileTree(share.path), ignoresCase: false)
        let path = try #require(ResourcePath("tree/f"))
        #expect(!canonicalNames.isKnown(path))
        #expect(try canonicalNames.canonical(path, followsLast: false) == path)
        #expect(canonicalNames.isKnown(path))
        #expect(canonicalNames.isKnown(try #require(ResourcePath("tree/other"))))
        #expect(canonicalNames.isKnown(try #require(ResourcePath("good"))))
        let linked = try #require(ResourcePath("again/f"))
        #expect(try canonicalNames.canonical(linked, followsLast: false) == path)
        #expect(!canonicalNames.isKnown(linked))
        canonicalNames.forget()
        #expect(!canonicalNames.isKnown(path))
    }

    @Test(arguments: [
        ("%C3%A4/%C3%B6", "a%CC%88/o%CC%88"), ("%ED%95%9C", "%E1%84%92%E1%85%A1%E1%86%AB"),
        ("x/%C3%A4.txt", "x/a%CC%88.txt"),
    ])
    func bothFormsOfUnicodeAreFound(_ composed: String, _ decomposed: String) async throws {
        for (first, second) in [(composed, decomposed), (decomposed, composed)] {
            let share = try Share()
            let client = try share.client()
            for (depth, name) in first.split(separator: "/").enumerated() where depth > 0 {
                let folder = first.dropLast(name.utf8.count + 1)
                #expect(try await client.status("MKCOL", "/dav/" + folder) == 201)
            }
            #expect(try await client.status("PUT", "/dav/" + first, [], "x") == 201)
            #expect(try await client.send("GET", "/dav/" + second).text == "x")
            #expect(try await client.status("PUT", "/dav/" + second, [], "y") == 204)
            #expect(try await client.status("DELETE", "/dav/" + second) == 204)
        }
    }

    @Test("MOVE can change the Unicode form of the name of a file or folder")
    func respelled() async throws {
        let (composed, decomposed) = ("/dav/%C3%A4", "/dav/a%CC%88")
        let target = "Destination: " + decomposed
        for method in ["PUT", "MKCOL"] {
            #expect(try await client.status(method, composed) == 201)
            #expect(try await client.status("PROPPATCH", composed, [], Self.patch) == 207)
            // A move to the same spelling, and a copy onto itself.
            let same = try await client.status("MOVE", composed, ["Destination: " + composed])
            #expect(same == 403)
            #expect(try await client.status("COPY", composed, [target]) == 403)
            let token = try await client.lock(composed)
            #expect(try await client.status("MOVE", composed, [target]) == 423)
            let fields = [target, "Overwrite: F", "If: <\(composed)> (<\(token)>)"]
            #expect(try await client.status("MOVE", composed, fields) == 201)
            let list = try await client.send("PROPFIND", "/dav/", ["Depth: 1"]).text
            #expect(list.contains(decomposed + (method == "PUT" ? "<" : "/<")))
            #expect(!list.contains(composed) && !list.contains(token))
            // The properties have moved with the file, and the lock has not.
            let found = try await client.send("PROPFIND", decomposed, ["Depth: 0"], Self.named)
            #expect(found.text.contains(">1<"))
            #expect(try await client.status("DELETE", decomposed) == 204)
        }
    }

    private static let named = """
        <propfind xmlns="DAV:"><prop><p xmlns="u:"/></prop></propfind>
        """
}
