import Foundation
import TestSupport
import Testing
import URLClient

@testable import httpkit

@Suite("httpkit fetch -T --resume: the note beside the file")
struct UploadNoteTests {
    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    /// Writes a note for a file, and passes the note, its path and its data to `body`.
    private func withNote(
        _ request: String = "https://a.example/f", upload: String = "https://a.example/.uploads/1",
        _ body: (_ note: UploadNote, _ path: String, _ data: UploadResumeData) throws -> Void
    ) throws {
        let folder = TestFolder.name("note-")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        defer { TestFolder.remove(folder) }
        let file = folder + "/data"
        try Data("content".utf8).write(to: URL(fileURLWithPath: file))
        let data = UploadResumeData(
            url: try url(request), upload: try url(upload), path: file, length: 7)
        let note = UploadNote(file: file)
        note.write(data)
        try body(note, file + ".resume", data)
    }

    @Test("A note counts for one URL only")
    func own() throws {
        try withNote { note, _, data in
            #expect(note.read(for: data.url) == data)
            let other = try url("https://a.example/g")
            #expect(note.read(for: other) == nil)
            note.remove()
            #expect(note.read(for: data.url) == nil)
        }
    }

    @Test(
        "A note does not move an upload from https to http",
        arguments: [
            ("https://a.example/f", "http://a.example/u", false),
            ("https://a.example/f", "HTTPS://b.example/u", true),
            ("HTTPS://a.example/f", "http://a.example/u", false),
            ("http://a.example/f", "http://a.example/u", true),
            ("http://a.example/f", "https://a.example/u", true),
        ])
    func schemes(_ request: String, _ upload: String, _ counts: Bool) throws {
        try withNote(request, upload: upload) { note, _, data in
            #expect((note.read(for: data.url) == data) == counts)
        }
    }

    @Test("The upload of a file that has changed is not resumed")
    func changed() throws {
        try withNote { _, path, data in
            let file = String(path.dropLast(".resume".count))
            let note = UploadNote(file: file)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_000_000)], ofItemAtPath: file)
            note.write(data)
            #expect(UploadNote(file: file).read(for: data.url) == nil)
        }
    }

    @Test("A file that only has the note's name is neither replaced nor removed")
    func stranger() throws {
        try withNote { note, path, data in
            let stranger = Data("{\"program\": \"another\"}".utf8)
            try stranger.write(to: URL(fileURLWithPath: path))
            note.keep(data)
            note.remove()
            #expect(FileManager.default.contents(atPath: path) == stranger)
        }
    }

    @Test("A symbolic link is not read as a note")
    func link() throws {
        try withNote { note, path, data in
            let other = path + ".other"
            try FileManager.default.moveItem(atPath: path, toPath: other)
            try FileManager.default.createSymbolicLink(
                atPath: path, withDestinationPath: other)
            #expect(note.read(for: data.url) == nil)
        }
    }

    @Test(
        "A note of 64 KiB is read, and a longer one is not",
        arguments: [(64 << 10, true), ((64 << 10) + 1, false)])
    func length(_ length: Int, _ counts: Bool) throws {
        try withNote { note, path, data in
            let file = URL(fileURLWithPath: path)
            var bytes = try Data(contentsOf: file)
            bytes.append(contentsOf: [UInt8](repeating: 0x20, count: length - bytes.count))
            try bytes.write(to: file)
            #expect((note.read(for: data.url) == data) == counts)
        }
    }

    @Test("Another user's note does not count", .enabled(if: geteuid() == 0, "requires root"))
    func otherUser() throws {
        try withNote { note, path, data in
            try #require(unsafe chown(path, 65_534, 65_534) == 0)
            #expect(note.read(for: data.url) == nil)
        }
    }
}
