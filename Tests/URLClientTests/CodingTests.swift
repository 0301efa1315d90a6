import HTTPCodecs
import HTTPParser
import Testing
import URLClient

@Suite("RFC 9110, 8.4: Several content codings", .timeLimit(.minutes(2)))
struct CodingTests {
    private func coded(_ plain: [UInt8], _ codings: [ContentCoding]) throws -> [UInt8] {
        var bytes = plain
        for coding in codings {
            var encoder = try ContentEncoder(coding, level: 6)
            var output: [UInt8] = []
            encoder.encode(bytes.span, into: &output)
            encoder.finish(into: &output)
            bytes = output
        }
        return bytes
    }

    private func data(
        _ fields: String, _ content: [UInt8],
        _ change: (inout ClientConfiguration) -> Void = { _ in }
    ) async throws -> [UInt8] {
        let head = "HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(content.count)\r\n\r\n"
        let peer = try ScriptedPeer { connection in
            while connection.head() != nil { connection.send(Array(head.utf8) + content) }
        }
        var configuration = ClientConfiguration.ephemeral
        change(&configuration)
        return try await ClientSession(configuration).data(for: ClientRequest(.get, peer.url())).0
    }

    private static let twice: [(String, [ContentCoding])] = [
        ("gzip, gzip", [.gzip, .gzip]), ("gzip, deflate", [.gzip, .deflate]),
        ("deflate,, x-gzip , identity", [.deflate, .gzip]),
        ("gzip\r\nContent-Encoding: gzip", [.gzip, .gzip]),
        ("gzip, gzip, gzip, gzip", [.gzip, .gzip, .gzip, .gzip]),
    ]

    @Test("All codings are decoded, the last one first", arguments: twice)
    func several(_ field: String, _ codings: [ContentCoding]) async throws {
        let plain = TestServer.pattern(300_000)
        let content = try coded(plain, codings)
        #expect(try await data("Content-Encoding: \(field)\r\n", content) == plain)
    }

    @Test("Five codings are an error; content with an unknown coding is passed on undecoded")
    func notTaken() async throws {
        let five = Array(repeating: ContentCoding.gzip, count: 5)
        let content = try coded([1, 2, 3], five)
        let field = five.map(\.rawValue).joined(separator: ", ")
        let error = await failure { try await data("Content-Encoding: \(field)\r\n", content) }
        #expect(error?.kind == .decodingFailed)
        #expect(try await data("Content-Encoding: x-own, gzip\r\n", content) == content)
    }

    @Test(
        "RFC 9112, 6.3: Transfer-Encoding overrides Content-Length, and coded content is decoded",
        arguments: [
            "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
            "transfer-encoding: chunked\r\ncontent-length: 0\r\n",
        ])
    func transferCoding(_ fields: String) async throws {
        let plain = TestServer.pattern(1_000)
        let content = try coded(plain, [.gzip])
        let peer = try ScriptedPeer { connection in
            while connection.head() != nil {
                connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\(fields)\r\n")
                connection.send("\(String(content.count, radix: 16))\r\n")
                connection.send(content)
                connection.send("\r\n0\r\n\r\n")
            }
        }
        let (answer, _) = try await ClientSession(.ephemeral).data(
            for: ClientRequest(.get, peer.url()))
        #expect(answer == plain)
    }

    @Test(
        "Empty content is accepted with any coding",
        arguments: ["gzip", "deflate", "gzip, deflate"],
        ["Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "Connection: close\r\n\r\n"])
    func empty(_ coding: String, _ rest: String) async throws {
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\n\(rest)")
        }
        let (answer, response) = try await ClientSession(.ephemeral).data(
            for: ClientRequest(.get, peer.url()))
        #expect(answer.isEmpty && response.status == .ok)
    }

    @Test("Truncation below another coding is detected")
    func cut() async throws {
        let content = try coded(Array(try coded([1, 2, 3], [.gzip]).dropLast(4)), [.gzip])
        let error = await failure { try await data("Content-Encoding: gzip, gzip\r\n", content) }
        #expect(error?.kind == .truncated)
    }

    @Test("A log with a compression ratio above 200 is decoded, unless the floor is lowered")
    func log() async throws {
        let line = Array("2026-01-01T00:00:00Z info http.server: GET / 200\n".utf8)
        let plain = (0..<210_000).flatMap { _ in line }
        let content = try coded(plain, [.gzip])
        #expect(plain.count > 10_000_000 && plain.count / content.count > 200)
        #expect(try await data("Content-Encoding: gzip\r\n", content) == plain)
        let error = await failure {
            try await data("Content-Encoding: gzip\r\n", content) { $0.decodingFloor = 1 << 20 }
        }
        #expect(error?.kind == .decodingFailed)
    }

    @Test("Content with several gzip codings is decoded to 30 MiB, and refused at 100 MiB")
    func bomb() async throws {
        let content = try coded([UInt8](repeating: 0, count: 30 << 20), [.gzip, .gzip, .gzip])
        #expect(content.count < 2_000)
        let whole = try await data("Content-Encoding: gzip, gzip, gzip\r\n", content)
        #expect(whole.count == 30 << 20)
        let large = try coded([UInt8](repeating: 0, count: 100 << 20), [.gzip, .gzip])
        let error = await failure { try await data("Content-Encoding: gzip, gzip\r\n", large) }
        #expect(error?.kind == .decodingFailed)
    }
}
