import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("RFC 8484: DNS over HTTPS", .timeLimit(.minutes(2)))
struct ResolverTests {
    /// A resolver that knows some names, all at 127.0.0.1, behind an nginx that speaks TLS.
    private struct Resolver {
        let certificates: TestCertificates
        let questions = Locked([String]())
        private let server: TestServer
        private let front: PeerServer

        init(names: Set<String>) async throws {
            let questions = questions
            server = try await TestServer { _, router in
                router.on(.post, "/dns-query") { request in
                    let type = request.fields[.contentType] ?? ""
                    let query = try await request.body.collect(upTo: 4096)
                    guard type == "application/dns-message",
                        let (name, kind) = Resolver.question(query)
                    else { throw HTTPError(.badRequest) }
                    questions.withLock { $0.append("\(name) \(kind)") }
                    let answer = Resolver.answer(to: query, kind, isKnown: names.contains(name))
                    return Response(
                        .ok, fields: [.contentType: "application/dns-message"],
                        body: .bytes(answer))
                }
            }
            certificates = try await TestCertificates()
            front = try await PeerServer.nginx(
                .init(
                    at: "127.0.0.1", identity: try await certificates.identity(for: "127.0.0.1"),
                    more: "location /dns-query { proxy_pass http://127.0.0.1:\(server.port); }\n"))
        }

        var url: String { front.url("/dns-query", scheme: "https") }

        /// Name and type of the first question (RFC 1035 section 4.1.2).
        private static func question(_ message: [UInt8]) -> (String, Int)? {
            var labels: [String] = []
            var index = 12
            while index < message.count, message[index] > 0 {
                let end = index + 1 + Int(message[index])
                guard end < message.count else { return nil }
                labels.append(String(decoding: message[(index + 1)..<end], as: UTF8.self))
                index = end
            }
            guard index + 2 < message.count else { return nil }
            return (labels.joined(separator: "."), Int(message[index + 2]))
        }

        /// The DNS response: an A record for a known name, otherwise no record.
        private static func answer(to query: [UInt8], _ kind: Int, isKnown: Bool) -> [UInt8] {
            var message = query
            let hasAddress = isKnown && kind == 1
            message.replaceSubrange(
                2..<12,
                with: [0x81, isKnown ? 0x80 : 0x83, 0, 1, 0, hasAddress ? 1 : 0, 0, 0, 0, 0])
            if hasAddress { message += [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1] }
            return message
        }
    }

    private func configuration(_ resolver: Resolver) -> ClientConfiguration {
        var configuration = ClientConfiguration.ephemeral
        configuration.resolver.dohURL = resolver.url
        configuration.tls.authorities = .file(resolver.certificates.authority.certificate)
        return configuration
    }

    @Test("The resolver is queried over verified TLS, and its response is used")
    func answered() async throws {
        let resolver = try await Resolver(names: ["name.test"])
        let server = try await TestServer()
        let session = ClientSession(configuration(resolver))
        for _ in 0..<2 {
            let (content, _) = try await session.data(
                for: ClientRequest(.get, server.url("/hello", host: "name.test")))
            #expect(content == Array("hello".utf8))
        }
        #expect(resolver.questions.withLock { Set($0) } == ["name.test 1", "name.test 28"])
    }

    @Test("A trust policy is asked about the origin's certificate, and not about the resolver's")
    func trust() async throws {
        let resolver = try await Resolver(names: ["name.test"])
        let identity = try await resolver.certificates.identity(for: "name.test")
        let server = try await PeerServer.nginx(
            .init(at: "127.0.0.1", identity: identity, more: "location / { return 204; }\n"))
        let chains = Locked([[[UInt8]]]())
        var configuration = configuration(resolver)
        configuration.trust = TrustPolicy { evaluation in
            chains.withLock { $0.append(evaluation.certificates) }
            return evaluation.isTrusted
        }
        let (_, response) = try await ClientSession(configuration).data(
            for: ClientRequest(.get, server.url("/", scheme: "https", host: "name.test")))
        #expect(response.status == .noContent && chains.withLock { $0.count } == 1)

        // A policy that accepts every certificate is not asked about that of the resolver.
        configuration.tls.authorities = nil
        configuration.trust = TrustPolicy { _ in true }
        let error = await failure {
            try await ClientSession(configuration).data(
                for: ClientRequest(.get, server.url("/", scheme: "https", host: "name.test")))
        }
        #expect(error?.kind == .cannotFindHost, "\(error?.description ?? "-")")
    }

    @Test("A name that the resolver does not know has no address")
    func unknown() async throws {
        let resolver = try await Resolver(names: [])
        let session = ClientSession(configuration(resolver))
        let error = await failure {
            try await session.data(for: ClientRequest(.get, "http://other.test/"))
        }
        #expect(error?.kind == .cannotFindHost, "\(error?.description ?? "-")")
        #expect(resolver.questions.withLock { $0.contains("other.test 1") })
    }

    @Test("A resolver whose certificate is not trusted gets no query")
    func untrusted() async throws {
        let resolver = try await Resolver(names: ["name.test"])
        var configuration = configuration(resolver)
        configuration.tls.authorities = nil
        let server = try await TestServer()
        let session = ClientSession(configuration)
        let error = await failure {
            try await session.data(
                for: ClientRequest(.get, server.url("/hello", host: "name.test")))
        }
        #expect(error?.kind == .cannotFindHost, "\(error?.description ?? "-")")
        #expect(resolver.questions.withLock { $0.isEmpty })
    }
}
