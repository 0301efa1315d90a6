import Foundation
import HTTPCodecs
import HTTPParser
import HTTPServerCore
import TestSupport
import Testing
import URLClient

@Suite("Rules for connections, hosts and proxies", .timeLimit(.minutes(3)))
struct ConnectionRuleTests {
    /// The file `big`, which takes three seconds below `/slow/`.
    private static let content = [UInt8](repeating: 0x61, count: 3 << 20)

    /// nginx with HTTP/2, which responds to `/number` with the number of the connection, and a
    /// configuration that trusts it.
    private static func peer() async throws -> (
        server: PeerServer, trusting: ClientConfiguration
    ) {
        let certificates = try await TestCertificates()
        let server = try await PeerServer.nginx(
            .init(
                at: "127.0.0.1", identity: try await certificates.identity(for: "127.0.0.1"),
                speaksHTTP2: true,
                more: "location = /number { return 200 \"$connection\"; }\n"))
        try server.write(content, to: "big")
        var configuration = ClientConfiguration.ephemeral
        // The file is removed together with `certificates`.
        let authority = certificates.authority.certificate
        configuration.tls.authorities = .pem(
            try #require(FileManager.default.contents(atPath: authority).map { [UInt8]($0) }))
        return (server, configuration)
    }

    @Test("The limit of connections applies to HTTP/1.1 beside a shared HTTP/2 connection")
    func limits() async throws {
        let (server, trusting) = try await Self.peer()
        var configuration = trusting
        configuration.connectionsPerOrigin = 3
        let session = ClientSession(configuration)
        let url = "https://127.0.0.1:\(server.port)/number"
        let (_, first) = try await session.data(for: ClientRequest(.get, url))
        #expect(first.version == .http2)
        let numbers = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<40 {
                group.addTask {
                    var request = ClientRequest(.get, url)
                    request.protocols = .http1
                    let (content, response) = try await session.data(for: request)
                    #expect(response.version == .http11)
                    return content
                }
            }
            return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(numbers.count <= 3)
        let (_, last) = try await session.data(for: ClientRequest(.get, url))
        #expect(last.version == .http2)
    }

    @Test("Two requests never share an HTTP/1.1 connection at the same time")
    func busyConnection() async throws {
        let (server, trusting) = try await Self.peer()
        let session = ClientSession(trusting)
        let base = "https://127.0.0.1:\(server.port)"
        var alone = ClientRequest(.get, base + "/slow/big")
        alone.protocols = .http1
        let (oldest, shared) = (
            session.dataTask(for: alone),
            session.dataTask(for: ClientRequest(.get, base + "/slow/big"))
        )
        for task in [oldest, shared] {
            task.resume()
            try await waitUntil { task.countOfBytesReceived > 0 }
        }
        for _ in 0..<2 {
            let (_, other) = try await session.data(for: ClientRequest(.get, base + "/number"))
            #expect(other.version == .http2 && other.status == .ok)
        }
        for task in [oldest, shared] {
            _ = try await task.finished()
            #expect(task.countOfBytesReceived == Int64(Self.content.count))
        }
    }

    @Test("Hosts with percent-encoded ASCII or invalid UTF-8 are refused")
    func hosts() {
        for text in [
            "http://ex%61mple.org/", "http://example.org%2F/", "http://a%2eb/", "http://%00/",
            "http://a%C3/", "http://a%25/", "http://a%C3%A4%61/",
        ] {
            #expect(ClientRequest(.get, text).origin == nil, "\(text)")
        }
        // Characters beyond ASCII give the same host, encoded or not.
        let origins = ["http://b%C3%BCcher.example/", "http://bücher.example/"]
            .map { ClientRequest(.get, $0).origin?.host }
        for host in origins { #expect(["bücher.example", "xn--bcher-kva.example"].contains(host)) }
        #expect(ClientRequest(.get, "http://example.org/%61").origin?.host == "example.org")
    }

    @Test("The environment's proxy variables are ignored by default")
    func environment() async throws {
        let server = try await TestServer()
        let nobody = "http://127.0.0.1:9"
        let variables = [
            "http_proxy": nobody, "https_proxy": nobody, "all_proxy": nobody, "HTTPS_PROXY": nobody,
            "ALL_PROXY": nobody, "no_proxy": "",
        ]
        let result = try await Program.run(
            Program.httpkit, ["fetch", server.url("/hello")], environment: variables)
        #expect(result.status == 0 && result.text == "hello", "\(result.complaints)")
    }

    @Test("A form fails if its file has become longer or shorter", arguments: ["longer", ""])
    func form(_ content: String) async throws {
        let server = try await TestServer()
        let folder = try ServerDirectory()
        try folder.write("file", "12345")
        var form = ClientForm()
        try form.append("file", file: folder.path("file"))
        try folder.write("file", content)
        let body = ClientBody.multipart(form)
        let error = await failure {
            try await ClientSession(.ephemeral).upload(
                for: ClientRequest(.post, server.url("/echo")), from: body)
        }
        #expect(error?.kind == .bodyFailed)
    }
}
