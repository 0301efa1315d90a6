import HTTPParser
import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem
import WebDAVKit

@Suite("RFC 4918, 6, 7, 9.10 and 10.4: Locking")
struct WebDAVLockTests {
    private let client = DAVClient()

    @Test func anExclusiveLockKeepsOthersOut() async throws {
        _ = try await client.send("PUT", "/dav/a", [], "x")
        let answer = try await client.send(
            "LOCK", "/dav/a", ["Timeout: Second-600"], DAVClient.lockInfo())
        #expect(answer.status == 200)
        let token = String((answer["Lock-Token"] ?? "").dropFirst().dropLast())
        // Windows omits Depth.
        #expect(answer.text.contains("<D:depth>infinity</D:depth>"))
        #expect(answer.text.contains("<href>mailto:ann@example.org</href>"))
        #expect(answer.text.contains("<D:timeout>Second-600</D:timeout>"))
        #expect(answer.text.contains("<D:lockroot><D:href>/dav/a</D:href></D:lockroot>"))
        let refused = try await client.send("PUT", "/dav/a", [], "y")
        #expect(refused.status == 423)
        #expect(refused.text.contains("<D:lock-token-submitted><D:href>/dav/a</D:href>"))
        for (method, fields) in [
            ("DELETE", []), ("MOVE", ["Destination: /dav/b"]), ("PROPPATCH", []),
        ] {
            let content =
                method == "PROPPATCH"
                ? "<propertyupdate xmlns=\"DAV:\"><remove><prop><x/></prop></remove></propertyupdate>"
                : ""
            #expect(try await client.status(method, "/dav/a", fields, content) == 423, "\(method)")
        }
        #expect(try await client.status("COPY", "/dav/a", ["Destination: /dav/b"]) == 201)
        #expect(try await client.status("COPY", "/dav/b", ["Destination: /dav/a"]) == 423)
        let second = try await client.send("LOCK", "/dav/a", [], DAVClient.lockInfo("shared"))
        #expect(second.status == 423 && second.text.contains("<D:no-conflicting-lock>"))
        #expect(try await client.status("PUT", "/dav/a", ["If: (<\(token)>)"], "y") == 204)
        #expect(try await client.status("PUT", "/dav/a", ["If: (<\(token)x>)"], "y") == 412)
        #expect(
            try await client.status("PUT", "/dav/a", ["If: (<\(token)x>) (Not <DAV:no-lock>)"], "y")
                == 423)
        #expect(try await client.status("PUT", "/dav/a", ["If: nonsense"], "y") == 400)
        #expect(try await client.status("LOCK", "/dav/a", ["If: (<\(token)>)"]) == 200)
        #expect(try await client.status("LOCK", "/dav/a") == 400)
        #expect(try await client.status("UNLOCK", "/dav/b", ["Lock-Token: <\(token)>"]) == 409)
        #expect(try await client.status("UNLOCK", "/dav/a", ["Lock-Token: <\(token)>"]) == 204)
        #expect(try await client.status("UNLOCK", "/dav/a", ["Lock-Token: <\(token)>"]) == 409)
        #expect(try await client.status("PUT", "/dav/a", [], "z") == 204)
    }

    @Test func lockedNamesBecomeEmptyFiles() async throws {
        let answer = try await client.send("LOCK", "/dav/new", [], DAVClient.lockInfo())
        #expect(answer.status == 201)
        #expect(try await client.send("GET", "/dav/new").text == "")
        #expect(try await client.status("LOCK", "/dav/none/new", [], DAVClient.lockInfo()) == 409)
        #expect(
            try await client.status("LOCK", "/dav/b", ["Depth: 1"], DAVClient.lockInfo()) == 400)
    }

    @Test func aCollectionsLockCountsForItsMembers() async throws {
        _ = try await client.send("MKCOL", "/dav/c")
        _ = try await client.send("PUT", "/dav/c/f", [], "x")
        let flat = try await client.lock("/dav/c", depth: "0")
        // The membership is locked, the content of members is not (section 7.4).
        #expect(try await client.status("PUT", "/dav/c/f", [], "y") == 204)
        #expect(try await client.status("PUT", "/dav/c/g", [], "y") == 423)
        #expect(try await client.status("DELETE", "/dav/c/f") == 423)
        let tagged = "If: </dav/c> (<\(flat)>)"
        #expect(try await client.status("PUT", "/dav/c/g", [tagged], "y") == 201)
        #expect(try await client.status("UNLOCK", "/dav/c", ["Lock-Token: <\(flat)>"]) == 204)
        let deep = try await client.lock("/dav/c")
        #expect(try await client.status("PUT", "/dav/c/f", [], "y") == 423)
        #expect(try await client.status("PUT", "/dav/c/f", ["If: (<\(deep)>)"], "y") == 204)
        #expect(try await client.status("UNLOCK", "/dav/c/f", ["Lock-Token: <\(deep)>"]) == 204)
    }

    @Test func aLockedMemberKeepsItsTree() async throws {
        _ = try await client.send("MKCOL", "/dav/c")
        _ = try await client.send("PUT", "/dav/c/f", [], "x")
        _ = try await client.send("PUT", "/dav/c/g", [], "x")
        let token = try await client.lock("/dav/c/f")
        for (method, fields) in [("DELETE", []), ("MOVE", ["Destination: /dav/d"])] {
            let answer = try await client.send(method, "/dav/c", fields)
            #expect(answer.status == 207 && answer.text.contains("<D:href>/dav/c/f</D:href>"))
            #expect(answer.text.contains("HTTP/1.1 423 Locked"))
        }
        #expect(try await client.status("GET", "/dav/c/g") == 200)
        let shown = "If: </dav/c/f> (<\(token)>)"
        #expect(try await client.status("MOVE", "/dav/c", ["Destination: /dav/d", shown]) == 201)
        // The lock was not moved with the file.
        #expect(try await client.status("PUT", "/dav/d/f", [], "y") == 204)
        #expect(try await client.status("MKCOL", "/dav/c") == 201)
        #expect(try await client.status("PUT", "/dav/c/f", [], "y") == 201)
    }

    @Test func oneOfTheSharedTokensIsEnough() async throws {
        _ = try await client.send("PUT", "/dav/a", [], "x")
        let first = try await client.lock("/dav/a", scope: "shared")
        let second = try await client.lock("/dav/a", scope: "shared")
        #expect(first != second && !second.isEmpty)
        #expect(try await client.status("PUT", "/dav/a", [], "y") == 423)
        #expect(try await client.status("PUT", "/dav/a", ["If: (<\(first)>)"], "y") == 204)
        #expect(try await client.status("LOCK", "/dav/a", [], DAVClient.lockInfo()) == 423)
    }

    @Test func ifCountsForUnlockAsWell() async throws {
        let token = try await client.lock("/dav/a")
        let field = "Lock-Token: <\(token)>"
        for wrong in ["If: (<urn:uuid:0>)", "If: ([\"other\"])", "If-Match: \"other\""] {
            #expect(try await client.status("UNLOCK", "/dav/a", [field, wrong]) == 412, "\(wrong)")
        }
        #expect(try await client.status("UNLOCK", "/dav/a", [field, "If: (<"]) == 400)
        #expect(try await client.status("PUT", "/dav/a", [], "x") == 423)
        #expect(
            try await client.status("UNLOCK", "/dav/a", [field, "If: (<\(token)>)"]) == 204)
        #expect(try await client.status("PUT", "/dav/a", [], "x") == 204)
    }

    @Test func theLockThatIsInTheWayIsNamed() async throws {
        _ = try await client.send("MKCOL", "/dav/c")
        _ = try await client.send("PUT", "/dav/c/f", [], "x")
        _ = try await client.send("PUT", "/dav/g", [], "x")
        let flat = try await client.lock("/dav/c", depth: "0")
        let submitted = "<D:lock-token-submitted><D:href>"
        // Changes of the membership are refused because of the collection's lock.
        for (method, path, fields) in [
            ("PUT", "/dav/c/new", []), ("DELETE", "/dav/c/f", []), ("MKCOL", "/dav/c/new", []),
            ("MOVE", "/dav/c/f", ["Destination: /dav/f"]),
            ("COPY", "/dav/g", ["Destination: /dav/c/g"]),
        ] {
            let answer = try await client.send(method, path, fields, method == "PUT" ? "x" : "")
            #expect(answer.status == 423, "\(method)")
            #expect(
                answer.text.contains(submitted + "/dav/c/</D:href></D:lock"), "\(answer.text)")
        }
        #expect(try await client.status("UNLOCK", "/dav/c", ["Lock-Token: <\(flat)>"]) == 204)
        _ = try await client.lock("/dav/c")
        _ = try await client.lock("/dav/g")
        let inside = try await client.send("PUT", "/dav/c/f", [], "y")
        #expect(inside.text.contains(submitted + "/dav/c/</D:href></D:lock"))
        let target = try await client.send("COPY", "/dav/c/f", ["Destination: /dav/g"])
        #expect(target.status == 423)
        #expect(target.text.contains(submitted + "/dav/g</D:href></D:lock"))
    }

    @Test func locksEndByThemselves() async throws {
        let clock = Clock()
        let client = DAVClient(locks: MemoryLockStore(limit: 10) { clock.now })
        _ = try await client.send("PUT", "/dav/a", [], "x")
        _ = try await client.send("LOCK", "/dav/a", ["Timeout: Second-100"], DAVClient.lockInfo())
        clock.now = 1099
        #expect(try await client.status("PUT", "/dav/a", [], "y") == 423)
        clock.now = 1100
        #expect(try await client.status("PUT", "/dav/a", [], "y") == 204)
    }

    private func lockForAWhile(_ client: DAVClient) async throws -> String {
        let answer = try await client.send(
            "LOCK", "/dav/a", ["Timeout: Second-100"], DAVClient.lockInfo())
        return try #require(answer["Lock-Token"])
    }

    @Test func aRefreshMovesTheEnd() async throws {
        let clock = Clock()
        let client = DAVClient(locks: MemoryLockStore(limit: 10) { clock.now })
        _ = try await client.send("PUT", "/dav/a", [], "x")
        let shown = "If: (\(try await lockForAWhile(client)))"
        clock.now = 1050
        let answer = try await client.send("LOCK", "/dav/a", [shown, "Timeout: Second-100"])
        #expect(answer.status == 200 && answer["Lock-Token"] == nil)
        clock.now = 1149
        #expect(try await client.status("PUT", "/dav/a", [], "y") == 423)
        clock.now = 1150
        #expect(try await client.status("PUT", "/dav/a", [], "y") == 204)
        let late = try await client.send("LOCK", "/dav/a", [shown])
        #expect(late.status == 412)
        #expect(late.text.contains("<D:error xmlns:D=\"DAV:\"><D:lock-token-matches-request-uri/>"))
    }

    @Test func aRefreshIsCheckedAskedForAndTold() async throws {
        let clock = Clock()
        let (isAllowed, told) = (Locked(true), Locked<[WebDAVOperation]>([]))
        var options = WebDAVOptions()
        options.shouldPerform = { _, _ in isAllowed.withLock { $0 } }
        options.didPerform = { operation, _ in told.withLock { $0.append(operation) } }
        let client = DAVClient(
            locks: MemoryLockStore(limit: 10) { clock.now }, options: options)
        let tag = try #require(try await client.send("PUT", "/dav/a", [], "x")["ETag"])
        let token = try await lockForAWhile(client)
        clock.now = 1050
        let shown = "If: (\(token))"
        for fields in [
            [shown, "If-Match: \"other\""], [shown, "If-None-Match: \(tag)"],
            ["If: (Not \(token))"], ["If: (\(token) [\"other\"])"], ["If: (<urn:uuid:0>)"],
        ] {
            #expect(try await client.status("LOCK", "/dav/a", fields) == 412, "\(fields)")
        }
        isAllowed.withLock { $0 = false }
        #expect(try await client.status("LOCK", "/dav/a", [shown]) == 403)
        isAllowed.withLock { $0 = true }
        let path = try #require(ResourcePath("a"))
        #expect(told.withLock { $0 } == [.upload(path), .lock(path)])
        // None of these requests has extended the lock.
        clock.now = 1100
        let again = try await lockForAWhile(client)
        let fields = ["If: (\(again) [\(tag)])", "If-Match: \(tag)"]
        #expect(try await client.status("LOCK", "/dav/a", fields) == 200)
        #expect(
            told.withLock { $0 } == [.upload(path), .lock(path), .lock(path), .lock(path)])
    }

    @Test func membersThatAreInTheWayOfATreeAreNamed() async throws {
        for path in ["/dav/c", "/dav/c/d"] { _ = try await client.send("MKCOL", path) }
        _ = try await client.send("PUT", "/dav/c/f", [], "x")
        let file = try await client.lock("/dav/c/f", scope: "shared")
        let inner = try await client.lock("/dav/c/d")
        let answer = try await client.send("LOCK", "/dav/c", [], DAVClient.lockInfo())
        #expect(answer.status == 207 && answer["Lock-Token"] == nil)
        _ = try XMLReader.read(answer.content)
        for name in ["/dav/c/f", "/dav/c/d/"] {
            let response =
                "<D:href>\(name)</D:href><D:status>HTTP/1.1 423 Locked</D:status>"
                + "<D:error><D:no-conflicting-lock><D:href>\(name)</D:href>"
            #expect(answer.text.contains(response), "\(answer.text)")
        }
        // RFC 4918 section 9.10.3.
        #expect(
            answer.text.contains(
                "<D:href>/dav/c/</D:href><D:status>HTTP/1.1 424 Failed Dependency</D:status>"))
        let shared = try await client.send("LOCK", "/dav/c", [], DAVClient.lockInfo("shared"))
        #expect(shared.status == 207 && !shared.text.contains("/dav/c/f<"))
        // A lock of depth 0 does not lock the members.
        let flat = try await client.send(
            "LOCK", "/dav/c", ["Depth: 0"], DAVClient.lockInfo())
        #expect(flat.status == 200)
        #expect(flat.text.contains("<D:lockroot><D:href>/dav/c/</D:href></D:lockroot>"))
        // A conflict on the resource itself is the status of the response.
        let second = try await client.send("LOCK", "/dav/c", [], DAVClient.lockInfo())
        #expect(second.status == 423 && second.text.contains("<D:no-conflicting-lock>"))
        let below = try await client.send("LOCK", "/dav/c/d", [], DAVClient.lockInfo())
        #expect(below.status == 423)
        #expect(below.text.contains("<D:no-conflicting-lock><D:href>/dav/c/d/</D:href>"))
        for (path, token) in [("/dav/c/f", file), ("/dav/c/d", inner)] {
            #expect(try await client.status("UNLOCK", path, ["Lock-Token: <\(token)>"]) == 204)
        }
    }

    @Test func aListingTellsTheLocksOfEach() async throws {
        for path in ["/dav/c", "/dav/c/d", "/dav/c/e"] { _ = try await client.send("MKCOL", path) }
        for path in ["/dav/c/f", "/dav/c/d/f", "/dav/c/d-f", "/dav/c/e/f"] {
            _ = try await client.send("PUT", path, [], "x")
        }
        let deep = try await client.lock("/dav/c/d", scope: "shared")
        let file = try await client.lock("/dav/c/d/f", scope: "shared")
        let flat = try await client.lock("/dav/c/e", depth: "0")
        let content = "<propfind xmlns=\"DAV:\"><prop><lockdiscovery/></prop></propfind>"
        let text = try await client.send("PROPFIND", "/dav/c", [], content).text
        let pattern = /<D:response><D:href>([^<]*)<\/D:href>(.*)<\/D:response>/
        var found: [String: [String]] = [:]
        for match in text.matches(of: pattern) {
            found[String(match.output.1)] = [deep, file, flat].filter {
                match.output.2.contains($0)
            }
        }
        #expect(found["/dav/c/d/"] == [deep] && found["/dav/c/d/f"] == [deep, file])
        #expect(found["/dav/c/e/"] == [flat] && found["/dav/c/e/f"] == [])
        #expect(found["/dav/c/"] == [] && found["/dav/c/d-f"] == [] && found["/dav/c/f"] == [])
        // A listing of a member has the locks of its parents.
        let inner = try await client.send("PROPFIND", "/dav/c/d/f", ["Depth: 0"], content).text
        #expect(inner.contains(deep) && inner.contains(file))
        #expect(inner.contains("<D:lockroot><D:href>/dav/c/d/</D:href></D:lockroot>"))
    }

    @Test("The root of a lock is percent-encoded")
    func lockRootIsEncoded() async throws {
        #expect(try await client.status("MKCOL", "/dav/a%20b") == 201)
        let path = "/dav/a%20b/%C3%BC%25%26"
        let answer = try await client.send("LOCK", path, [], DAVClient.lockInfo())
        #expect(answer.status == 201)
        #expect(answer.text.contains("<D:lockroot><D:href>\(path)</D:href></D:lockroot>"))
        let root = try await client.send("LOCK", "/dav/", [], DAVClient.lockInfo("shared"))
        #expect(root.status == 207 && root.text.contains("<D:href>\(path)</D:href>"))
    }

    @Test func timeoutsAreCutToWhatCanBeTold() async throws {
        var options = WebDAVOptions()
        func answer(_ timeout: [String]) async throws -> String {
            try await DAVClient(options: options)
                .send("LOCK", "/dav/a", timeout, DAVClient.lockInfo()).text
        }
        let infinite = ["Timeout: Infinite, Second-4100000000"]
        #expect(try await answer(infinite).contains("<D:timeout>Second-3"))
        options.lockTimeout = 7
        #expect(try await answer(infinite).contains(/<D:timeout>Second-[0-7]</))
        #expect(try await answer([]).contains(/<D:timeout>Second-[0-7]</))
        options.lockTimeout = .max
        // The field has 32 bits.
        #expect(try await answer(infinite).contains("<D:timeout>Second-4294"))
    }

    @Test func tokensOfOtherResourcesAreNamedAsSuch() async throws {
        _ = try await client.send("PUT", "/dav/b", [], "x")
        let token = try await client.lock("/dav/a")
        let condition = "<D:error xmlns:D=\"DAV:\"><D:lock-token-matches-request-uri/></D:error>"
        let unlock = try await client.send("UNLOCK", "/dav/b", ["Lock-Token: <\(token)>"])
        #expect(unlock.status == 409 && unlock.text.contains(condition))
        let refresh = try await client.send("LOCK", "/dav/b", ["If: (<\(token)>)"])
        #expect(refresh.status == 412 && refresh.text.contains(condition))
    }

    /// The application provides the lock store; its faults must not block requests for ever.
    @Test(arguments: ["DELETE", "MOVE", "COPY"])
    func aStoreThatKeepsTheLocksOfGoneMembersHoldsNothingUp(_ method: String) async throws {
        let store = MemoryStore()
        let client = DAVClient(store: store, locks: KeepingLockStore())
        for path in ["/dav/c", "/dav/c/in", "/dav/other"] {
            #expect(try await client.status("MKCOL", path) == 201)
        }
        for name in ["gone", "in/gone"] { _ = try await client.lock("/dav/c/" + name) }
        for name in ["c/gone", "c/in"] {
            _ = try await store.remove(try #require(ResourcePath(name)))
        }
        let source = method == "COPY" ? "/dav/other" : "/dav/c"
        let fields = ["Destination: " + (method == "COPY" ? "/dav/c" : "/dav/d")]
        let status = try await client.status(method, source, fields)
        #expect(status < 300 && status != 207, "\(status)")
    }

    @Test("A refused LOCK removes its empty file, unless it was written meanwhile")
    func refusedLock() async throws {
        let share = try Share()
        let locks = FullLockStore()
        let client = DAVClient(store: try LocalStore(root: share.path), locks: locks)
        let lock = DAVClient.lockInfo()
        #expect(try await client.send("LOCK", "/dav/a", [], lock).status == 503)
        #expect(share.text("a") == nil)
        locks.beforeRefusal.withLock { $0 = { try share.write("new", "a") } }
        #expect(try await client.send("LOCK", "/dav/a", [], lock).status == 503)
        #expect(share.text("a") == "new")
    }
}

