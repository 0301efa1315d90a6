import Foundation
import HTTPParser
import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem
import WebDAVKit

/// Short content is written by the receiving thread, longer content by a thread that may block.
@Suite("LocalStore: Short and long work")
struct ShortWorkTests {
    private let limit = 64 << 10

    @Test("Content below, at and above the limits arrives complete in new and in replaced files")
    func lengths() async throws {
        let share = try Share()
        let client = try share.client()
        var (old, tags): (Int?, Set<String>) = (nil, [])
        // One of these replaces a file that takes a while to remove.
        for length in [0, 1, limit - 1, limit, limit + 1, 2 << 20, 5, 2 << 20, limit, 0] {
            let content = String(repeating: length.isMultiple(of: 2) ? "a" : "b", count: length)
            let answer = try await client.send("PUT", "/dav/f", [], content)
            #expect(answer.status == (old == nil ? 201 : 204), "\(length)")
            #expect(share.text("f") == content, "\(length)")
            let tag = try #require(answer["ETag"])
            #expect(tags.insert(tag).inserted)
            #expect(try await client.send("HEAD", "/dav/f")["ETag"] == tag)
            old = length
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: share.path).count == 2)
    }

    @Test("The tag of a file is its inode, length and times in hexadecimal digits")
    func tagOfAFile() async throws {
        let share = try Share()
        for (name, content) in [("empty", ""), ("long", String(repeating: "x", count: 0x1F0))] {
            try share.write(content, name)
            let status = try FileTree(share.path).status(of: Array(name.utf8))
            let times = [
                status.modifiedSeconds * 1_000_000_000 + status.modifiedNanoseconds,
                status.bornSeconds * 1_000_000_000 + status.bornNanoseconds,
            ]
            let numbers = [status.inode, UInt64(content.utf8.count)] + times.map { UInt64($0) }
            let text = numbers.map { String($0, radix: 16) }.joined(separator: "-")
            let path = try #require(ResourcePath(name))
            let info = try await LocalStore(root: share.path).info(at: path)
            #expect(info.entityTag?.opaque == text)
        }
    }

    @Test("Replacing a file keeps its permissions and properties")
    func whatStays() async throws {
        let share = try Share()
        let client = try share.client()
        let patch = """
            <propertyupdate xmlns="DAV:"><set><prop><p xmlns="u:">kept</p></prop></set>\
            </propertyupdate>
            """
        for length in [10, limit + 1] {
            #expect(try await client.status("PUT", "/dav/f", [], "x") < 300)
            let path = share.path + "/f"
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
            #expect(try await client.send("PROPPATCH", "/dav/f", [], patch).text.contains("200 OK"))
            let content = String(repeating: "y", count: length)
            #expect(try await client.status("PUT", "/dav/f", [], content) == 204)
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o640)
            let found = try await client.send("PROPFIND", "/dav/f", ["Depth: 0"]).text
            #expect(found.contains(">kept<"))
            #expect(share.text("f") == content)
        }
    }

    @Test("The note that a file has no properties ends when it gets one")
    func absence() throws {
        let share = try Share()
        try share.write("x", "f")
        let tree = try FileTree(share.path)
        let (name, absence) = (Array("f".utf8), PropertyAbsence())
        let old = try tree.status(of: name)
        #expect(!absence.holds(old))
        // Too recent: a change within the same tick of the clock would not be seen.
        absence.note(old, now: old.changedSeconds + 2)
        #expect(!absence.holds(old))
        absence.note(old, now: old.changedSeconds + 3)
        #expect(absence.holds(old))
        var (new, value) = (old, [UInt8]())
        while new.changedSeconds == old.changedSeconds,
            new.changedNanoseconds == old.changedNanoseconds
        {
            value.append(1)
            try tree.open(name).setAttribute("user.httpkit.test", value)
            new = try tree.status(of: name)
        }
        #expect(!absence.holds(new))
        var other = old
        other.inode += 1
        #expect(!absence.holds(other))
    }

    @Test("A directory of many batches is listed completely, without duplicates")
    func batches() async throws {
        let share = try Share()
        for number in 0..<1500 { try share.write("", "file-\(number)") }
        let client = try share.client()
        for _ in 0..<2 {
            let text = try await client.send("PROPFIND", "/dav/", ["Depth: 1"]).text
            let names = text.utf8.split(separator: UInt8(ascii: "<"))
                .filter { $0.starts(with: "D:href>/dav/file-".utf8) }
                .compactMap { Int(String(decoding: $0.dropFirst(17), as: UTF8.self)) }
            #expect(names.sorted() == Array(0..<1500))
        }
    }

    @Test("Trees of many files are copied completely")
    func copies() async throws {
        let share = try Share()
        let client = try share.client()
        let manager = FileManager.default
        try manager.createDirectory(atPath: share.path + "/t/i", withIntermediateDirectories: true)
        for number in 0..<300 {
            try share.write("\(number)", "t/\(number)")
            try share.write("i\(number)", "t/i/\(number)")
        }
        try manager.setAttributes([.posixPermissions: 0o640], ofItemAtPath: share.path + "/t/7")
        #expect(try await client.status("COPY", "/dav/t", ["Destination: /dav/u"]) == 201)
        for number in 0..<300 {
            #expect(share.text("u/\(number)") == "\(number)")
            #expect(share.text("u/i/\(number)") == "i\(number)")
        }
        let attributes = try manager.attributesOfItem(atPath: share.path + "/u/7")
        #expect(attributes[.posixPermissions] as? Int == 0o640)
    }

    @Test("The store's own folder may be removed while the server runs")
    func removedFolder() async throws {
        let share = try Share()
        let client = try share.client()
        let own = share.path + "/.httpkit-dav"
        let long = String(repeating: "z", count: limit + 1)
        #expect(try await client.status("MKCOL", "/dav/c") == 201)
        for (round, content) in ["a", long].enumerated() {
            #expect(try await client.status("PUT", "/dav/c/f\(round)", [], content) == 201)
            try FileManager.default.removeItem(atPath: own)
            #expect(try await client.status("PUT", "/dav/f", [], content) < 300)
            #expect(share.text("f") == content)
            try FileManager.default.removeItem(atPath: own)
            #expect(try await client.status("COPY", "/dav/c", ["Destination: /dav/d"]) < 300)
            #expect(share.text("d/f\(round)") == content)
            try FileManager.default.removeItem(atPath: own)
            #expect(try await client.status("MOVE", "/dav/d", ["Destination: /dav/e"]) < 300)
            #expect(share.text("e/f\(round)") == content)
            #expect(try await client.status("COPY", "/dav/c", ["Destination: /dav/d"]) < 300)
        }
    }
}

