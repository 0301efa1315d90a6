import HTTPCodecs
import HTTPParser
import HTTPServerCore
import ResumableUploads
import TestSupport
import Testing
import ToolkitSystem

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The names in the folder for parts.
enum FolderNames {
    static func of(_ disk: ServerDirectory) throws -> [String] {
        guard disk.exists("parts") else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: disk.path("parts")).sorted()
    }
}

@Suite("Resumable uploads: Interrupted connections and processes")
struct UploadCutTests {
    private static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    }

    /// Waits for a 104 and returns its Location.
    private static func location(on connection: MemoryConnection) async throws -> String {
        let record = try await connection.output("\r\n\r\n")
        let lines = try #require(UploadAnswer.interim(record.text).first)
        let line = try #require(lines.first { $0.hasPrefix("Location: ") })
        return String(line.dropFirst(10))
    }

    @Test("Content received before a disconnection is kept", arguments: [1, 300_000])
    func cut(count: Int) async throws {
        let client = try UploadClient()
        let content = Self.bytes(400_000)
        let connection = try await client.begin(
            "PUT", "/up/f", ["Upload-Complete: ?1", "Content-Length: \(content.count)"],
            Array(content[..<count]))
        let location = try await Self.location(on: connection)
        connection.hangUp()
        try await waitUntil { try await client.offset(location) == count }
        #expect(client.received.withLock { $0 }.isEmpty)
        let answer = try await client.send(
            "PATCH", location,
            [
                "Upload-Offset: \(count)", "Upload-Complete: ?1",
                "Content-Type: application/partial-upload",
            ], Array(content[count...]))
        #expect(answer.status == 201)
        #expect(client.received.withLock { $0.map(\.content) } == [content])
    }

    @Test("A newer request for an upload ends the older one first")
    func twoRequests() async throws {
        let client = try UploadClient()
        let location = try await client.begin()
        let content = Self.bytes(300_010)
        let fields = [
            "Upload-Complete: ?1", "Content-Type: application/partial-upload",
        ]
        let older = try await client.begin(
            "PATCH", location, fields + ["Upload-Offset: 0", "Content-Length: \(content.count)"],
            Array(content[..<300_000]))
        let size = { try FileManager.default.attributesOfItem(atPath: $0)[.size] as? UInt64 }
        let part = client.disk.path("parts/" + location.suffix(32))
        // Once something is written, the older request holds the upload.
        try await waitUntil { try size(part) ?? 0 > 0 }
        #expect(try await client.offset(location) == 300_000)
        #expect(try size(part) == 300_000)
        try await older.closed()
        let newer = try await client.send(
            "PATCH", location, fields + ["Upload-Offset: 300000"], Array(content[300_000...]))
        #expect(newer.status == 201)
        #expect(client.received.withLock { $0.map(\.content) } == [content])
        #expect(ServerAnswer.all(older.record.output).isEmpty)
    }

    @Test("DELETE ends a running request, too")
    func deletion() async throws {
        let client = try UploadClient()
        let connection = client.open("PUT", "/up/f", ["Upload-Complete: ?1", "Content-Length: 10"])
        let location = try await Self.location(on: connection)
        connection.send("abc")
        #expect(try await client.send("DELETE", location).status == 204)
        try await connection.closed()
        #expect(try await client.send("HEAD", location).status == 404)
        #expect(try FolderNames.of(client.disk) == [])
    }

    @Test(
        "After a restart the server continues uploads from the folder", arguments: [false, true])
    func reopening(synchronizes: Bool) async throws {
        var options = ResumableUploadHandler.Options()
        options.synchronizes = synchronizes
        let content = Self.bytes(300_000)
        let first = try UploadClient(options: options)
        let connection = try await first.begin(
            "PUT", "/up/f?n=1",
            ["Upload-Complete: ?1", "Content-Length: \(content.count)", "X-Mine: 1"],
            Array(content[..<270_000]))
        let location = try await Self.location(on: connection)
        // As if the first server was killed: only written bytes count.
        let second = try UploadClient(on: first.disk, options: options)
        let offset = try #require(try await second.offset(location))
        #expect(0...270_000 ~= offset)
        connection.hangUp()
        try await connection.closed()
        try await waitUntil { try await first.offset(location) == 270_000 }
        let later = try #require(try await second.offset(location))
        #expect(later == 270_000)
        let third = try UploadClient(on: first.disk, options: options)
        let answer = try await third.send(
            "PATCH", location,
            [
                "Upload-Offset: 270000", "Upload-Complete: ?1",
                "Content-Type: application/partial-upload",
            ], Array(content[270_000...]))
        #expect(answer.status == 201)
        let got = try #require(third.received.withLock { $0 }.first)
        #expect(got.content == content && got.target == "/up/f?n=1" && got["X-Mine"] == "1")
        // The response is kept over a restart, too.
        let fourth = try UploadClient(on: first.disk, options: options)
        let told = try await fourth.send("HEAD", location)
        #expect(told["Upload-Complete"] == "?1" && told["Upload-Offset"] == "300000")
    }

    @Test("Incomplete files of a dead process are ignored and removed")
    func leftOvers() async throws {
        let first = try UploadClient()
        let location = try await first.begin()
        let name = String(location.suffix(32))
        let other = String(repeating: "a", count: 32)
        try first.disk.write("parts/\(other)", "a part without a record")
        try first.disk.write("parts/\(name).new", "half a rec")
        for stray in [other, "\(name).new"] { try first.disk.setModified("parts/\(stray)", 1_000) }
        let second = try UploadClient(on: first.disk)
        #expect(try await second.send("HEAD", "/up/.uploads/\(other)").status == 404)
        #expect(try FolderNames.of(first.disk).sorted() == [name, name + ".json"])
        try first.disk.write("parts/\(name).json", "{\"broken\":")
        #expect(try await second.send("HEAD", location).status == 404)
        _ = try UploadClient(on: first.disk)
        #expect(try FolderNames.of(first.disk) == [])
    }

    @Test(
        "With disconnections at any place the offset never decreases, and all content arrives",
        arguments: 1...4)
    func manyCuts(seed: UInt64) async throws {
        let client = try UploadClient()
        var random = SeededGenerator(seed: seed)
        let content = Self.bytes(1_500_000)
        var offset = 0
        let location = try await client.begin("Upload-Length: \(content.count)")
        while offset < content.count {
            let connection = client.open(
                "PATCH", location,
                [
                    "Upload-Offset: \(offset)", "Upload-Complete: ?1",
                    "Content-Type: application/partial-upload",
                    "Content-Length: \(content.count - offset)",
                ])
            let end = min(offset + Int.random(in: 1...400_000, using: &random), content.count)
            connection.feed([.bytes(Array(content[offset..<end]))])
            await connection.settle()
            if end == content.count {
                #expect(try await client.answer(on: connection).status == 201)
                break
            }
            if Bool.random(using: &random) { connection.hangUp() }
            let told = try #require(try await client.offset(location))
            #expect(told >= offset && told <= end)
            offset = told
        }
        #expect(client.received.withLock { $0.map(\.content) } == [content])
    }
}

/// A generator with the same numbers for the same seed.
private struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}
