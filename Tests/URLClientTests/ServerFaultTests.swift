import HTTPParser
import Testing
import URLClient

@Suite("RFC 9112: Errors of servers are reported as such", .timeLimit(.minutes(2)))
struct ServerFaultTests {
    private static let ok = "HTTP/1.1 200 OK\r\n"
    private static let chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"

    private func error(_ answer: @escaping @Sendable (PeerConnection) -> Void) async throws
        -> ClientError?
    {
        let peer = try ScriptedPeer { connection in
            while connection.head() != nil {
                answer(connection)
                connection.finish()
            }
        }
        let session = ClientSession(.ephemeral)
        return await failure { try await session.data(for: ClientRequest(.get, peer.url())) }
    }

    @Test(
        "A response that is not valid HTTP is a bad response",
        arguments: [
            chunked + "0x5\r\nhello\r\n0\r\n\r\n", chunked + "g\r\n", chunked + "-1\r\nx\r\n",
            chunked + "5\r\nhelloX\r\n0\r\n\r\n", chunked + "\r\n",
            chunked + " 5\r\nhello\r\n0\r\n\r\n",
            chunked + "fffffffffffffffff\r\nhello\r\n0\r\n\r\n",
            ok + "Transfer-Encoding: x-own\r\n\r\nhello",
            ok + "Transfer-Encoding: x-own, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\n folded: 1\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/3.7 200 OK\r\n\r\n",
            "HTTP/1.1 20x OK\r\n\r\n", "HTTP/1.1 099 OK\r\n\r\n", "SSH-2.0-OpenSSH\r\n",
            ok + "Content-Length: x\r\n\r\n", ok + "Content-Length: 5, 6\r\n\r\nhello!",
            ok + "Content-Length: 99999999999999999999\r\n\r\n",
            ok + "Name\r\nContent-Length: 0\r\n\r\n", ok + "A: b\0c\r\nContent-Length: 0\r\n\r\n",
        ])
    func bad(_ answer: String) async throws {
        let error = try await error { $0.send(answer) }
        #expect(error?.kind == .badResponse, "\(error as Any)")
    }

    @Test("A field line without an end is a head that is too long", arguments: [0, 1])
    func endlessLine(_ lines: Int) async throws {
        let piece = [UInt8](repeating: UInt8(ascii: "a"), count: 32 << 10)
        let error = try await error { connection in
            connection.send(Self.ok + String(repeating: "A: b\r\n", count: lines) + "X: ")
            for _ in 0..<64 where !connection.send(piece) { break }
        }
        #expect(error?.kind == .headTooLong, "\(error as Any)")
    }

    @Test("A trailer without an end is a head that is too long")
    func endlessTrailer() async throws {
        let piece = [UInt8](repeating: UInt8(ascii: "a"), count: 32 << 10)
        let error = try await error { connection in
            connection.send(Self.chunked + "0\r\nX: ")
            for _ in 0..<64 where !connection.send(piece) { break }
        }
        #expect(error?.kind == .headTooLong, "\(error as Any)")
    }

    @Test("A status line without an end is a head that is too long")
    func endlessStart() async throws {
        let piece = [UInt8](repeating: UInt8(ascii: "1"), count: 32 << 10)
        let error = try await error { connection in
            connection.send("HTTP/1.1 200 ")
            for _ in 0..<64 where !connection.send(piece) { break }
        }
        #expect(error?.kind == .headTooLong, "\(error as Any)")
    }
}