private func isInPool() async -> Bool { BlockingPool.mayBlockHere }

@Suite("The threads that work on files")
struct DiskPatienceTests {
    @Test("Short work is done by the caller, until it was slow more than once")
    func waiting() async throws {
        let loop = try EventLoop(label: "test")
        let seen = try await Task(executorPreference: loop) { try await Self.seen(on: loop) }.value
        #expect(seen == [true, true, true, false, false])
    }

    /// Whether a policy is quick, and whether its work is done on the loop: for a fresh policy, and
    /// for one whose work takes long.
    private static func seen(on loop: EventLoop) async throws -> [Bool] {
        let isHere: @Sendable () throws -> Bool = { loop.isCurrent }
        let fresh = InlineIOPolicy(isLocal: true)
        let first = [fresh.isQuick, try await fresh.run(isHere)]
        // After one slow call the policy only watches. After the next one it uses the pool for
        // twenty times as long. Other tests may delay this one for longer than that.
        var seen: [Bool] = []
        for _ in 0..<10 where seen != [true, false, false] {
            let inlineIO = InlineIOPolicy(isLocal: true)
            _ = try await inlineIO.run { Thread.sleep(forTimeInterval: 0.1) }
            seen = [inlineIO.isQuick]
            _ = try await inlineIO.run { Thread.sleep(forTimeInterval: 1) }
            seen.append(inlineIO.isQuick)
            let wasHere = try await inlineIO.run(isHere)
            seen.append(wasHere)
        }
        return first + seen
    }

