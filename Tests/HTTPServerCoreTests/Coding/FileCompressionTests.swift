import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("Files for clients that accept gzip")
struct FileCompressionTests {
    private static let gzip = "Accept-Encoding: gzip\r\n"
    private let directory: ServerDirectory

    init() throws {
        directory = try ServerDirectory()
        for (name, size) in [("small.txt", 3_000), ("middle.js", 200_000), ("tiny.txt", 100)] {
            try directory.write(name, Coded.text(size))
            try directory.setModified(name, 784_111_777)
        }
        try directory.write("photo.png", Coded.noise(3_000))
    }

    private func files(_ precompressed: Bool = false) -> FileHandler {
        var options = FileHandler.Options()
        options.servesPrecompressed = precompressed
        return FileHandler(root: directory.path, options: options)
    }

    // MARK: Compressed while sent

    @Test(
        "Compressed files have a separate entity tag, no ranges, and the other fields of the file",
        arguments: ["small.txt", "middle.js"])
    func compressed(_ name: String) async throws {
        let handler = CompressionHandler(files())
        let plain = try await Coded.get(handler, "", target: "/\(name)")
        let coded = try await Coded.get(handler, Self.gzip, target: "/\(name)")
        #expect(plain["Content-Encoding"] == nil && plain["Accept-Ranges"] == "bytes")
        #expect(coded["Content-Encoding"] == "gzip" && coded["Accept-Ranges"] == nil)
        #expect(try coded.plain == plain.content)
        #expect(coded["ETag"] != plain["ETag"])
        for name in ["Last-Modified", "Content-Type", "Vary", "Cache-Control"] {
            #expect(coded[name] == plain[name] && coded[name] != nil)
        }
    }

    @Test(
        "Short files and incompressible media types are not compressed",
        arguments: ["tiny.txt", "photo.png"])
    func left(_ name: String) async throws {
        let coded = try await Coded.get(
            CompressionHandler(files()), Self.gzip, target: "/\(name)")
        #expect(coded["Content-Encoding"] == nil)
        #expect(coded["Vary"] == nil)
    }

    @Test(
        "A cached file gets the same response as one that is read", arguments: [false, true],
        ["small.txt", "tiny.txt", "photo.png"])
    func inMemory(_ precompressed: Bool, _ name: String) async throws {
        var options = FileHandler.Options()
        options.servesPrecompressed = precompressed
        let keeping = try FileHandler(
            directory: directory.path, options: options, settlingSeconds: 0)
        options.cachedBytes = 0
        let reading = CompressionHandler(FileHandler(root: directory.path, options: options))
        let handler = CompressionHandler(keeping)
        for fields in ["", "", Self.gzip, "Accept-Encoding: gzip, identity;q=0\r\n", ""] {
            let kept = try await Coded.get(handler, fields, target: "/\(name)")
            let read = try await Coded.get(reading, fields, target: "/\(name)")
            #expect(lines(kept) == lines(read) && kept.content == read.content)
        }
        #expect(keeping.keptFiles == 1)
    }

    private func lines(_ answer: ServerAnswer) -> [String] {
        answer.fields.filter { $0.name != "Date" }.map { "\($0.name): \($0.value)" }
    }

    @Test("Files above the limit are not compressed", arguments: [200_000, 199_999])
    func limit(_ limit: Int64) async throws {
        var options = CompressionHandler.Options()
        options.fileByteLimit = limit
        let coded = try await Coded.get(
            CompressionHandler(files(), options: options), Self.gzip, target: "/middle.js")
        #expect((coded["Content-Encoding"] == "gzip") == (limit == 200_000))
    }

    @Test("Ranges are ranges of the file")
    func ranges() async throws {
        let coded = try await Coded.get(
            CompressionHandler(files()), Self.gzip + "Range: bytes=5-9\r\n", target: "/small.txt")
        #expect(coded.status == 206)
        #expect(coded.content == Array(Array(Coded.text(3_000).utf8)[5...9]))
        #expect(coded["Content-Encoding"] == nil)
    }

    @Test(
        "15.3.7: A partial response has the Vary of the whole",
        arguments: ["small.txt", "middle.js", "tiny.txt", "photo.png"], [gzip, ""])
    func varyOfParts(_ name: String, _ accept: String) async throws {
        for limit in [1 << 20, 199_999] as [Int64] {
            var options = CompressionHandler.Options()
            options.fileByteLimit = limit
            let handler = CompressionHandler(files(), options: options)
            let whole = try await Coded.get(handler, accept, target: "/\(name)")
            let part = try await Coded.get(
                handler, accept + "Range: bytes=5-9\r\n", target: "/\(name)")
            #expect(part.status == 206 && part["Content-Encoding"] == nil)
            #expect(part["Vary"] == whole["Vary"])
        }
    }

