import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

/// Sends one request to a handler, over a new connection.
func exchange(
    _ handler: any Handler, _ method: String = "GET", _ target: String = "/", _ fields: String = "",
    host: String = "a", content: String = "", configuration: ServerConfiguration = .test,
    address: PeerAddress = PeerAddress()
) async throws -> ServerAnswer {
    let client = MemoryConnection(handler, configuration: configuration, address: address)
    client.send(
        "\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\n\(fields)Connection: close\r\n\r\n"
            + content)
    client.end()
    let output = try await client.closed().output
    // Observers are notified after the end of the connection.
    await client.settle()
    let heads: Set<Int> = method == "HEAD" ? [0] : []
    return try #require(ServerAnswer.all(output, heads: heads).first)
}

extension Sample {
    /// Immediate answers, later ones, or a router whose route answers later.
    enum Speed: String, Sendable, CaseIterable { case immediate, later, routed }

    /// A handler of some speed that answers with the result of `answer`.
    static func handler(
        _ speed: Speed, _ answer: @escaping @Sendable (Request) throws -> Response
    ) -> any Handler {
        switch speed {
        case .immediate: return SyncHandler(answer)
        case .later:
            return AsyncHandler { request in
                await Task.yield()
                return try answer(request)
            }
        case .routed:
            var router = Router()
            router.mount(
                "/",
                AsyncHandler { request in
                    await Task.yield()
                    return try answer(request)
                })
            return router
        }
    }
}

/// Wraps a handler of any type, because some initializers take `some Handler`.
struct AnyTestHandler: Handler {
    let handler: any Handler

    init(_ handler: any Handler) { self.handler = handler }

    func answer(_ request: Request) throws -> Answer { try handler.answer(request) }
}