    @Test("Each slow call of a slow disk is followed by a pause of inline work")
    func staysSlow() async throws {
        // As above, the pause may be over when this test continues.
        var seen: [Bool] = []
        for _ in 0..<20 where seen != [false, false] {
            let inlineIO = InlineIOPolicy(isLocal: true)
            for _ in 0..<2 { _ = try await inlineIO.run { Thread.sleep(forTimeInterval: 0.06) } }
            seen = [inlineIO.isQuick]
            try await waitUntil { inlineIO.isQuick }
            _ = try await inlineIO.run { Thread.sleep(forTimeInterval: 0.06) }
            seen.append(inlineIO.isQuick)
        }
        #expect(seen == [false, false])
    }

    @Test("Work on remote file systems is never inline")
    func remote() async throws {
        #expect(!InlineIOPolicy(isLocal: false).isQuick)
    }

    @Test("A task in the pool stays there across calls and suspensions")
    func pool() async throws {
        let pool = BlockingPool(threads: 2)
        #expect(!BlockingPool.mayBlockHere)
        // From an event loop, as handlers do it.
        let loop = try EventLoop(label: "test")
        let seen = try await Task(executorPreference: loop) { try await Self.seen(in: pool) }.value
        #expect(seen == [true, true, true, true, true])
        #expect(!BlockingPool.mayBlockHere)
        await #expect(throws: CancellationError.self) {
            try await pool.perform { throw CancellationError() }
        }
        // More tasks than threads are all executed.
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<100 {
                group.addTask {
                    try await pool.perform {
                        await Task.yield()
                        return number
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(sum == 4950)
    }

    private static func seen(in pool: BlockingPool) async throws -> [Bool] {
        try await pool.perform {
            // A task stays on its thread until its first suspension.
            await Task.yield()
            var seen = [await isInPool()]
            await Task.yield()
            seen.append(await isInPool())
            seen.append(try await pool.run { BlockingPool.mayBlockHere })
            seen.append(try await pool.perform { BlockingPool.mayBlockHere })
            seen.append(await pool.value { BlockingPool.mayBlockHere })
            return seen
        }
    }

    @Test("Attributes are the same whether they are read by name or by opening the file")
    func attributes() throws {
        let share = try Share()
        try share.write("x", "f")
        try share.link("l", to: "f")
        let tree = try FileTree(share.path)
        let directory = try tree.directory([])
        let (name, link) = (Array("f".utf8), Array("l".utf8))
        let attribute = "user.httpkit.test"
        for length in [nil, 1, 1000, 1024, 1025, 3000] {
            let value = length.map { [UInt8](repeating: 0x61, count: $0) }
            if let value { try tree.open(name).setAttribute(attribute, value) }
            for byOpening in [false, true] {
                let found = try directory.attribute(
                    attribute, of: name, upTo: 4096, byOpening: byOpening)
                #expect(found == value, "\(length ?? -1) \(byOpening)")
                let ofLink = try? directory.attribute(
                    attribute, of: link, upTo: 4096, byOpening: byOpening)
                #expect(ofLink ?? nil == nil)
                #expect(throws: SystemError.self) {
                    try directory.attribute(
                        attribute, of: Array("none".utf8), upTo: 4096, byOpening: byOpening)
                }
            }
        }
        #expect(throws: SystemError.self) {
            try directory.attribute(attribute, of: name, upTo: 2000, byOpening: true)
        }
    }
}
