import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import WebDAVKit

/// Sends each request to a handler over a separate connection in memory.
struct DAVClient: Sendable {
    let router: Router
    /// Keeps the store's directory as long as the client.
    var share: Share?

    init(
        store: any ResourceStore = MemoryStore(), locks: any LockStore = MemoryLockStore(),
        options: WebDAVOptions = WebDAVOptions(), prefix: String = "/dav"
    ) {
        var router = Router()
        router.mountWebDAV(
            prefix, WebDAVHandler(store: store, locks: locks, options: options))
        self.router = router
    }

    init(router: Router) {
        self.router = router
    }

    func send(
        _ method: String, _ path: String, _ fields: [String] = [], _ content: String = ""
    ) async throws -> ServerAnswer {
        let connection = MemoryConnection(router)
        var head = "\(method) \(path) HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n"
        for field in fields { head += field + "\r\n" }
        let isChunked = fields.contains("Transfer-Encoding: chunked")
        if !isChunked, !content.isEmpty || method == "PUT" {
            head += "Content-Length: \(content.utf8.count)\r\n"
        }
        connection.send(head + "\r\n" + content)
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

    /// Sends a request and returns only the status.
    func status(
        _ method: String, _ path: String, _ fields: [String] = [], _ content: String = ""
    ) async throws -> Int {
        try await send(method, path, fields, content).status
    }

    /// Takes a lock and returns its token.
    func lock(
        _ path: String, depth: String = "infinity", scope: String = "exclusive"
    ) async throws -> String {
        let answer = try await send("LOCK", path, ["Depth: \(depth)"], Self.lockInfo(scope))
        return String((answer["Lock-Token"] ?? "").dropFirst().dropLast())
    }

    static func lockInfo(_ scope: String = "exclusive") -> String {
        """
        <?xml version="1.0"?><lockinfo xmlns="DAV:"><lockscope><\(scope)/></lockscope>\
        <locktype><write/></locktype><owner><href>mailto:ann@example.org</href></owner></lockinfo>
        """
    }
}

extension WebDAVUsers {
    /// Routes that mount the users at `/home`. The field `X-User` names the user, without a login.
    var mounted: Router {
        var router = Router()
        router.mountWebDAV(
            "/home",
            AsyncHandler { request in
                request.identity = request.fields["X-User"].map { Identity(name: $0) }
                return try await self.respond(to: request)
            })
        return router
    }
}

/// The output that is not a response.
struct NoAnswer: Error {
    var text: String
}
