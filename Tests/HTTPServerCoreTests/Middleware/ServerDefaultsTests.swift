import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("Defaults of configurations")
struct ServerDefaultsTests {
    private static let endpoint = ServerConfiguration.Endpoint.tcp(host: "127.0.0.1", port: 0)

    private func post(_ coding: String, to configuration: ServerConfiguration) async throws
        -> ServerAnswer
    {
        let client = MemoryConnection(Sample.echo, configuration: configuration)
        let content = try Coded.gzip(Array("hello".utf8), .gzip)
        client.feed([
            .bytes(
                Coded.post(content, "Content-Encoding: \(coding)\r\nAccept: application/json\r\n")),
            .end,
        ])
        return try #require(ServerAnswer.all(try await client.closed().output).first)
    }

    @Test(
        "Each initializer of the kit decodes requests and negotiates the format of errors",
        arguments: [
            ServerConfiguration(endpoints: [endpoint]), ServerConfiguration(), .test,
            ServerConfiguration(host: "127.0.0.1", port: 0),
        ])
    func kit(_ configuration: ServerConfiguration) async throws {
        #expect(configuration.decodesContent)
        #expect(try await post("gzip", to: configuration).text == "POST hello")
        let refused = try await post("br", to: configuration)
        #expect(refused.status == 415)
        #expect(refused["Content-Type"] == "application/problem+json")
    }

    @Test("A bare configuration does not decode requests, and sends errors as plain text")
    func bare() async throws {
        let configuration = ServerConfiguration(bare: [Self.endpoint])
        #expect(!configuration.decodesContent)
        #expect(try await post("gzip", to: configuration).text != "POST hello")
        let handler = SyncHandler { _ in throw HTTPError(.conflict) }
        let refused = try await exchange(
            handler, "GET", "/", "Accept: application/json\r\n", configuration: configuration)
        #expect(refused["Content-Type"]?.hasPrefix("text/plain") == true)
    }
}
