import Foundation
import HTTPServerCore
import Testing
import ToolkitSystem
import WebDAVKit

/// Simulates a process that dies between the renames of a replacement, step by step.
@Suite("LocalStore: Replacement of a collection by another one")
struct ReplacementTests {
    /// `source` and `target`, each with a file, and the folder of a process that has died.
    private struct Scene {
        let share: Share
        let root: OpenDirectory
        let staging: OpenDirectory
        var note: FilePlace { FilePlace(directory: staging, name: Array("replace-1".utf8)) }

        init() throws {
            share = try Share()
            for name in ["source", "target", ".httpkit-dav/new-dead"] {
                try FileManager.default.createDirectory(
                    atPath: share.path + "/" + name, withIntermediateDirectories: true)
            }
            try share.write("new", "source/f")
            try share.write("old", "target/f")
            root = try FileTree(share.path).directory([])
            staging = try FileTree(share.path).directory(Array(".httpkit-dav/new-dead".utf8))
        }

        func noteBeside(_ folder: String) throws {
            try share.write(folder, ".httpkit-dav/new-dead/beside-1")
        }

        func writeNote(_ source: String?, aside: String = "aside") throws {
            let target = try #require(ResourcePath("target"))
            let note = ReplacementJournal(
                source: source.flatMap { ResourcePath($0) }, target: target,
                old: try root.status(of: Array("target".utf8)), aside: Array(aside.utf8))
            try note.write(to: self.note)
        }

        func place(_ name: String) -> FilePlace {
            FilePlace(directory: root, name: Array(name.utf8))
        }

        /// Starts the next process.
        func restart() throws -> [String] {
            _ = try LocalStore(root: share.path)
            return try FileManager.default.contentsOfDirectory(atPath: share.path).sorted()
        }
    }

    @Test func diedBeforeTheExchange() throws {
        let scene = try Scene()
        try scene.writeNote("source")
        #expect(try scene.restart() == ["source", "target"])
        #expect(scene.share.text("source/f") == "new" && scene.share.text("target/f") == "old")
    }

    @Test func diedAfterTheExchange() throws {
        let scene = try Scene()
        try scene.writeNote("source")
        try scene.root.rename(Array("source".utf8), to: scene.place("target"), .exchanging)
        #expect(scene.share.text("source/f") == "old")
        #expect(try scene.restart() == ["target"])
        #expect(scene.share.text("target/f") == "new")
    }

    @Test func diedWithTheOldOneAside() throws {
        let scene = try Scene()
        try scene.writeNote("source")
        let aside = FilePlace(directory: scene.staging, name: Array("aside".utf8))
        try scene.root.rename(Array("target".utf8), to: aside, .creating)
        #expect(try scene.restart() == ["source", "target"])
        #expect(scene.share.text("source/f") == "new" && scene.share.text("target/f") == "old")
    }

    /// On another volume than the store's folder, the old collection is kept next to the target.
    @Test func diedWithTheOldOneBesideTheTarget() throws {
        let scene = try Scene()
        try scene.writeNote("source", aside: ".httpkit-dav-dead-1")
        try scene.root.rename(
            Array("target".utf8), to: scene.place(".httpkit-dav-dead-1"), .creating)
        try scene.noteBeside("")
        #expect(try scene.restart() == ["source", "target"])
        #expect(scene.share.text("source/f") == "new" && scene.share.text("target/f") == "old")
    }

    @Test func diedBesideTheTargetWhenAllHadTheirNames() throws {
        let scene = try Scene()
        try scene.writeNote("source", aside: ".httpkit-dav-dead-1")
        try scene.root.rename(
            Array("target".utf8), to: scene.place(".httpkit-dav-dead-1"), .creating)
        try scene.root.rename(Array("source".utf8), to: scene.place("target"), .creating)
        try scene.noteBeside("")
        #expect(try scene.restart() == ["target"])
        #expect(scene.share.text("target/f") == "new")
    }

