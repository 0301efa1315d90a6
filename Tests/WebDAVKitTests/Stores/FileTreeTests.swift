import Foundation
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem
import WebDAVKit

@Suite("FileTree: Trees, contents and volumes")
struct FileTreeTests {
    private let share: Share
    private let root: OpenDirectory

    init() throws {
        share = try Share()
        root = try FileTree(share.path).directory([])
    }

    /// Some file systems return short reads, or report another size.
    @Test(arguments: [
        (0, 0), (100, 0), (100, 1 << 20), (200_000, 0), (200_000, 100), (200_000, 200_000),
        (200_000, 1 << 30), (32_768, 32_768), (65_536, 65_537),
    ])
    func contentIsCopiedWhole(_ length: Int, _ told: Int) throws {
        let text = String(repeating: "abcdefg\n", count: length / 8 + 1).prefix(length)
        try share.write(String(text), "old")
        let new = try root.create(Array("new".utf8))
        try new.copyContent(of: try root.open(Array("old".utf8)), size: Int64(told))
        #expect(share.text("new") == String(text))
    }

    #if os(Linux)
        /// Kernel files have a size of 0, and cannot be copied by ranges.
        @Test func contentOfTheKernelIsCopiedWhole() throws {
            let version = try FileTree("/proc").open(Array("version".utf8))
            let new = try root.create(Array("new".utf8))
            try new.copyContent(of: version, size: 1 << 16)
            #expect(share.text("new")?.hasPrefix("Linux version ") == true)
        }
    #endif

    @Test(.enabled("descriptors are too few here") { try await descriptorsSuffice() })
    func treesThatAreTooDeepAreRefused() async throws {
        let client = try share.client()
        let name = Array("d".utf8)
        var directory = root
        for _ in 0..<520 {
            try directory.makeDirectory(name)
            directory = try directory.directory(name)
        }
        let copied = try await client.send("COPY", "/dav/d", ["Destination: /dav/e"])
        #expect(copied.status == 403)
        #expect(share.text("e") == nil)
        let deleted = try await client.send("DELETE", "/dav/d")
        #expect(deleted.status == 207 && deleted.text.contains("HTTP/1.1 403 Forbidden"))
        _ = try directory.status(of: [])
        #expect(try await client.status("MOVE", "/dav/d", ["Destination: /dav/e"]) == 201)
    }

    /// The limit of copies and removals, too, because each level holds a descriptor.
    @Test(.enabled("descriptors are too few here") { try await descriptorsSuffice() })
    func aRealPathHasAtMostSoManyLevels() throws {
        let name = Array("d".utf8)
        var directory = root
        for _ in 0..<514 {
            try directory.makeDirectory(name)
            directory = try directory.directory(name)
        }
        let tree = try FileTree(share.path)
        for levels in [511, 512, 513, 514] {
            let path = Array([[UInt8]](repeating: name, count: levels).joined(separator: [0x2F]))
            do throws(SystemError) {
                let found = try tree.realPath(of: path, followsLast: false)
                #expect(levels <= 513 && found == path)
            } catch {
                #expect(levels > 513 && error.isNameTooLong)
            }
        }
    }

    private static func descriptorsSuffice() async throws -> Bool {
        guard let share = try? Share(), let tree = try? FileTree(share.path) else { return false }
        var open: [OpenDirectory] = []
        while open.count < 3_000, let next = try? tree.directory([]) { open.append(next) }
        return open.count == 3_000
    }

    @Test("A full synchronization may be missing on the file system, but must not fail")
    func fullSynchronization() {
        for (code, mayDoWithout) in [
            (ENOTSUP, true), (ENOTTY, true), (EIO, false), (ENOSPC, false),
        ] {
            let error = SystemError("fsync", code: code)
            #expect(error.lacksFullSynchronization == mayDoWithout)
        }
    }

    @Test(
        "A copy is never readable by more users than its original, and its properties can be written",
        arguments: [(0o600, 0o600), (0o400, 0o600), (0o444, 0o644)] as [(UInt16, UInt16)])
    func privateCopy(_ permissions: UInt16, _ whileCopied: UInt16) throws {
        let (old, new) = (Array("old".utf8), Array("new".utf8))
        let file = try root.create(old)
        try file.write(Array("secret".utf8))
        try file.setPermissions(permissions)
        let seen = Locked<[UInt16]>([])
        try root.copyTree(
            old, to: FilePlace(directory: root, name: new), deep: true, isMove: false,
            synchronizes: false, leavingOut: nil,
            finish: { _, copy throws(SystemError) in
                let permissions = try copy.status().permissions & 0o777
                seen.withLock { $0.append(permissions) }
            })
        #expect(seen.withLock { $0 } == [whileCopied])
        #expect(try root.status(of: new).permissions & 0o777 == permissions)
        #expect(share.text("new") == "secret")
    }

