import Foundation
import TestSupport
import Testing

/// A folder with a file larger than any buffer, and its content.
private struct LargeFile {
    let folder: Folder
    let content: [UInt8]

    /// Writes blocks of noise, each with its number, so that bytes from another place are detected.
    init(byteCount: Int) throws {
        let block = [UInt8].noise(1_048_573, seed: 7)
        var content: [UInt8] = []
        content.reserveCapacity(byteCount + block.count)
        var number: UInt8 = 0
        while content.count < byteCount {
            content.append(number)
            content += block
            number &+= 1
        }
        content.removeLast(content.count - byteCount)
        folder = try Folder()
        try folder.write(content, to: "large.bin")
        self.content = content
    }
}

@Suite("RFC 9110 section 14: downloads by curl", .fewAtOnce, .overTLSToo)
struct CurlDownloadTests {
    @Test func aLargeFileArrivesWholeAndByFiftyRanges() async throws {
        let file = try LargeFile(byteCount: 64 << 20)
        let server = try await ServeProcess(file.folder)
        let whole = try await server.curl(path: "/large.bin")
        #expect(whole.status == 0 && whole.output == file.content)

        let choices = [UInt8].noise(50 * 4, seed: 50)
        for number in 0..<50 {
            let choice = choices[(number * 4)..<(number * 4 + 4)].map(Int.init)
            let first = (choice[0] << 16 | choice[1] << 8 | choice[2]) * 4
            let count = min(choice[3] << (choice[2] % 13) | 1, file.content.count - first)
            let range = first...(first + count - 1)
            let part = try await server.curl(
                "-f", "-r", "\(range.lowerBound)-\(range.upperBound)", path: "/large.bin")
            #expect(part.output.elementsEqual(file.content[range]), "bytes \(range)")
        }
    }

    @Test func aDownloadIsResumed() async throws {
        let file = try LargeFile(byteCount: 3 << 20)
        let server = try await ServeProcess(file.folder)
        let target = try Folder()
        try target.write(Array(file.content[..<1_234_567]), to: "part")
        let result = try await server.curl(
            "-C", "-", "-o", target.file("part").path, path: "/large.bin")
        #expect(result.status == 0)
        #expect(target.bytes("part") == file.content)
    }

    @Test func headTellsTheLengthAndSendsNothing() async throws {
        let file = try LargeFile(byteCount: 1 << 20)
        let server = try await ServeProcess(file.folder)
        let head = PlainResponse(head: try await server.curl("-I", path: "/large.bin").text)
        #expect(head.status == 200)
        #expect(head["content-length"] == "1048576" && head["accept-ranges"] == "bytes")
        #expect(head["content-type"] == "application/octet-stream")
        let socket = try server.connect()
        try await socket.send(
            "HEAD /large.bin HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        let all = String(decoding: try await socket.receiveAll(), as: UTF8.self)
        #expect(all.hasSuffix("\r\n\r\n") && all.components(separatedBy: "\r\n\r\n").count == 2)
    }

    @Test func partsOfAFileComeInOneMultipartResponse() async throws {
        let folder = try Folder()
        try folder.write("0123456789abcdefghij", to: "f.txt")
        let server = try await ServeProcess(folder)
        let result = try await server.curl("-i", "-r", "0-1,10-11,-3", path: "/f.txt")
        let pieces = result.text.components(separatedBy: "\r\n\r\n")
        let head = PlainResponse(head: pieces[0])
        #expect(head.status == 206)
        let type = try #require(head["content-type"])
        let mark = "multipart/byteranges; boundary="
        #expect(type.hasPrefix(mark))
        let boundary = "--" + type.dropFirst(mark.count).filter { $0 != "\"" }
        let content = pieces.dropFirst().joined(separator: "\r\n\r\n")
        let parts = content.components(separatedBy: boundary)
        #expect(parts.count == 5 && parts.last?.hasPrefix("--") == true)
        let expected = [("0-1", "01"), ("10-11", "ab"), ("17-19", "hij")]
        for (part, (range, text)) in zip(parts.dropFirst(), expected) {
            #expect(part.lowercased().contains("content-range: bytes \(range)/20\r\n"))
            #expect(part.hasSuffix("\r\n\r\n\(text)\r\n"))
        }
        #expect(head["content-length"] == String(content.utf8.count))
    }

    @Test func aRangeBehindTheEndIsRefused() async throws {
        let folder = try Folder()
        try folder.write("0123456789", to: "f.txt")
        let server = try await ServeProcess(folder)
        let head = PlainResponse(
            head: try await server.curl("-i", "-r", "10-", path: "/f.txt").text)
        #expect(head.status == 416 && head["content-range"] == "bytes */10")
    }
}

@Suite("RFC 9110 section 13: conditional requests by curl", .fewAtOnce, .overTLSToo)
struct CurlConditionTests {
    /// Fields of a conditional request, and the status of its response.
    struct Case: CustomTestStringConvertible {
        var fields: [String]
        var status: Int
        var testDescription: String { "\(fields.joined(separator: ", ")): \(status)" }
    }

    @Test(arguments: [
        Case(fields: ["If-None-Match: TAG"], status: 304),
        Case(fields: ["If-None-Match: \"other\""], status: 200),
        Case(fields: ["If-Modified-Since: DATE"], status: 304),
        Case(fields: ["If-Modified-Since: Tue, 01 Jan 1980 00:00:00 GMT"], status: 200),
        Case(fields: ["If-None-Match: \"other\"", "If-Modified-Since: DATE"], status: 200),
        Case(fields: ["If-Match: TAG"], status: 200),
        Case(fields: ["If-Match: \"other\""], status: 412),
        Case(fields: ["If-Unmodified-Since: Tue, 01 Jan 1980 00:00:00 GMT"], status: 412),
        Case(fields: ["If-Range: TAG", "Range: bytes=0-1"], status: 206),
        Case(fields: ["If-Range: \"other\"", "Range: bytes=0-1"], status: 200),
    ])
    func aConditionDecides(_ test: Case) async throws {
        let folder = try Folder()
        try folder.write("0123456789", to: "f.txt")
        let old = Date(timeIntervalSince1970: 1_600_000_000)
        try FileManager.default.setAttributes(
            [.modificationDate: old], ofItemAtPath: folder.file("f.txt").path)
        let server = try await ServeProcess(folder)
        let before = PlainResponse(head: try await server.curl("-I", path: "/f.txt").text)
        let tag = try #require(before["etag"])
        let date = try #require(before["last-modified"])
        #expect(date == "Sun, 13 Sep 2020 12:26:40 GMT")
        let fields = test.fields.map {
            $0.replacingOccurrences(of: "TAG", with: tag)
                .replacingOccurrences(of: "DATE", with: date)
        }
        let result = try await Program.run(
            "curl", ["-sSi", "-m", "110"] + fields.flatMap { ["-H", $0] } + [server.url("/f.txt")])
        let response = PlainResponse(head: result.text)
        #expect(response.status == test.status)
        let content = result.text.components(separatedBy: "\r\n\r\n").dropFirst().joined()
        switch test.status {
        case 200: #expect(content == "0123456789")
        case 206: #expect(content == "01")
        case 304: #expect(content.isEmpty && response["etag"] == tag)
        default: #expect(!content.contains("0123456789"))
        }
    }
}
