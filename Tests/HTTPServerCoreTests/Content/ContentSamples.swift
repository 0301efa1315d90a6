import Foundation
import HTTPParser
import HTTPServerCore
import TestSupport
import ToolkitSystem

/// Requests with content, and helpers that look at files on the disk.
enum Content {
    /// A request with content of a media type; `nil` leaves Content-Type out.
    static func post(
        _ mediaType: String?, _ content: [UInt8], _ fields: String = ""
    ) -> MemoryTransport.Input {
        let type = mediaType.map { "Content-Type: \($0)\r\n" } ?? ""
        let head = "POST / HTTP/1.1\r\nHost: a\r\n\(type)Content-Length: \(content.count)\r\n"
        return .bytes(Array((head + fields + "\r\n").utf8) + content)
    }

    static func post(_ mediaType: String?, _ content: String) -> MemoryTransport.Input {
        post(mediaType, Array(content.utf8))
    }

    /// The head of a request with chunked content.
    static func chunkedHead(_ mediaType: String) -> String {
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: \(mediaType)\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n"
    }

    /// The responses to some requests, each sent after the response to the previous one, and to one
    /// more request that shows that the connection can still be used.
    static func answers(
        _ input: [MemoryTransport.Input], _ handler: any Handler
    ) async throws -> [ServerAnswer] {
        let client = MemoryConnection(handler)
        for (index, input) in input.enumerated() {
            client.feed([input])
            try await client.output("HTTP/1.1 ", times: index + 1)
        }
        client.send(Sample.get("/next"))
        // If too much content was left unread, the connection closes instead.
        let record = try await client.wait(for: "the next answer or the end") { record in
            record.count(of: "HTTP/1.1 ") > input.count || record.hasShutDownWriting
                || record.isClosed
        }
        return ServerAnswer.all(record.output)
    }

    /// The response to one request, and whether the connection persisted after it.
    static func answer(
        _ input: MemoryTransport.Input,
        _ respond: @escaping @Sendable (Request) async throws -> Response
    ) async throws -> (answer: ServerAnswer, goesOn: Bool) {
        let handler = AsyncHandler { request in
            request.method == .get ? Response(.ok, body: .text("next")) : try await respond(request)
        }
        let answers = try await answers([input], handler)
        return (answers[0], answers.last?.text == "next")
    }

    // MARK: Multipart

    static let multipart = "multipart/form-data; boundary=xYzZy"

    /// A part of a form; a file if it has a `filename`.
    static func part(
        _ name: String, _ content: [UInt8], filename: String? = nil, type: String? = nil
    ) -> [UInt8] {
        var head = "--xYzZy\r\nContent-Disposition: form-data; name=\"\(name)\""
        if let filename { head += "; filename=\"\(filename)\"" }
        if let type { head += "\r\nContent-Type: \(type)" }
        return Array((head + "\r\n\r\n").utf8) + content + Array("\r\n".utf8)
    }

    static func part(_ name: String, _ content: String) -> [UInt8] {
        part(name, Array(content.utf8))
    }

    static let end = Array("--xYzZy--\r\n".utf8)

    /// Bytes without a pattern, so that misplaced ones are detected.
    static func noise(_ count: Int) -> [UInt8] {
        var state: UInt32 = 1
        return (0..<count).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: state >> 24)
        }
    }

    // MARK: Files

    /// A file system other than that of the temporary files, if there is one.
    static let memoryDisk = "/dev/shm"
    static var hasMemoryDisk: Bool { FileManager.default.isWritableFile(atPath: memoryDisk) }

    static func folder(of path: String) -> String {
        "/" + path.split(separator: "/").dropLast().joined(separator: "/")
    }

    static func names(in folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder))?.sorted() ?? []
    }

    static func bytes(_ path: String) -> [UInt8]? {
        FileManager.default.contents(atPath: path).map { Array($0) }
    }

    static func permissions(_ path: String) -> Int? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.posixPermissions] as? Int
    }

    /// Waits until a folder holds that many names; files are removed some time after their release.
    /// - Returns: true; the wait throws at its time limit.
    static func holds(_ folder: String, _ count: Int) async throws -> Bool {
        try await waitUntil {
            try await BlockingPool.files.run { names(in: folder).count } == count
        }
        return true
    }
}