/// A lock store that is full.
private final class FullLockStore: LockStore {
    /// Runs before each refusal.
    let beforeRefusal = Locked<@Sendable () throws -> Void>({})

    func add(_ lock: ActiveLock) async throws -> ActiveLock {
        try beforeRefusal.withLock { $0 }()
        throw WebDAVError(.serviceUnavailable)
    }

    func refresh(_ token: LockToken, timeout: Int) async throws -> ActiveLock? { nil }

    func remove(_ token: LockToken) async throws {}

    func locks(on path: ResourcePath, andInside isTree: Bool) async throws -> [ActiveLock] { [] }

    func removeAll(inside path: ResourcePath, includingRoot: Bool) async throws {}
}

/// A lock store that ignores removals, as one whose file or server is gone.
private final class KeepingLockStore: LockStore {
    private let inner = MemoryLockStore()

    func add(_ lock: ActiveLock) async throws -> ActiveLock { try await inner.add(lock) }

    func refresh(_ token: LockToken, timeout: Int) async throws -> ActiveLock? {
        try await inner.refresh(token, timeout: timeout)
    }

    func remove(_ token: LockToken) async throws {}

    func locks(on path: ResourcePath, andInside isTree: Bool) async throws -> [ActiveLock] {
        try await inner.locks(on: path, andInside: isTree)
    }

    func removeAll(inside path: ResourcePath, includingRoot: Bool) async throws {}
}

/// A clock that advances only when it is set.
private final class Clock: Sendable {
    private let time = Locked<Int64>(1000)

    var now: Int64 {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }
}
