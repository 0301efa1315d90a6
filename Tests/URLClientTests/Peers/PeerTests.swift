import HTTPParser
import TestSupport
import Testing
import URLClient

@Suite("Third-party servers")
struct PeerTests {
    private static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    }

    @Test("Downloads work with nginx, Apache and Python, and ranges with nginx and Apache")
    func downloads() async throws {
        let content = Self.bytes(3_000_000)
        let servers = [
            try await PeerServer.nginx(.init(at: "127.0.0.1")), try await PeerServer.apache(),
            try await PeerServer.python(),
        ]
        for (number, server) in servers.enumerated() {
            try server.write(content, to: "f.bin")
            let session = ClientSession()
            var request = ClientRequest(.get, server.url("/f.bin"))
            let (all, response) = try await session.data(for: request)
            #expect(response.status == .ok && all == content)
            let folder = try ServerDirectory()
            try await session.download(for: request, to: folder.path("f"))
            #expect(Files.read(folder.path("f")) == content)
            guard number < 2 else { continue }  // Python's server has no ranges.
            request.fields[.range] = "bytes=1000-1999"
            let (part, partial) = try await session.data(for: request)
            #expect(partial.status == .partialContent && part == Array(content[1000..<2000]))
        }
    }

    @Test("nginx and Apache receive uploads of bytes, files and streams")
    func uploads() async throws {
        let content = Self.bytes(2_000_000)
        let folder = try ServerDirectory()
        try folder.write("f", content)
        let pieces = stride(from: 0, to: content.count, by: 100_000).map {
            Array(content[$0..<($0 + 100_000)])
        }
        for server in [
            try await PeerServer.nginx(.init(at: "127.0.0.1")), try await PeerServer.apache(),
        ] {
            let session = ClientSession()
            let bodies: [(String, ClientBody)] = [
                ("bytes", .bytes(content)), ("file", .file(folder.path("f"))),
                ("stream", .stream(AsyncStream(pieces), length: Int64(content.count))),
                ("chunked", .stream(AsyncStream(pieces))),
            ]
            for (name, body) in bodies {
                let (_, response) = try await session.upload(
                    for: ClientRequest(.put, server.url("/dav/\(name)")), from: body)
                #expect(response.status == .created && server.content(of: "dav/\(name)") == content)
            }
        }
    }

    @Test(
        "Apache accepts a login by Basic and Digest, and refuses a request without one",
        arguments: ["basic", "digest"])
    func logins(scheme: String) async throws {
        let server = try await PeerServer.apache()
        try server.write(Array("content".utf8), to: "f.txt")
        let request = ClientRequest(.get, server.url("/\(scheme)/f.txt"))
        var configuration = ClientConfiguration()
        configuration.authentication.challenge = { challenge in
            guard challenge.failureCount == 0 else { return .reject }
            return .use(
                .password(user: PeerServer.user.name, password: PeerServer.user.password))
        }
        let session = ClientSession(configuration)
        for _ in 0..<3 {
            let (content, response) = try await session.data(for: request)
            #expect(response.status == .ok && content == Array("content".utf8))
        }
        let (_, refused) = try await ClientSession().data(for: request)
        #expect(refused.status == .unauthorized)
    }

    @Test("nginx: HTTP/2 is used by ALPN and by prior knowledge, also for concurrent requests")
    func http2() async throws {
        let certificates = try await TestCertificates()
        let secure = try await PeerServer.nginx(
            .init(
                at: "127.0.0.1", identity: try await certificates.identity(for: "127.0.0.1"),
                speaksHTTP2: true))
        let plain = try await PeerServer.nginx(.init(at: "127.0.0.1", speaksHTTP2: true))
        var configuration = ClientConfiguration()
        configuration.tls.authorities = .file(certificates.authority.certificate)
        let session = ClientSession(configuration)
        var request = ClientRequest(.get, plain.url("/who"))
        request.protocols = .http2PriorKnowledge
        let (text, response) = try await session.data(for: request)
        #expect(response.version == .http2)
        #expect(String(decoding: text, as: UTF8.self).contains("version=HTTP/2.0"))
        let url = secure.url("/who", scheme: "https")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    let (_, response) = try await session.data(for: ClientRequest(.get, url))
                    #expect(response.version == .http2 && response.status == .ok)
                }
            }
            try await group.waitForAll()
        }
    }
}

extension AsyncStream where Element: Sendable {
    /// A stream of elements that are already available.
    fileprivate init(_ elements: [Element]) {
        self.init { continuation in
            for element in elements { continuation.yield(element) }
            continuation.finish()
        }
    }
}
