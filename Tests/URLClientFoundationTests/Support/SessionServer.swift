#if FoundationNetworking
    import Foundation
    import HTTPCodecs
    import HTTPParser
    import HTTPServerCore
    import HTTPServerKit
    import TestSupport
    import Testing
    import ToolkitSystem
    import URLClient
    import URLClientFoundation
    import httpkit

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// The endpoints of httpbin, and paths whose responses wait for the test.
    final class SessionServer: Sendable {
        /// A request as it has arrived.
        struct Seen: Sendable {
            var method: String
            var path: String
            var fields: HTTPFields
            var content: [UInt8]
        }

        /// The content of `/file`.
        static let file = Data((0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
        /// The number of bytes that are sent before the server waits.
        static let firstPart = 200_000

        private let servers: [HTTPServer]
        private let binPort: UInt16
        private let port: UInt16
        private let requests: Locked<[Seen]>
        private let isOpen: Locked<Bool>

        init() async throws {
            let (requests, isOpen) = (Locked([Seen]()), Locked(false))
            (self.requests, self.isOpen) = (requests, isOpen)
            let settings = ServerConfiguration(host: "127.0.0.1", port: 0)
            let handler = Self.router(requests) {
                try await waitUntil { isOpen.withLock { $0 } }
            }
            servers = [
                HTTPServer(settings, handler: BinRouter()), HTTPServer(settings, handler: handler),
            ]
            for server in servers { try await server.start() }
            binPort = try #require(servers[0].addresses.first?.port)
            port = try #require(servers[1].addresses.first?.port)
        }

        deinit {
            isOpen.withLock { $0 = true }
            let servers = servers
            Task { for server in servers { await server.shutdown() } }
        }

        /// Releases the responses that wait, and later ones.
        func open() { isOpen.withLock { $0 = true } }

        /// The requests that have arrived for a path.
        func seen(_ path: String) -> [Seen] {
            requests.withLock { $0.filter { $0.path == path } }
        }

        /// An endpoint of httpbin.
        func bin(_ path: String) throws -> URL {
            try #require(URL(string: "http://127.0.0.1:\(binPort)\(path)"))
        }

        /// A path of this server: `/echo`, `/halves`, `/file` or `/silent`.
        func own(_ path: String) throws -> URL {
            try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
        }

        private static func router(
            _ requests: Locked<[Seen]>, _ wait: @escaping @Sendable () async throws -> Void
        ) -> Router {
            var router = Router()
            let echo = AsyncHandler { request in
                let content = try await request.body.collect(upTo: 16 << 20)
                let fields = request.fields.reduce(into: HTTPFields()) { $0.append($1) }
                let seen = Seen(
                    method: request.method.name, path: request.target.path, fields: fields,
                    content: content)
                requests.withLock { $0.append(seen) }
                return Response(.ok, body: .bytes(content))
            }
            for method: HTTPMethod in [.get, .post, .put, .delete, .patch] {
                router.route(method, "/echo", to: echo)
            }
            router.on(.get, "/halves") { _ in
                Response(
                    .ok,
                    body: .stream(length: 8) { writer in
                        try await writer.write("half")
                        try await wait()
                        try await writer.write("rest")
                    })
            }
            router.on(.get, "/silent") { _ in
                try await wait()
                return Response(.ok)
            }
            router.on(.get, "/file") { request in
                requests.withLock {
                    let range = request.fields[.range] ?? ""
                    $0.append(
                        Seen(
                            method: "GET", path: "/file", fields: [.range: range], content: []))
                }
                var response = Response(.ok, body: .bytes([], mediaType: "text/x"))
                response.entityTag = EntityTag(opaque: "v1")
                let content = ContentGenerator(length: Int64(file.count)) { range, writer in
                    let (first, end) = (Int(range.first), Int(range.first) + Int(range.count))
                    if first < firstPart {
                        try await writer.write(Array(file[first..<firstPart]))
                        try await wait()
                    }
                    try await writer.write(Array(file[max(first, firstPart)..<end]))
                }
                return try response.conditional(for: request, generating: content)
            }
            return router
        }
    }

    /// The content that the endpoints of httpbin send back.
    struct Echo: Decodable, Sendable {
        var args: [String: String]?
        var headers: [String: String]?
        var data: String?
        var form: [String: String]?
        var url: String?
        var method: String?
        var cookies: [String: String]?

        /// - Throws: also when there is no content.
        init(_ content: Data?) throws {
            let content = try #require(content)
            self = try JSONDecoder().decode(Echo.self, from: content)
        }
    }

    extension URLRequest {
        /// A request with a method and perhaps content.
        init(_ method: String, _ url: URL, _ fields: [String: String] = [:], body: Data? = nil) {
            self.init(url: url)
            httpMethod = method
            httpBody = body
            for (name, value) in fields { setValue(value, forHTTPHeaderField: name) }
        }
    }

    extension Error {
        /// The code of a `URLError`.
        var sessionCode: URLError.Code? { (self as? URLError)?.code }
    }

    /// The code of the error that a call throws; nil when it throws none.
    func code<Value>(_ call: () async throws -> Value) async -> URLError.Code? {
        do {
            _ = try await call()
            return nil
        } catch {
            return error.sessionCode
        }
    }
#endif