    /// Partial files of the dead process are removed, and no others.
    @Test(arguments: ["target", ""])
    func whatDeadProcessesHaveLeftElsewhereIsSwept(_ folder: String) throws {
        let scene = try Scene()
        let prefix = folder.isEmpty ? "" : folder + "/"
        for name in [".httpkit-dav-dead-1", ".httpkit-dav-deadly-1", ".httpkit-dav-living-1"] {
            try scene.share.write("half", prefix + name)
        }
        try scene.noteBeside(folder)
        _ = try scene.restart()
        #expect(scene.share.text(prefix + ".httpkit-dav-dead-1") == nil)
        #expect(scene.share.text(prefix + ".httpkit-dav-deadly-1") == "half")
        #expect(scene.share.text(prefix + ".httpkit-dav-living-1") == "half")
        #expect(scene.share.text("target/f") == "old" && scene.share.text("source/f") == "new")
    }

    @Test(arguments: ["..", "none", "target/f", "/", "../secret", "target\u{0}"])
    func notesOnDirectoriesThatAreNoneDoNothing(_ folder: String) throws {
        let scene = try Scene()
        try scene.share.write("half", "../.httpkit-dav-dead-1")
        try scene.noteBeside(folder)
        #expect(try scene.restart() == ["source", "target"])
        #expect(scene.share.text("../.httpkit-dav-dead-1") == "half")
    }

    @Test func diedWhenAllHadTheirNames() throws {
        let scene = try Scene()
        try scene.writeNote("source")
        let aside = FilePlace(directory: scene.staging, name: Array("aside".utf8))
        try scene.root.rename(Array("target".utf8), to: aside, .creating)
        try scene.root.rename(Array("source".utf8), to: scene.place("target"), .creating)
        #expect(try scene.restart() == ["target"])
        #expect(scene.share.text("target/f") == "new")
    }

    @Test func aCopyWasExchanged() throws {
        let scene = try Scene()
        try scene.writeNote(nil)
        try FileManager.default.createDirectory(
            atPath: scene.share.path + "/.httpkit-dav/new-dead/copy",
            withIntermediateDirectories: true)
        try scene.staging.rename(Array("copy".utf8), to: scene.place("target"), .exchanging)
        #expect(try scene.restart() == ["source", "target"])
        #expect(scene.share.text("target/f") == nil && scene.share.text("source/f") == "new")
    }

    @Test(arguments: ["", "\n\n\n", "1 2 3\nsource\ntarget\naside", "x\ny", "0\n/\n..\n../.."])
    func notesThatSayNothingTrueDoNothing(_ text: String) throws {
        let scene = try Scene()
        try scene.share.write(text, ".httpkit-dav/new-dead/replace-1")
        #expect(try scene.restart() == ["source", "target"])
        #expect(scene.share.text("source/f") == "new" && scene.share.text("target/f") == "old")
    }

    /// The old target is only in the folder of the process, and stays there until it can be put
    /// back.
    @Test func whatCannotBePutBackIsNotRemoved() throws {
        let scene = try Scene()
        let share = scene.share
        try FileManager.default.moveItem(
            atPath: share.path + "/target", toPath: share.path + "/.httpkit-dav/new-dead/aside")
        let note = ReplacementJournal(
            source: nil, target: try #require(ResourcePath("closed/target")),
            old: try scene.root.status(of: Array("source".utf8)), aside: Array("aside".utf8))
        try note.write(to: scene.note)
        #expect(try scene.restart() == [".httpkit-dav", "source"])
        #expect(share.text(".httpkit-dav/new-dead/aside/f") == "old")
        try FileManager.default.createDirectory(
            atPath: share.path + "/closed", withIntermediateDirectories: false)
        #expect(try scene.restart() == ["closed", "source"])
        #expect(share.text("closed/target/f") == "old")
    }

