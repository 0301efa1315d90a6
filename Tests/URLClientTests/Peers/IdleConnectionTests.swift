import HTTPParser
import TestSupport
import Testing
import URLClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("RFC 9112, 9.3.1: nginx and Apache close an idle connection", .timeLimit(.minutes(3)))
struct IdleConnectionTests {
    private static func nginx(_ identity: TestCertificates.Identity?) async throws -> PeerServer {
        try await PeerServer.nginx(
            .init(at: "127.0.0.1", identity: identity, more: "keepalive_timeout 1s;\n"))
    }

    /// Whether this machine has a connection to a port that neither side has closed: the state 01
    /// of proc(5). Without that list, it waits until the server's timeout has passed.
    private static func hasConnection(to port: UInt16) async throws -> Bool {
        guard let table = Files.read("/proc/net/tcp") else {
            try await Task.sleep(for: .seconds(3))
            return false
        }
        let digits = String(port, radix: 16, uppercase: true)
        let peer = ":" + String(repeating: "0", count: 4 - digits.count) + digits
        return String(decoding: table, as: UTF8.self).split(separator: "\n").contains { line in
            let parts = line.split(separator: " ")
            return parts.count > 3 && parts[2].hasSuffix(peer) && parts[3] == "01"
        }
    }

    private func post(
        after server: PeerServer, _ path: String, scheme: String, _ tls: TLSOptions
    ) async throws {
        var configuration = ClientConfiguration.ephemeral
        configuration.retries = .never
        configuration.tls = tls
        let session = ClientSession(configuration)
        var gets = 0
        for round in 1...2 {
            let url = server.url("\(path)?\(round)", scheme: scheme)
            // On a busy machine the timeout may pass before this check: then it sends another GET.
            var wasOpen = false
            for _ in 0..<20 where !wasOpen {
                gets += 1
                let (_, first) = try await session.data(
                    for: ClientRequest(.get, "\(url)-\(gets)"))
                #expect(first.status == .ok)
                wasOpen = try await Self.hasConnection(to: server.port)
            }
            #expect(wasOpen)
            try await waitUntil { try await !Self.hasConnection(to: server.port) }
            let (content, response) = try await session.data(
                for: ClientRequest(.post, url, body: .text("content")))
            #expect(response.status == .ok && !content.isEmpty)
            #expect(await server.waitForLog("POST \(path)?\(round) HTTP/1.1 200"))
            let requests = server.log.split(separator: "\n")
            #expect(requests.filter { $0.contains("POST") }.count == round, "\(server.log)")
            #expect(requests.filter { $0.contains("GET") }.count == gets)
        }
        session.invalidateAndCancel()
    }

    @Test(
        "A POST after the idle timeout uses a new connection, and arrives once",
        arguments: [false, true])
    func closed(isSecure: Bool) async throws {
        var identity: TestCertificates.Identity?
        var tls = TLSOptions()
        let certificates = isSecure ? try await TestCertificates() : nil
        if let certificates {
            identity = try await certificates.identity(for: "127.0.0.1")
            tls = TLSOptions(authorities: .file(certificates.authority.certificate))
        }
        let scheme = isSecure ? "https" : "http"
        let nginx = try await Self.nginx(identity)
        try await post(after: nginx, "/who", scheme: scheme, tls)
        let apache = try await PeerServer.apache(identity: identity, keepAlive: 1)
        try apache.write(Array("content".utf8), to: "f.txt")
        try await post(after: apache, "/f.txt", scheme: scheme, tls)
        withExtendedLifetime(certificates) {}
    }
}
