import Foundation
import HTTPCodecs
import HTTPParser
import TestSupport
import Testing

@Suite("ZIP archives (APPNOTE.TXT)")
struct ZIPWriterTests {
    private static let time = InternetTimestamp(secondsSinceEpoch: 1_764_000_001)

    /// A member as an independent reader lists it.
    private struct Listed: Decodable, Equatable {
        var name: String
        var size: UInt64
        var offset: UInt64
        var date: [Int]
        var isFolder: Bool
        var checksum: UInt32
        var mode: Int
    }

    /// Lists the members with Python, which also reads the content if `readsAll` is set.
    private func listed(_ file: String, readsAll: Bool = true) async throws -> [Listed] {
        let script = """
            import json, sys, zipfile
            archive = zipfile.ZipFile(sys.argv[1])
            if \(readsAll ? "True" : "False"):
                assert archive.testzip() is None
            print(json.dumps([{"name": one.filename, "size": one.file_size,
                "offset": one.header_offset, "date": one.date_time, "isFolder": one.is_dir(),
                "checksum": one.CRC, "mode": one.external_attr >> 16}
                for one in archive.infolist()]))
            """
        let result = try await Program.run("python3", ["-c", script, file])
        try #require(result.status == 0, "\(result.complaints)")
        return try JSONDecoder().decode([Listed].self, from: Data(result.text.utf8))
    }

    private func withFile(
        _ archive: [UInt8], _ body: (String) async throws -> Void
    ) async throws {
        let path = FileManager.default.temporaryDirectory.path + "/zip-\(UUID().uuidString).zip"
        try Data(archive).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await body(path)
    }

    private func add(
        _ name: String, _ content: [UInt8], to writer: inout ZIPWriter, _ archive: inout [UInt8],
        length: Int64?
    ) throws {
        try writer.beginFile(name, modified: Self.time, length: length, into: &archive)
        // The content is written in pieces.
        for start in stride(from: 0, to: content.count, by: 7) {
            let piece = Array(content[start..<min(content.count, start + 7)])
            writer.content(piece.span)
            archive += piece
        }
        try writer.endFile(into: &archive)
    }