    /// A path that cannot be examined may exist. The system refuses the names in these cases.
    @Test(arguments: [
        (String(repeating: "t", count: 300) + "/target", "beside"),
        ("target", String(repeating: "a", count: 300)),
    ])
    func whatCannotBeLookedAtIsNotTakenForNothing(_ target: String, _ aside: String) throws {
        let scene = try Scene()
        let share = scene.share
        let old = try scene.root.status(of: Array("target".utf8))
        try FileManager.default.moveItem(
            atPath: share.path + "/target", toPath: share.path + "/.httpkit-dav/new-dead/aside")
        let note = ReplacementJournal(
            source: nil, target: try #require(ResourcePath(target)), old: old,
            aside: Array(aside.utf8))
        try note.write(to: scene.note)
        #expect(try scene.restart() == [".httpkit-dav", "source"])
        #expect(share.text(".httpkit-dav/new-dead/aside/f") == "old")
        // Once the path can be examined, the old target is put back.
        try scene.staging.remove(scene.note.name, isDirectory: false)
        let right = ReplacementJournal(
            source: nil, target: try #require(ResourcePath("target")), old: old,
            aside: Array("aside".utf8))
        try right.write(to: scene.note)
        #expect(try scene.restart() == ["source", "target"])
        #expect(share.text("target/f") == "old")
    }

    /// A complete entry that cannot be parsed, such as one with unencoded names, may still matter.
    @Test(arguments: [
        "1 2 3\nsource\n100%\naside", "1 2 3\nsource\na\nb\naside", "\u{0}\n/\n..\n../..",
    ])
    func aNoteThatCannotBeReadKeepsWhatIsBesideIt(_ text: String) throws {
        let scene = try Scene()
        let share = scene.share
        try FileManager.default.moveItem(
            atPath: share.path + "/target", toPath: share.path + "/.httpkit-dav/new-dead/aside")
        try share.write(text, ".httpkit-dav/new-dead/replace-1")
        #expect(try scene.restart() == [".httpkit-dav", "source"])
        #expect(share.text(".httpkit-dav/new-dead/aside/f") == "old")
    }

    /// A rename has failed, and so has the rename that should undo it. The store continues, and the
    /// only name of the old content is in its folder.
    @Test("A store that closes puts back content that only its journal knows, or keeps it")
    func closing() async throws {
        for (target, left) in [
            ("target", ["source", "target"]), ("closed/target", [".httpkit-dav", "source"]),
        ] {
            let scene = try Scene()
            let store = try LocalStore(root: scene.share.path)
            // The first write creates the store's folder.
            let path = try #require(ResourcePath("source/g"))
            _ = try await store.write([1], to: path, modified: nil)
            let own = scene.share.path + "/.httpkit-dav"
            let name = try #require(try FileManager.default.contentsOfDirectory(atPath: own).first)
            let folder = try scene.root.directory(Array(".httpkit-dav".utf8))
                .directory(Array(name.utf8))
            let note = ReplacementJournal(
                source: nil, target: try #require(ResourcePath(target)),
                old: try scene.root.status(of: Array("target".utf8)), aside: Array("aside".utf8))
            try note.write(to: FilePlace(directory: folder, name: Array("replace-1".utf8)))
            let aside = FilePlace(directory: folder, name: Array("aside".utf8))
            try scene.root.rename(Array("target".utf8), to: aside, .creating)
            store.close()
            let names = try FileManager.default.contentsOfDirectory(atPath: scene.share.path)
            #expect(names.sorted() == left)
            let place = left.contains("target") ? "target" : ".httpkit-dav/\(name)/aside"
            #expect(scene.share.text(place + "/f") == "old")
        }
    }

    /// Names may hold anything but NUL and slashes.
    @Test func aNoteKeepsAnyName() throws {
        let scene = try Scene()
        let name: [UInt8] = [0x0A, 0xFF, 0x25, 0x34, 0x31]
        try scene.root.rename(
            Array("target".utf8),
            to: FilePlace(directory: scene.staging, name: Array("aside".utf8)), .replacing)
        let note = ReplacementJournal(
            source: nil, target: try #require(ResourcePath(segments: [name])),
            old: try scene.root.status(of: Array("source".utf8)), aside: Array("aside".utf8))
        try note.write(to: scene.note)
        _ = try LocalStore(root: scene.share.path)
        #expect(try scene.root.status(of: name).kind == .directory)
    }
}