    @Test("Below the level of the larger stack only the thread with that stack copies")
    func wideAndDeep() async throws {
        let (old, new) = (Array("old".utf8), Array("new".utf8))
        try root.makeDirectory(old)
        var folder = try root.directory(old)
        for _ in 0..<40 {
            try folder.makeDirectory(old)
            folder = try folder.directory(old)
        }
        for number in 0..<200 { _ = try folder.create(Array("\(number)".utf8)) }
        let threads = Locked(Set<String>())
        try root.copyTree(
            old, to: FilePlace(directory: root, name: new), deep: true, isMove: false,
            synchronizes: false, leavingOut: nil,
            finish: { file, _ throws(SystemError) in
                guard try file.status().kind == .regular else { return }
                // Gives a second thread time to take part.
                usleep(500)
                threads.withLock { _ = $0.insert("\(Syscalls.currentThread())") }
            })
        #expect(threads.withLock { $0.count } == 1)
        for name in [old, new] { #expect(root.removeTree(name).isEmpty) }
    }

    /// Dispatch threads have stacks of this size on Apple systems.
    @Test(
        "A deep tree is copied, counted and removed by a thread with a stack of 512 KiB",
        .enabled("descriptors are too few here") { try await descriptorsSuffice() })
    func smallStack() async throws {
        let (old, new) = (Array("old".utf8), Array("new".utf8))
        try root.makeDirectory(old)
        var deepest = try root.directory(old)
        for _ in 0..<500 {
            try deepest.makeDirectory(old)
            deepest = try deepest.directory(old)
        }
        let file = try deepest.create(new)
        try file.write(Array("12345".utf8))
        let (root, status) = (root, try deepest.status(of: []))
        let bytes = try await withCheckedThrowingContinuation { continuation in
            let thread = Thread {
                continuation.resume(
                    with: Result {
                        try root.copyTree(
                            old, to: FilePlace(directory: root, name: new), deep: true,
                            isMove: false, synchronizes: false, leavingOut: nil, finish: { _, _ in }
                        )
                        #expect(try root.holds(status))
                        let bytes = try root.contentBytes(leavingOut: { _ in false })
                        for name in [old, new] { #expect(root.removeTree(name).isEmpty) }
                        return bytes
                    })
            }
            thread.stackSize = 512 << 10
            thread.start()
        }
        #expect(bytes == 10)
        #expect(share.text("old") == nil && share.text("new") == nil)
    }

    @Test func whatIsToBeKeptStaysWithItsDirectories() throws {
        for name in ["tree", "tree/a", "tree/b"] {
            try FileManager.default.createDirectory(
                atPath: share.path + "/" + name, withIntermediateDirectories: false)
        }
        try share.write("old", "tree/a/old")
        try share.write("newer", "tree/b/new")
        let faults = root.removeTree(Array("tree".utf8), keeping: { $0.size == 5 })
        #expect(faults.map(\.path) == [Array("b/new".utf8)])
        #expect(share.text("tree/b/new") == "newer" && share.text("tree/a/old") == nil)
    }

    /// New files get the group of a directory with this bit.
    @Test func aDirectoryForAGroupIsCopied() async throws {
        let client = try share.client()
        #expect(try await client.status("MKCOL", "/dav/a") == 201)
        #expect(try await client.status("PUT", "/dav/a/f", [], "x") == 201)
        try root.directory(Array("a".utf8)).file.setPermissions(0o2775)
        #expect(try await client.status("COPY", "/dav/a", ["Destination: /dav/b"]) == 201)
        #expect(share.text("b/f") == "x")
        #expect(try root.status(of: Array("b".utf8)).permissions & 0o777 == 0o775)
    }

    @Test func newContentRunsByNobodysRights() async throws {
        let client = try share.client()
        #expect(try await client.status("PUT", "/dav/a", [], "x") == 201)
        try root.open(Array("a".utf8)).setPermissions(0o6755)
        #expect(try await client.status("COPY", "/dav/a", ["Destination: /dav/b"]) == 201)
        #expect(try await client.status("PUT", "/dav/a", [], "y") == 204)
        for name in ["a", "b"] {
            #expect(try root.status(of: Array(name.utf8)).permissions == 0o755, "\(name)")
        }
    }

    @Test(
        arguments: [
            (512, 1000, 400, 300, 300 * 512, 600 * 512),
            (4096, UInt64.max, UInt64.max - 1, UInt64.max - 1, Int64.max, 4096),
            (1, 1 << 63, 0, 1 << 63, Int64.max, Int64.max), (4096, 0, 10, 0, 0, 0),
        ] as [(UInt64, UInt64, UInt64, UInt64, Int64, Int64)])
    func roomIsToldWhateverTheVolumeSays(
        _ block: UInt64, _ all: UInt64, _ free: UInt64, _ available: UInt64,
        _ expectedAvailable: Int64, _ expectedUsed: Int64
    ) {
        let space = FileTree.space(block: block, all: all, free: free, available: available)
        #expect(space.available == expectedAvailable && space.used == expectedUsed)
    }

    @Test(
        arguments: [
            (1, "/srv/share", "a"), (2, "/srv/share", "b c/d"), (3, "/srv/share", nil),
            (1, "/", "other"), (9, "/srv/share", nil), (4, "/srv/share", ""),
        ] as [(UInt64, String, String?)])
    func volumesAreToldByWhereTheyAre(
        _ minor: UInt64, _ root: String, _ expected: String?
    ) {
        let table = """
            30 1 8:1 / /srv/share/b rw shared:1 - ext4 /dev/x rw
            31 1 8:1 / /srv/share/a rw shared:1 - ext4 /dev/x rw
            32 1 8:1 / /other rw - ext4 /dev/x rw
            33 1 8:2 /in /srv/share/b\\040c/d rw,noatime - ext4 /dev/y rw
            34 1 8:3 / /srv/shared rw - ext4 /dev/z rw
            35 1 8:4 / /srv/share rw - ext4 /dev/w rw

            """
        let path = FileTree.mountPath(
            ofDevice: 8 << 32 | minor, in: Array(table.utf8), root: Array(root.utf8))
        #expect(path.map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test(
        "Network mounts below the root are detected",
        arguments: [
            ("/srv", true), ("/srv/nas", false), ("/srv/nas/in", false), ("/", true),
            ("/other", false),
        ])
    func remoteMounts(_ root: String, _ expected: Bool) {
        let table = """
            30 1 8:1 / /srv rw shared:1 - ext4 /dev/x rw
            31 1 0:40 / /srv/nas rw,relatime shared:2 master:3 - nfs4 host:/nas rw
            32 1 8:2 / /srv/nas/in rw - ext4 /dev/y rw
            33 1 0:5 / /proc rw - proc proc rw
            34 1 8:3 / /other\\040nfs rw - ext4 nfs rw

            """
        let found = FileTree.hasRemoteMounts(in: Array(table.utf8), root: Array(root.utf8))
        #expect(found == expected)
    }

    @Test(
        "Only errors of a missing file are 404",
        arguments: [
            (ENOENT, SystemError.HTTPStatusCode.missing), (ELOOP, .missing), (EXDEV, .missing),
            (ENAMETOOLONG, .missing), (EACCES, .forbidden), (EMFILE, .unavailable),
            (EAGAIN, .unavailable), (EIO, .failure), (ESTALE, .failure), (ENOTCONN, .failure),
            (ETIMEDOUT, .failure),
        ])
    func statuses(_ code: CInt, _ status: SystemError.HTTPStatusCode) {
        #expect(SystemError("open", code: code).fileStatus == status)
    }

    @Test func whereADirectoryIs() throws {
        try FileManager.default.createDirectory(
            atPath: share.path + "/a b/c", withIntermediateDirectories: true)
        let tree = try FileTree(share.path)
        for path in ["a b/c", ""] {
            let found = tree.path(of: try tree.directory(Array(path.utf8)))
            #expect(found == Array(path.utf8))
        }
        #expect(tree.path(of: try FileTree(share.outer).directory([])) == nil)
    }

    @Test("A walk through the parents that misses its end stops at the system's root")
    func walksEnd() throws {
        try FileManager.default.createDirectory(
            atPath: share.path + "/a/b", withIntermediateDirectories: true)
        try root.makeDirectory(Array("other".utf8))
        let tree = try FileTree(share.path)
        let (inner, end) = (try tree.directory(Array("a/b".utf8)), try root.status(of: []))
        for (name, isAround) in [("a", true), ("a/b", true), ("", true), ("other", false)] {
            let status = try tree.status(of: Array(name.utf8))
            #expect(try inner.isWithin(status, upTo: end) == isAround, "\(name)")
        }
        // As if another program had moved the directory out.
        let outside = try FileTree(share.outer).directory([])
        let other = try tree.status(of: Array("other".utf8))
        let error = #expect(throws: SystemError.self) {
            try outside.isWithin(other, upTo: end)
        }
        #expect(error?.isMissing == true)
    }
}
