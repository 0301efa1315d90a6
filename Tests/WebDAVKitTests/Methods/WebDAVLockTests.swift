import HTTPCodecs
import TestSupport
import Testing
import WebDAVKit

@Suite("RFC 4918 sections 6, 7, 9.10 and 10.4: locking")
struct WebDAVLockTests {
    private let client = DAVClient()

    @Test func anExclusiveLockKeepsOthersOut() async throws {
        _ = try await client.send("PUT", "/dav/a", [], "x")
        let answer = try await client.send(
            "LOCK", "/dav/a", ["Timeout: Second-600"], DAVClient.lockInfo())
        #expect(answer.status == 200)
        let token = String((answer["Lock-Token"] ?? "").dropFirst().dropLast())
        // Windows leaves Depth out.
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
        // Membership is locked, what members hold is not (section 7.4).
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
        // The lock has not moved along.
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
        // What would change the membership is refused for the lock of the collection.
        for (method, path, fields) in [
            ("PUT", "/dav/c/new", []), ("DELETE", "/dav/c/f", []), ("MKCOL", "/dav/c/new", []),
            ("MOVE", "/dav/c/f", ["Destination: /dav/f"]),
            ("COPY", "/dav/g", ["Destination: /dav/c/g"]),
        ] {
            let answer = try await client.send(method, path, fields, method == "PUT" ? "x" : "")
            #expect(answer.status == 423, "\(method)")
            #expect(answer.text.contains(submitted + "/dav/c</D:href></D:lock"), "\(answer.text)")
        }
        #expect(try await client.status("UNLOCK", "/dav/c", ["Lock-Token: <\(flat)>"]) == 204)
        _ = try await client.lock("/dav/c")
        _ = try await client.lock("/dav/g")
        let inside = try await client.send("PUT", "/dav/c/f", [], "y")
        #expect(inside.text.contains(submitted + "/dav/c</D:href></D:lock"))
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
}

/// A clock that stands still until it is set.
private final class Clock: Sendable {
    private let time = Locked<Int64>(1000)

    var now: Int64 {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }
}