    @Test("15.3.7: Several parts have Vary, because caches may combine them by their validator")
    func varyOfSeveralParts() async throws {
        let part = try await Coded.get(
            CompressionHandler(files()), "Range: bytes=0-1, 9-10\r\n", target: "/small.txt")
        #expect(part.status == 206)
        #expect(part["Content-Type"]?.hasPrefix("multipart/byteranges") == true)
        #expect(part["Vary"] == "Accept-Encoding")
    }

    @Test("A file that has not changed lately is cached until it changes")
    func kept() async throws {
        let handler = CompressionHandler(files())
        let (old, new) = (Coded.text(30_000), Coded.text(30_000, seed: 2))
        let begin = Syscalls.realtime().seconds
        try directory.write("page.txt", old)
        try directory.setModified("page.txt", 784_111_777)
        let end = Syscalls.realtime().seconds
        // A file that changed in this second may change again within it, so it is not cached
        // yet. On a slow machine the next second may have begun.
        let early = try await Coded.get(handler, Self.gzip, target: "/page.txt")
        #expect(try early.plain == Array(old.utf8))
        #expect(handler.keptBytes == 0 || Syscalls.realtime().seconds > begin)
        try await waitUntil { Syscalls.realtime().seconds >= end + 2 }
        let first = try await Coded.get(handler, Self.gzip, target: "/page.txt")
        let size = handler.keptBytes
        #expect(size > 0)
        let second = try await Coded.get(handler, Self.gzip, target: "/page.txt")
        #expect(second.content == first.content && second.content == early.content)
        #expect(handler.keptBytes == size)
        // Length and date stay the same; only the change time differs.
        try directory.write("page.txt", new)
        try directory.setModified("page.txt", 784_111_777)
        let changed = try await Coded.get(handler, Self.gzip, target: "/page.txt")
        #expect(try changed.plain == Array(new.utf8))
    }

    @Test("A file that is truncated while it is sent closes the connection")
    func cut() async throws {
        // Many times the amount that is read ahead for a client that reads nothing.
        try directory.write("long.js", Coded.noise(900_000))
        let client = MemoryConnection(
            CompressionHandler(files()), peer: MemoryTransport.Peer(credit: 2_000))
        client.send(Sample.get("/long.js", Self.gzip))
        try await client.wait(for: "a blocked send") { $0.interest.contains(.write) }
        try directory.truncate("long.js", to: 1_000)
        client.read(2_000_000)
        let record = try await client.wait(for: "an end") {
            $0.isClosed || $0.count(of: "\r\n0\r\n\r\n") > 0
        }
        #expect(record.isClosed && record.count(of: "\r\n0\r\n\r\n") == 0)
        #expect(record.count(of: "Content-Encoding: gzip\r\n") == 1)
    }

    // MARK: Precompressed files

    private func addSibling(_ name: String, _ content: String, modified: Int) throws -> [UInt8] {
        let coded = try Coded.gzip(Array(content.utf8))
        try directory.write(name, coded)
        try directory.setModified(name, modified)
        return coded
    }

    @Test("NAME.gz is sent for NAME, with the type of NAME and its own validators")
    func sibling() async throws {
        let coded = try addSibling("small.txt.gz", Coded.text(3_000), modified: 784_111_777)
        let handler = files(true)
        let plain = try await Coded.get(handler, "", target: "/small.txt")
        let answer = try await Coded.get(handler, Self.gzip, target: "/small.txt")
        #expect(plain["Content-Encoding"] == nil && plain["Vary"] == "Accept-Encoding")
        #expect(answer.content == coded)
        #expect(answer["Content-Encoding"] == "gzip")
        #expect(answer["Content-Type"] == plain["Content-Type"])
        #expect(answer["Vary"] == "Accept-Encoding")
        #expect(answer["ETag"] != plain["ETag"])
        let tag = try #require(answer["ETag"])
        let again = try await Coded.get(
            handler, Self.gzip + "If-None-Match: \(tag)\r\n", target: "/small.txt")
        #expect(again.status == 304 && again["ETag"] == tag && again["Vary"] != nil)
        #expect(again["Content-Encoding"] == nil)
        let head = try await Coded.get(handler, Self.gzip, method: "HEAD", target: "/small.txt")
        #expect(head["Content-Length"] == "\(coded.count)")
        #expect(head["Content-Encoding"] == "gzip")
    }

