import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@testable import httpkit

@Suite("httpkit serve --redirect-http: the port in the redirect")
struct RedirectPortTests {
    @Test("A server that does not listen yet responds with 503, without a redirect")
    func noPort() async throws {
        let server = HTTPServer(
            ServerConfiguration(host: "127.0.0.1", port: 0), handler: Bin.router)
        let client = MemoryConnection(ServerRedirectHandler(server: server))
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        client.end()
        let record = try await client.closed()
        let answer = try #require(ServerAnswer.all(record.output).first)
        #expect(answer.status == 503 && answer["Location"] == nil)
    }
}
