import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import Testing
import ToolkitSystem

/// A real server inside the tests, with the paths that they need.
final class TestServer: Sendable {
    let server: HTTPServer
    let port: UInt16
    /// The requests that have arrived.
    let requests: Locked<[Seen]>

    struct Seen: Sendable {
        var method: HTTPMethod
        var target: String
        var fields: HTTPFields
        var content: [UInt8]
    }

    init(
        host: String = "127.0.0.1",
        _ change: (inout ServerConfiguration, inout Router) -> Void = {
            _, _ in
        }
    ) async throws {
        var configuration = ServerConfiguration(host: host, port: 0)
        configuration.loops = 2
        configuration.headTimeout = .seconds(120)
        configuration.idleTimeout = .seconds(120)
        let requests = Locked([Seen]())
        var router = Router()
        Self.addRoutes(&router, requests)
        change(&configuration, &router)
        server = HTTPServer(configuration, handler: router)
        self.requests = requests
        try await server.start()
        port = try #require(server.addresses.first?.port)
    }

    deinit {
        let server = server
        Task { await server.shutdown() }
    }

    func url(_ path: String, host: String = "127.0.0.1") -> String {
        "http://\(host):\(port)\(path)"
    }

    /// The requests for a path.
    func seen(_ target: String) -> [Seen] {
        requests.withLock { $0.filter { $0.target == target } }
    }

    /// Content that differs from place to place.
    static func pattern(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &* 7 &+ $0 >> 16) }
    }

    private static func addRoutes(_ router: inout Router, _ requests: Locked<[Seen]>) {
        router.on(.get, "/hello") { _ in Response(.ok, body: .text("hello")) }
        let echo = AsyncHandler { request in
            let content = try await request.body.collect(upTo: 64 << 20)
            let seen = Seen(
                method: request.method, target: request.target.text,
                fields: request.fields.reduce(into: HTTPFields()) { $0.append($1) },
                content: content)
            requests.withLock { $0.append(seen) }
            return Response(.ok, body: .bytes(content))
        }
        for method: HTTPMethod in [.get, .post, .put, .delete, .patch] {
            router.route(method, "/echo", to: echo)
        }
        router.on(.get, "/bytes/:count") { request in
            let count = Int(request.parameters["count"] ?? "") ?? 0
            return Response(.ok, body: .bytes(pattern(count)))
        }
        router.on(.get, "/stream/:count") { request in
            let count = Int(request.parameters["count"] ?? "") ?? 0
            let piece = pattern(64 << 10)
            return Response(
                .ok,
                body: .stream(mediaType: "application/octet-stream") { writer in
                    for start in stride(from: 0, to: count, by: piece.count) {
                        try await writer.write(Array(piece.prefix(count - start)))
                    }
                })
        }
    }
}