    @Test("13.1.5: A date shared by both forms is not accepted in If-Range")
    func siblingDates() async throws {
        let coded = try addSibling("small.txt.gz", Coded.text(3_000), modified: 784_111_777)
        let handler = files(true)
        let range = "Range: bytes=2-11\r\nIf-Range: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
        let plain = try await Coded.get(handler, range, target: "/small.txt")
        #expect(plain.status == 200 && plain.content == Array(Coded.text(3_000).utf8))
        let answer = try await Coded.get(handler, Self.gzip + range, target: "/small.txt")
        #expect(answer.status == 200 && answer.content == coded)
        #expect(answer["Last-Modified"] == plain["Last-Modified"])
        // A conditional handler around it does not make a part of it.
        let conditional = ConditionalHandler(handler)
        let around = try await Coded.get(conditional, range, target: "/small.txt")
        #expect(around.status == 200 && around.content == plain.content)
        // A file with a single form has ranges by date.
        #expect(try await Coded.get(files(), range, target: "/small.txt").status == 206)
    }

    @Test("14: Ranges of a precompressed file are ranges of the coded form")
    func siblingRanges() async throws {
        let coded = try addSibling("small.txt.gz", Coded.text(3_000), modified: 784_111_777)
        let handler = files(true)
        let tag = try #require(
            try await Coded.get(handler, Self.gzip, target: "/small.txt")["ETag"])
        let part = try await Coded.get(
            handler, Self.gzip + "Range: bytes=2-11\r\nIf-Range: \(tag)\r\n",
            target: "/small.txt")
        #expect(part.status == 206)
        #expect(part.content == Array(coded[2...11]))
        #expect(part["Content-Encoding"] == "gzip")
        #expect(part["Content-Range"] == "bytes 2-11/\(coded.count)")
        let several = try await Coded.get(
            handler, Self.gzip + "Range: bytes=0-1,9-10\r\n", target: "/small.txt")
        #expect(several.status == 200 && several.content == coded)
        let beyond = try await Coded.get(
            handler, Self.gzip + "Range: bytes=99999-\r\n", target: "/small.txt")
        #expect(beyond.status == 416 && beyond["Content-Encoding"] == nil)
    }

    @Test(
        "A sibling NAME.gz that is older, empty or not a file is ignored", arguments: [0, 1, 2])
    func unfit(_ kind: Int) async throws {
        switch kind {
        case 0: _ = try addSibling("small.txt.gz", "old", modified: 784_111_776)
        case 1: try directory.write("small.txt.gz", "")
        default: try directory.makeDirectory("small.txt.gz")
        }
        let answer = try await Coded.get(files(true), Self.gzip, target: "/small.txt")
        #expect(answer["Content-Encoding"] == nil)
        #expect(answer.text == Coded.text(3_000))
        #expect(answer["Vary"] == "Accept-Encoding")
    }

    @Test("Siblings are ignored by default, and for incompressible types")
    func off() async throws {
        _ = try addSibling("small.txt.gz", "other", modified: 900_000_000)
        _ = try addSibling("photo.png.gz", "other", modified: 4_000_000_000)
        let plain = try await Coded.get(files(), Self.gzip, target: "/small.txt")
        #expect(plain["Content-Encoding"] == nil && plain["Vary"] == nil)
        let photo = try await Coded.get(files(true), Self.gzip, target: "/photo.png")
        #expect(photo["Content-Encoding"] == nil && photo["Vary"] == nil)
    }

    @Test("Both together: a precompressed file is sent as it is, others are compressed")
    func together() async throws {
        let coded = try addSibling("small.txt.gz", Coded.text(3_000), modified: 900_000_000)
        let handler = CompressionHandler(files(true))
        let first = try await Coded.get(handler, Self.gzip, target: "/small.txt")
        #expect(first.content == coded)
        #expect(first.fields.filter { $0.name == "Vary" }.count == 1)
        let second = try await Coded.get(handler, Self.gzip, target: "/middle.js")
        #expect(try second.plain == Array(Coded.text(200_000).utf8))
        #expect(second.fields.filter { $0.name == "Vary" }.count == 1)
        let direct = try await Coded.get(handler, Self.gzip, target: "/small.txt.gz")
        #expect(direct["Content-Encoding"] == nil)
        #expect(direct["Content-Type"] == "application/gzip")
    }
}
