import HTTPParser
import HTTPServerCore
import HTTPServerKit
import ResumableUploads
import TestSupport
import ToolkitSystem

/// A request that the inner handler has received.
struct Received: Sendable {
    var method: String
    var target: String
    var fields: [String]
    var content: [UInt8]

    subscript(name: String) -> String? {
        fields.first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.utf8.count + 2)) }
    }
}

/// Uploads over connections in memory to a handler that records its requests.
final class UploadClient: Sendable {
    /// The handler's response to a request whose content it has read.
    typealias Answer = @Sendable (Received) throws -> Response
    /// Checks whether the handler would accept the content of a request.
    typealias Precheck = @Sendable (Request) async throws -> Response?

    let disk: ServerDirectory
    let received: Locked<[Received]>
    private let handler: any Handler

    /// - Parameters:
    ///   - disk: holds the parts; another client with the same disk acts as the server after a
    ///     restart.
    ///   - user: the user of all requests; `nil` for none.
    ///   - compresses: whether a CompressionHandler wraps the inner handler.
    ///   - compressesUploads: whether a CompressionHandler wraps the uploads.
    ///   - part: replaces the file of a part.
    ///   - before: runs in the handler before it reads the content.
    ///   - precheck: the handler's precheck; `nil` if it has none.
    ///   - answer: the handler's response.
    init(
        on disk: ServerDirectory? = nil, user: String? = nil,
        options: ResumableUploadHandler.Options = .init(), compresses: Bool = false,
        compressesUploads: Bool = false,
        part: @escaping @Sendable (OpenFile) -> OpenFile = { $0 },
        before: @escaping @Sendable (Request) throws -> Response? = { _ in nil },
        precheck: Precheck? = nil,
        answer: @escaping Answer = { _ in
            Response(.created, fields: ["X-Inner": "yes"], body: .text("done"))
        }
    ) throws {
        let disk = try disk ?? ServerDirectory()
        let received = Locked<[Received]>([])
        (self.disk, self.received) = (disk, received)
        let inner = AsyncHandler { request in
            if let early = try before(request) { return early }
            let content = try await request.body.collect(upTo: 64 << 20)
            let got = Received(
                method: request.method.name, target: request.target.text,
                fields: request.fields.map { "\($0.name.text): \($0.value)" }, content: content)
            received.withLock { $0.append(got) }
            return try answer(got)
        }
        let folder = disk.path("parts")
        let uploads: ResumableUploadHandler
        if let precheck {
            let judge = JudgingHandler(inner: inner, judge: precheck)
            uploads = ResumableUploadHandler(judge, folder: folder, options: options, part: part)
        } else if compresses {
            let compressing = CompressionHandler(inner)
            uploads = ResumableUploadHandler(compressing, folder: folder, options: options)
        } else {
            uploads = ResumableUploadHandler(inner, folder: folder, options: options, part: part)
        }
        var router = Router()
        router.mount("/up", uploads)
        let routes: any Handler = compressesUploads ? CompressionHandler(router) : router
        handler = AsyncHandler { request in
            if let user { request.identity = Identity(name: user) }
            return try await routes.respond(to: request)
        }
    }

    /// Opens a connection and sends a head.
    func open(_ method: String, _ path: String, _ fields: [String]) -> MemoryConnection {
        let connection = MemoryConnection(handler)
        connection.send(Self.head(method, path, fields))
        return connection
    }

    private static func head(_ method: String, _ path: String, _ fields: [String]) -> String {
        let lines =
            ["\(method) \(path) HTTP/1.1", "Host: example.org", "Connection: close"] + fields
        return lines.joined(separator: "\r\n") + "\r\n\r\n"
    }

