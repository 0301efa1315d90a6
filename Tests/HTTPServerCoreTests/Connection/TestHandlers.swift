import HTTPParser
import HTTPServerCore

/// Handlers for many suites, and the wire form of their responses.
enum Sample {
    /// Answers with the target, at once.
    static let target = SyncHandler { request in
        Response(.ok, body: .text(request.target.text))
    }

    /// Answers with the target, from a task.
    static let targetLater = AsyncHandler { request in
        await Task.yield()
        return Response(.ok, body: .text(request.target.text))
    }

    /// Answers with method and content, which is read to its end.
    static let echo = AsyncHandler { request in
        let content = try await request.body.collect()
        let text = String(decoding: content, as: UTF8.self)
        return Response(.ok, body: .text("\(request.method.name) \(text)"))
    }

    /// `GET` of a target.
    static func get(_ target: String, _ fields: String = "") -> String {
        "GET \(target) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n"
    }

    /// `POST` with content of announced length.
    static func post(_ content: String, _ fields: String = "") -> String {
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(content.utf8.count)\r\n\(fields)\r\n"
            + content
    }

    /// A 200 with a text, as `MemoryRecord.text` shows it.
    static func ok(_ text: String, _ connection: String = "") -> String {
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n"
            + "Content-Length: \(text.utf8.count)\r\n\(connection)\r\n\(text)"
    }

    static let close = "Connection: close\r\n"
    static let keepAlive = "Connection: keep-alive\r\n"
}
