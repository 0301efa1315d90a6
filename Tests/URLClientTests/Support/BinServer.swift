import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import Testing
import URLClient
import httpkit

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The endpoints of httpbin inside the tests, and a separate session for them.
final class BinServer: Sendable {
    private let server: HTTPServer
    let port: UInt16
    let session: ClientSession
    let cookies = CookieStorage()
    let cache = ClientCache()

    init(
        delegate: (any ClientSessionDelegate)? = nil,
        _ change: (inout ClientConfiguration) -> Void = { _ in }
    ) async throws {
        var settings = ServerConfiguration(host: "127.0.0.1", port: 0)
        settings.loops = 2
        server = HTTPServer(settings, handler: BinRouter())
        try await server.start()
        port = try #require(server.addresses.first?.port)
        var configuration = ClientConfiguration.default
        configuration.cookies = cookies
        configuration.cache = cache
        configuration.timeouts.idle = .seconds(100)
        change(&configuration)
        session = ClientSession(configuration, delegate: delegate)
    }

    deinit {
        session.finishTasksAndInvalidate()
        let server = server
        Task { await server.shutdown() }
    }

    func url(_ path: String, host: String = "127.0.0.1") -> String {
        "http://\(host):\(port)\(path)"
    }

    func request(
        _ method: HTTPMethod, _ path: String, fields: HTTPFields = [:], body: ClientBody = .none
    ) -> ClientRequest {
        ClientRequest(method, url(path), fields: fields, body: body)
    }

    /// Sends a request, and returns the content and head of the response.
    func send(
        _ method: HTTPMethod, _ path: String, fields: HTTPFields = [:], body: ClientBody = .none
    ) async throws -> Answer {
        let (content, response) = try await session.data(
            for: request(method, path, fields: fields, body: body))
        return Answer(content: content, response: response)
    }

    /// The error of a request; nil if it succeeds.
    func failure(_ request: ClientRequest) async -> ClientError? {
        do {
            _ = try await session.data(for: request)
            return nil
        } catch {
            return error
        }
    }

    struct Answer: Sendable {
        let content: [UInt8]
        let response: ClientResponse
        var status: UInt16 { response.status.code }
        var text: String { String(decoding: content, as: UTF8.self) }
        var echo: Echo? { try? JSONBody().decode(Echo.self, from: content) }
    }

    /// The content that the endpoints send back.
    struct Echo: Decodable, Sendable {
        var args: [String: String]?
        var headers: [String: String]?
        var data: String?
        var form: [String: String]?
        var url: String?
        var method: String?
        var cookies: [String: String]?
    }
}