    /// Opens a connection, sends a head and some content, and waits until these are received.
    func begin(
        _ method: String, _ path: String, _ fields: [String], _ content: [UInt8]
    ) async throws -> MemoryConnection {
        let connection = open(method, path, fields)
        connection.feed([.bytes(content)])
        let count = Self.head(method, path, fields).utf8.count + content.count
        try await connection.wait(for: "the content") { $0.received >= count }
        return connection
    }

    /// Sends a request and returns its response and the interim responses before it.
    func send(
        _ method: String, _ path: String, _ fields: [String] = [], _ content: String? = nil
    ) async throws -> UploadAnswer {
        try await send(method, path, fields, content.map { Array($0.utf8) })
    }

    func send(
        _ method: String, _ path: String, _ fields: [String], _ content: [UInt8]?
    ) async throws -> UploadAnswer {
        let length = content.map { ["Content-Length: \($0.count)"] } ?? []
        let connection = open(method, path, fields + length)
        if let content, !content.isEmpty { connection.feed([.bytes(content)]) }
        return try await answer(on: connection, isHead: method == "HEAD")
    }

    func answer(
        on connection: MemoryConnection, isHead: Bool = false
    ) async throws -> UploadAnswer {
        try await connection.wait(for: "a final answer") { UploadAnswer.isWhole($0.text) }
        connection.end()
        let record = try await connection.closed()
        let answers = ServerAnswer.all(record.output, heads: isHead ? [0] : [])
        guard let answer = answers.first else { throw NoAnswer(text: record.text) }
        return UploadAnswer(answer: answer, interim: UploadAnswer.interim(record.text))
    }

    // MARK: The final protocol

    /// Begins an upload without content.
    func begin(_ fields: String..., path: String = "/up/f") async throws -> String {
        let answer = try await send("POST", path, ["Upload-Complete: ?0"] + fields, "")
        guard answer.status == 201, let location = answer["Location"] else {
            throw NoAnswer(text: "\(answer)")
        }
        return location
    }

    func append(
        _ location: String, at offset: Int, _ content: String, isLast: Bool = false,
        _ fields: String...
    ) async throws -> UploadAnswer {
        try await send(
            "PATCH", location,
            [
                "Upload-Offset: \(offset)", "Upload-Complete: ?\(isLast ? 1 : 0)",
                "Content-Type: application/partial-upload",
            ] + fields, content)
    }

    /// The offset that the server reports.
    func offset(_ location: String) async throws -> Int? {
        try await send("HEAD", location)["Upload-Offset"].flatMap { Int($0) }
    }
}

/// A handler with a precheck.
private struct JudgingHandler: PrecheckingHandler {
    let inner: AsyncHandler
    let judge: UploadClient.Precheck

    func answer(_ request: Request) -> Answer { inner.answer(request) }

    func precheck(_ request: Request) async throws -> Response? { try await judge(request) }
}

/// A response, and the interim responses before it.
struct UploadAnswer: Sendable {
    var answer: ServerAnswer
    /// The lines of each interim response.
    var interim: [[String]]

    var status: Int { answer.status }
    var text: String { answer.text }
    subscript(name: String) -> String? { answer[name] }

    static func interim(_ output: String) -> [[String]] {
        output.split(separator: "\r\n\r\n")
            .map { $0.split(separator: "\r\n").map(String.init) }
            .prefix { $0.first?.hasPrefix("HTTP/1.1 1") ?? false }
            .map { $0 }
    }

    /// Whether a final head follows the interim responses.
    static func isWhole(_ output: String) -> Bool {
        output.components("\r\n\r\n").dropLast().contains { !$0.hasPrefix("HTTP/1.1 1") }
    }
}

extension String {
    fileprivate func components(_ separator: String) -> [Substring] {
        var parts: [Substring] = []
        var rest = self[...]
        while let range = rest.firstRange(of: separator) {
            parts.append(rest[..<range.lowerBound])
            rest = rest[range.upperBound...]
        }
        return parts + [rest]
    }
}

/// The output that is not a response.
struct NoAnswer: Error {
    var text: String
}
