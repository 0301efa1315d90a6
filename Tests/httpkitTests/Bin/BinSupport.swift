import HTTPServerCore
import TestSupport
import Testing

@testable import httpkit

/// Requests to the endpoints, over a connection in memory.
enum Bin {
    /// All endpoints.
    static let router = BinRouter()

    /// The first response to a request.
    /// - Parameters:
    ///   - fields: lines, without their ends.
    ///   - content: the content after the head; its length is added to the fields.
    static func answer(
        _ method: String, _ target: String, _ fields: String..., content: String? = nil
    ) async throws -> ServerAnswer {
        try await answer(method, target, fields, content)
    }

    /// The JSON of the first response.
    static func json(
        _ method: String, _ target: String, _ fields: String..., content: String? = nil
    ) async throws -> JSONValue {
        let answer = try await self.answer(method, target, fields, content)
        #expect(answer.status == 200 && answer["Content-Type"] == "application/json")
        return try #require(JSONValue(parsing: answer.content), "\(answer.text)")
    }

    private static func answer(
        _ method: String, _ target: String, _ fields: [String], _ content: String?
    ) async throws -> ServerAnswer {
        let lines = fields + (content.map { ["Content-Length: \($0.utf8.count)"] } ?? [])
        let head = ["\(method) \(target) HTTP/1.1", "Host: bin.test"] + lines
        let client = MemoryConnection(router)
        client.send(head.joined(separator: "\r\n") + "\r\n\r\n" + (content ?? ""))
        client.end()
        let record = try await client.closed()
        let heads: Set<Int> = method == "HEAD" ? [0] : []
        return try #require(ServerAnswer.all(record.output, heads: heads).first)
    }
}

extension JSONValue {
    /// A member of an object; `null` where there is none.
    subscript(name: String) -> JSONValue {
        guard case .object(let members) = self else { return .null }
        return members[JSONName(name)] ?? .null
    }
}
