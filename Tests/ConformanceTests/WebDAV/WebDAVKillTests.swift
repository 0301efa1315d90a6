import Foundation
import HTTPParser
import TestSupport
import Testing
import ToolkitSystem
import URLClient

/// Servers that are killed while they write. `WEBDAV_KILLS` sets the number of kills; the default
/// is 6.
@Suite("httpkit serve --webdav, killed at random times", .fewAtOnce)
struct WebDAVKillTests {
    private let share: Folder
    private let place: Folder
    private let old = [UInt8].noise(6 << 20, seed: 1)
    private let new = [UInt8].noise(6 << 20, seed: 2)

    init() throws {
        (share, place) = (try Folder(), try Folder())
        try place.write(new, to: "new")
        try place.write("", to: "empty")
    }

    private func serve() async throws -> ServeProcess {
        try await ServeProcess(
            share, ["--webdav", "/dav", "--webdav-locks", place.path + "/locks"])
    }

    /// Each file is completely old or new; two properties that are set together agree; granted
    /// locks are kept; and after the next start there are no temporary files.
    @Test func nothingIsLostOrHalfDone() async throws {
        let rounds = ProcessInfo.processInfo.environment["WEBDAV_KILLS"].flatMap { Int($0) } ?? 6
        try share.write("x", to: "props")
        var server = try await serve()
        _ = try await server.curl("-X", "PROPPATCH", "-d", Self.patch(-2), path: "/dav/props")
        for round in 0..<rounds {
            try await prepare(server)
            let before = try await values(server)
            let isMove = round % 2 == 1
            let victim = server
            async let put = curl(["-T", place.path + "/new", victim.url("/dav/put")])
            async let tree = curl([
                "-X", isMove ? "MOVE" : "COPY", "-H", "Destination: /dav/target",
                victim.url("/dav/source"),
            ])
            async let patch = curl([
                "-X", "PROPPATCH", "-d", Self.patch(round), victim.url("/dav/props"),
            ])
            async let lock = curl([
                "-i", "-X", "LOCK", "-d", Self.lockInfo, victim.url("/dav/locked"),
            ])
            try await Task.sleep(for: .microseconds(Int.random(in: 0..<60_000)))
            server.signal(SIGKILL)
            _ = await server.waitForEnd()
            let (_, _, patched, locked) = try await (put, tree, patch, lock)
            server = try await serve()
            checkFiles(round, isMove: isMove)
            try await checkProperties(server, round)
            let after = try await values(server)
            #expect(after.count == 2 && after.first == after.last, "round \(round): \(after)")
            let isPatched = patched.text.contains("HTTP/1.1 200")
            #expect(after.first == "\(round)" || (!isPatched && after == before), "round \(round)")
            try await checkLock(locked.text, server, round)
        }
    }

    /// A lock never outlives its resource, even if the server is killed: after the next start, a
    /// folder whose members were locked and removed can be removed.
    @Test func noLockOutlivesItsResource() async throws {
        let rounds = ProcessInfo.processInfo.environment["WEBDAV_KILLS"].flatMap { Int($0) } ?? 6
        var server = try await serve()
        for round in 0..<rounds {
            #expect(try await server.status(.mkcol, "/dav/folder") == 201, "round \(round)")
            let victim = server
            let removed = Locked(0)
            let workers = (0..<4).map { worker in
                Task {
                    for count in 0... {
                        let path = "/dav/folder/\(worker)-\(count)"
                        let locked = try await victim.send(.lock, path, body: .text(Self.lockInfo))
                        let token = try #require(locked.fields["Lock-Token"], "\(locked.text)")
                        let status = try await victim.status(.delete, path, ["If": "(\(token))"])
                        #expect(status == 204, "\(path)")
                        removed.withLock { $0 += 1 }
                    }
                }
            }
            defer { for worker in workers { worker.cancel() } }
            // Waits until some locks have been created and removed.
            try await waitUntil { removed.withLock { $0 } >= 8 }
            try await Task.sleep(for: .microseconds(Int.random(in: 0..<80_000)))
            server.signal(SIGKILL)
            _ = await server.waitForEnd()
            for worker in workers { _ = await worker.result }
            let names = try FileManager.default.contentsOfDirectory(
                atPath: share.path + "/folder")
            server = try await serve()
            // Remaining files may be locked; any other lock has no resource.
            let kept = share.path + "/folder/"
            for name in names { try FileManager.default.removeItem(atPath: kept + name) }
            let answer = try await server.send(.delete, "/dav/folder")
            #expect(answer.status.code == 204, "round \(round): \(answer.text)")
        }
    }

