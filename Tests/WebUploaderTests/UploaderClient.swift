import Foundation
import HTTPServerCore
import HTTPServerKit
import TestSupport
import ToolkitSystem
import WebDAVKit
import WebUploader

/// Sends requests to an upload page and to WebDAV with the same store, over connections in memory.
struct UploaderClient: Sendable {
    /// The scripts and the style of the page.
    static let assets = [
        "page.js", "api.js", "list.js", "transfers.js", "drops.js", "preview.js", "delete.js",
        "resume.js", "kept.js", "ask.js", "page.css",
    ]

    let store = MemoryStore()
    let handler: any Handler

    /// - Parameters:
    ///   - user: the user of all requests; `nil` for none.
    ///   - options: the options of the page.
    init(user: String? = nil, _ options: UploaderOptions = UploaderOptions()) {
        var options = options
        options.hosts?.allow("example.org")
        let dav = WebDAVHandler(store: store)
        var router = Router()
        router.mountWebDAV("/dav", dav)
        router.mount("/up", UploaderHandler(sharing: dav, options: options))
        let routes = router
        handler = AsyncHandler { request in
            if let user { request.identity = Identity(name: user) }
            return try await routes.respond(to: request)
        }
    }

    /// A client of a page that the test has mounted.
    init(over router: Router) {
        handler = router
    }

    func send(
        _ method: String, _ path: String, _ fields: [String] = [], _ content: [UInt8]? = nil
    ) async throws -> ServerAnswer {
        let connection = MemoryConnection(handler)
        var head = "\(method) \(path) HTTP/1.1\r\nConnection: close\r\n"
        for field in fields { head += field + "\r\n" }
        if !fields.contains(where: { $0.hasPrefix("Host: ") }) { head += "Host: example.org\r\n" }
        let isChunked = fields.contains("Transfer-Encoding: chunked")
        if let content, !isChunked { head += "Content-Length: \(content.count)\r\n" }
        connection.feed([.bytes(Array((head + "\r\n").utf8) + (content ?? []))])
        // A client that ends its stream before it is answered counts as gone.
        try await connection.output("\r\n\r\n")
        connection.end()
        let record = try await connection.closed()
        let heads: Set<Int> = method == "HEAD" ? [0] : []
        guard let answer = ServerAnswer.all(record.output, heads: heads).first else {
            throw NoAnswer(text: record.text)
        }
        return answer
    }

    // MARK: The interface for programs

    func get(_ path: String, _ fields: String...) async throws -> ServerAnswer {
        try await send("GET", "/up/" + path, fields)
    }

    /// Posts a form.
    func post(_ action: String, _ form: String, _ fields: String...) async throws -> ServerAnswer {
        try await send(
            "POST", "/up/" + action,
            fields + ["Content-Type: application/x-www-form-urlencoded"], Array(form.utf8))
    }

    /// Uploads the content of one file.
    @discardableResult
    func upload(
        _ query: String, _ content: String = "content", _ fields: String...
    ) async throws -> ServerAnswer {
        try await send(
            "POST", "/up/upload?" + query, fields + ["Content-Type: application/octet-stream"],
            Array(content.utf8))
    }

    /// Posts a form of several parts: fields first, then files.
    func form(
        _ parts: [(name: String, file: String?, content: String)], _ fields: String...
    ) async throws -> ServerAnswer {
        var content = ""
        for part in parts {
            let file = part.file.map { "; filename=\"\($0)\"" } ?? ""
            content += "--line\r\nContent-Disposition: form-data; name=\"\(part.name)\"\(file)\r\n"
            content += "\r\n\(part.content)\r\n"
        }
        return try await send(
            "POST", "/up/upload", fields + ["Content-Type: multipart/form-data; boundary=line"],
            Array((content + "--line--\r\n").utf8))
    }

    // MARK: Content of the store

    func text(_ path: String) async throws -> String? {
        let answer = try await send("GET", "/dav/" + path)
        return answer.status == 200 ? answer.text : nil
    }

    func put(_ path: String, _ content: String = "content") async throws {
        _ = try await send("PUT", "/dav/" + path, [], Array(content.utf8))
    }

    func makeFolder(_ path: String) async throws { _ = try await send("MKCOL", "/dav/" + path) }

    /// Takes a WebDAV lock.
    func lock(_ path: String, depth: String = "infinity") async throws {
        let wish = """
            <?xml version="1.0"?><lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope>\
            <locktype><write/></locktype></lockinfo>
            """
        _ = try await send("LOCK", "/dav/" + path, ["Depth: \(depth)"], Array(wish.utf8))
    }

    /// A browser's cookie and token.
    func session(_ fields: String...) async throws -> (cookie: String, token: String) {
        let answer = try await send("GET", "/up/token", fields)
        let cookie = answer["Set-Cookie"]?.prefix { $0 != ";" }
        return (cookie.map(String.init) ?? "", try answer.token)
    }
}

/// The output that is not a response.
struct NoAnswer: Error {
    var text: String
}

/// A response of the interface.
extension ServerAnswer {
    struct Item: Decodable, Hashable {
        var name: String
        var path: String
        var link: String
        var type: String?
        var size: Int?
        var mediaType: String?
        var undo: String?
        var preview: String?
    }

    private struct Items: Decodable {
        var items: [Item]?
        var entries: [Item]?
        var next: Int?
        var total: Int?
    }

    private struct Problem: Decodable {
        var status: Int
        var code: String?
        var title: String
        var detail: String?
        var limit: Int64?
    }

    private struct Token: Decodable { var token: String }

    private func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: Data(content))
    }

    /// The changed or listed items.
    var items: [Item] {
        get throws {
            let all = try decoded(Items.self)
            return all.items ?? all.entries ?? []
        }
    }

    var names: [String] { get throws { try items.map(\.name) } }
    var next: Int? { get throws { try decoded(Items.self).next } }
    var total: Int? { get throws { try decoded(Items.self).total } }
    var token: String { get throws { try decoded(Token.self).token } }
    /// The code of a refusal.
    var code: String? { try? decoded(Problem.self).code }
    /// The reason of a refusal as text.
    var detail: String? { try? decoded(Problem.self).detail }
    /// The byte limit that a file exceeded.
    var limit: Int64? { try? decoded(Problem.self).limit }
    /// Whether the response is a problem (RFC 9457) with its own status.
    var isProblem: Bool {
        self["Content-Type"] == "application/problem+json"
            && (try? decoded(Problem.self).status) == status
    }
}

extension RequestBody {
    /// Content in one piece.
    static func of(_ bytes: [UInt8]) -> RequestBody {
        let rest = Locked<[UInt8]?>(bytes)
        return .pieces {
            rest.withLock { rest in
                defer { rest = nil }
                return rest
            }
        }
    }
}