    @Test func otherProgramsReadIt() async throws {
        var (writer, archive) = (ZIPWriter(), [UInt8]())
        let long = [UInt8](repeating: 0x41, count: 100_000)
        try writer.addFolder("tree", modified: Self.time, into: &archive)
        try add("tree/hello.txt", Array("hello\n".utf8), to: &writer, &archive, length: 6)
        try add("tree/empty", [], to: &writer, &archive, length: 0)
        try add("tree/\u{FC} \u{1F600}.bin", long, to: &writer, &archive, length: nil)
        writer.finish(into: &archive)
        try await withFile(archive) { file in
            let members = try await listed(file)
            #expect(
                members.map(\.name) == [
                    "tree/", "tree/hello.txt", "tree/empty", "tree/\u{FC} \u{1F600}.bin",
                ])
            #expect(members.map(\.size) == [0, 6, 0, 100_000])
            #expect(members.map(\.isFolder) == [true, false, false, false])
            #expect(members.map(\.mode) == [0o040755, 0o100644, 0o100644, 0o100644])
            // 2025-11-24T16:00:01Z, with a step of two seconds.
            #expect(members.allSatisfy { $0.date == [2025, 11, 24, 16, 0, 0] })
            #expect(members[1].checksum == 0x363A_3020)
            let tested = try await Program.run("unzip", ["-t", file])
            #expect(tested.status == 0 && tested.text.contains("No errors detected"))
            let printed = try await Program.run("unzip", ["-p", file, "tree/hello.txt"])
            #expect(printed.text == "hello\n")
        }
    }

    @Test func anEmptyArchiveIsOne() async throws {
        var (writer, archive) = (ZIPWriter(), [UInt8]())
        writer.finish(into: &archive)
        #expect(archive.count == 22)
        try await withFile(archive) { file in
            let members = try await listed(file)
            #expect(members.isEmpty)
        }
    }

    @Test("Section 4.4.1.4: Offsets beyond 4 GiB are written as ZIP64")
    func offsetsBeyond4GiB() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/zip-\(UUID().uuidString).zip"
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let handle = try #require(FileHandle(forWritingAtPath: path))
        var (writer, archive) = (ZIPWriter(), [UInt8]())
        try add("near", [1], to: &writer, &archive, length: 1)
        try handle.write(contentsOf: Data(archive))
        // The hole takes no space on the disk.
        let hole: UInt64 = 5 << 30
        try handle.seek(toOffset: UInt64(archive.count) + hole)
        writer.skip(hole)
        archive = []
        try add("far", [2, 3], to: &writer, &archive, length: 2)
        writer.finish(into: &archive)
        try handle.write(contentsOf: Data(archive))
        try handle.close()
        let members = try await listed(path)
        #expect(members.map(\.name) == ["near", "far"] && members.map(\.size) == [1, 2])
        #expect(members[1].offset > hole)
    }

    @Test("A file of 4 GiB has lengths of eight bytes")
    func filesOf4GiB() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/zip-\(UUID().uuidString).zip"
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let handle = try #require(FileHandle(forWritingAtPath: path))
        var (writer, archive) = (ZIPWriter(), [UInt8]())
        let count: Int64 = 1 << 32
        try writer.beginFile("zeros", modified: Self.time, length: count, into: &archive)
        try handle.write(contentsOf: Data(archive))
        try handle.seek(toOffset: UInt64(archive.count) + UInt64(count))
        // Not read here; the check value is that of 4 GiB of zeros.
        writer.content(count: Int(count), checksum: 0xD202_EF8D)
        archive = []
        try writer.endFile(into: &archive)
        try add("last", [1], to: &writer, &archive, length: 1)
        writer.finish(into: &archive)
        try handle.write(contentsOf: Data(archive))
        try handle.close()
        let members = try await listed(path, readsAll: false)
        #expect(members.map(\.size) == [UInt64(count), 1])
        #expect(members[1].offset > UInt64(count))
        let last = try await Program.run("unzip", ["-p", path, "last"])
        #expect(last.output == [1])
    }

    @Test func manyMembersNeedZIP64() async throws {
        var (writer, archive) = (ZIPWriter(), [UInt8]())
        for number in 0..<65_600 {
            try writer.addFolder("\(number)", modified: Self.time, into: &archive)
            // Gives other tests time to handle responses.
            if number.isMultiple(of: 1_000) { await Task.yield() }
        }
        writer.finish(into: &archive)
        try await withFile(archive) { file in
            let members = try await listed(file, readsAll: false)
            #expect(members.count == 65_600)
        }
    }

    @Test func theDirectoryHasALimit() throws {
        var (writer, archive) = (ZIPWriter(directoryLimit: 1_000), [UInt8]())
        var count = 0
        #expect {
            while count < 100 {
                try writer.addFolder("name", modified: Self.time, into: &archive)
                count += 1
            }
        } throws: {
            ($0 as? CodecError)?.kind == .archiveTooLong
        }
        #expect((10..<20).contains(count))
    }

    @Test func contentOfAnotherLengthEndsNoFile() throws {
        for (length, kind) in [(Int64(4), CodecError.Kind.archiveTooLong), (6, .truncated)] {
            var (writer, archive) = (ZIPWriter(), [UInt8]())
            try writer.beginFile("a", modified: Self.time, length: length, into: &archive)
            writer.content(Array("hello".utf8).span)
            #expect {
                try writer.endFile(into: &archive)
            } throws: {
                ($0 as? CodecError)?.kind == kind
            }
        }
    }

    @Test(arguments: [
        "", "/a", "a/", "a//b", "..", "../a", "a/../b", ".", "a/./b", "a\\b", "a\0", "a\n",
        "a\u{7F}", "a\u{85}", "gpj.\u{202E}exe", "\u{200F}a",
    ])
    func namesThatLeadElsewhereAreRefused(_ name: String) throws {
        #expect(!ZIPWriter.isName(name.utf8))
        var (writer, archive) = (ZIPWriter(), [UInt8]())
        #expect {
            try writer.beginFile(name, modified: Self.time, into: &archive)
        } throws: {
            ($0 as? CodecError)?.kind == .invalidArchiveName
        }
        #expect(archive.isEmpty)
    }

    @Test func namesAreMadeSafe() {
        for name in ["a", "..a", "...", "a b", "\u{FC}", "\u{5E9}\u{5DC}", "C:", "<img>\"'"] {
            #expect(ZIPName.safe(Array(name.utf8)) == Array(name.utf8))
        }
        var made: Set<[UInt8]> = []
        let odd: [[UInt8]] = [
            [0x61, 0xFF, 0x2E, 0x74], [0x61, 0xFE, 0x2E, 0x74], [], [0x2E], [0x2E, 0x2E],
            Array("a\\b".utf8), Array("a\nb".utf8), Array("gpj.\u{202E}exe".utf8),
            [UInt8](repeating: 0xFF, count: 255), Array(repeating: 0x5C, count: 254) + [0x2E],
        ]
        for name in odd {
            let safe = ZIPName.safe(name)
            #expect(ZIPWriter.isName(safe) && safe.count <= 255, "\(name)")
            #expect(made.insert(safe).inserted)
        }
        let text = String(decoding: ZIPName.safe([0x61, 0xFF, 0x2E, 0x74]), as: UTF8.self)
        #expect(text.hasPrefix("a\u{FFFD}~") && text.hasSuffix(".t") && text.count == 13)
    }

    @Test func timesAreInTheirRange() async throws {
        var (writer, archive) = (ZIPWriter(), [UInt8]())
        let seconds: [Int64] = [-62_167_219_200, 0, 315_532_801, 4_354_819_199, 253_402_300_799]
        for (index, second) in seconds.enumerated() {
            try writer.addFolder(
                "\(index)", modified: InternetTimestamp(secondsSinceEpoch: second), into: &archive)
        }
        writer.finish(into: &archive)
        try await withFile(archive) { file in
            let dates = try await listed(file).map(\.date)
            #expect(
                dates == [
                    [1980, 1, 1, 0, 0, 0], [1980, 1, 1, 0, 0, 0], [1980, 1, 1, 0, 0, 0],
                    [2107, 12, 31, 23, 59, 58], [2107, 12, 31, 23, 59, 58],
                ])
        }
    }

    /// CRC-32 as RFC 1952 section 8 defines it, bit by bit.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        var sum = UInt32.max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }

    @Test("Check values are right for content of any length, in one piece and in two")
    func checksums() {
        let bytes = (0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* $0 &+ $0 >> 3) }
        let long = [1_000, 1_023, 1_024, 1_279, 1_280, 1_281, 5_000]
        for length in Array(0...260) + [319, 320, 321, 639] + long {
            let expected = Self.checksum(bytes[..<length])
            #expect(ZIPWriter.checksum(Array(bytes[..<length]).span, after: 0) == expected)
            let middle = length / 3
            let first = ZIPWriter.checksum(Array(bytes[..<middle]).span, after: 0)
            let whole = ZIPWriter.checksum(Array(bytes[middle..<length]).span, after: first)
            #expect(whole == expected, "\(length)")
        }
    }
}