    private func curl(_ arguments: [String]) async throws -> Program.Result {
        try await Program.run("curl", ["-s", "-m", "60"] + arguments)
    }

    private func prepare(_ server: ServeProcess) async throws {
        for name in ["target", "source", "locked"] {
            try? FileManager.default.removeItem(atPath: share.path + "/" + name)
        }
        try share.write(old, to: "put")
        try share.write(old, to: "target/a")
        try share.write(new, to: "source/a")
        _ = try await server.curl(
            "-X", "PROPPATCH", "-d", Self.patch(-1), path: "/dav/source/a")
    }

    private func checkFiles(_ round: Int, isMove: Bool) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: share.path)) ?? []
        var known: Set = ["put", "target", "source", "props", "locked"]
        // If files cannot have extended attributes, properties are stored there.
        let own = share.path + "/.httpkit-dav"
        let kept = try? FileManager.default.contentsOfDirectory(atPath: own)
        if kept == ["properties"] { known.insert(".httpkit-dav") }
        #expect(Set(names).isSubset(of: known), "round \(round): \(names)")
        let locks = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
        #expect(!locks.contains("locks.new"), "round \(round)")
        let put = share.bytes("put")
        #expect(put == old || put == new, "round \(round): \(put.count) bytes")
        let (source, target) = (share.bytes("source/a"), share.bytes("target/a"))
        #expect(target == old || target == new, "round \(round): \(target.count) bytes")
        let isSourceThere = names.contains("source")
        #expect(!isSourceThere || source == new, "round \(round): \(source.count) bytes")
        #expect(isSourceThere == (target == old || !isMove), "round \(round)")
    }

    /// A copy has the properties of its source.
    private func checkProperties(_ server: ServeProcess, _ round: Int) async throws {
        guard share.bytes("target/a") == new else { return }
        let text = try await server.curl(
            "-X", "PROPFIND", "-H", "Depth: 0", path: "/dav/target/a"
        ).text
        #expect(text.contains(">-1</z:p>"), "round \(round)")
    }

    /// A granted lock is kept. A lock without a response may exist or not, consistently.
    private func checkLock(_ answer: String, _ server: ServeProcess, _ round: Int) async throws {
        let granted = answer.firstMatch(of: /Lock-Token: <([^>]*)>/).map { String($0.output.1) }
        let found = try await server.curl(
            "-X", "PROPFIND", "-H", "Depth: 0", path: "/dav/locked"
        ).text.firstMatch(of: /<D:locktoken><D:href>([^<]*)</).map { String($0.output.1) }
        if let granted { #expect(found == granted, "round \(round)") }
        let status = try await server.curl(
            "-o", place.path + "/answer", "-T", place.path + "/empty", "-w", "%{http_code}",
            path: "/dav/locked"
        ).text
        guard let found else {
            #expect(status == "201" || status == "204", "round \(round): \(status)")
            return
        }
        #expect(status == "423", "round \(round): \(status)")
        let unlocked = try await server.curl(
            "-X", "UNLOCK", "-H", "Lock-Token: <\(found)>", "-w", "%{http_code}",
            path: "/dav/locked")
        #expect(unlocked.text == "204", "round \(round)")
    }

    private func values(_ server: ServeProcess) async throws -> [String] {
        let text = try await server.curl(
            "-X", "PROPFIND", "-H", "Depth: 0", path: "/dav/props"
        ).text
        return text.matches(of: />(-?[0-9]+)<\/z:[pq]>/).map { String($0.output.1) }
    }

    private static func patch(_ value: Int) -> String {
        """
        <D:propertyupdate xmlns:D="DAV:" xmlns:z="urn:z"><D:set><D:prop><z:p>\(value)</z:p>\
        <z:q>\(value)</z:q></D:prop></D:set></D:propertyupdate>
        """
    }

    private static let lockInfo = """
        <D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/>\
        </D:locktype></D:lockinfo>
        """
}
