import Foundation
import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import URLClient

@Suite("Content collected in memory", .timeLimit(.minutes(2)))
struct CollectingTests {
    private static let size = 70_000_000

    /// Sends the distinct blocks of `BlockContent`, with or without a length.
    private static func peer(_ count: Int, announced: Bool) throws -> ScriptedPeer {
        let content = BlockContent(count: count)
        return try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            let length = announced ? "Content-Length: \(count)\r\n" : ""
            connection.send("HTTP/1.1 200 OK\r\n\(length)Connection: close\r\n\r\n")
            content.send(from: 0, to: connection)
        }
    }

    /// Whether the content is the content that was sent.
    private static func isWhole(_ content: [UInt8], _ count: Int) -> Bool {
        guard content.count == count else { return false }
        let expected = BlockContent(count: count)
        return stride(from: 0, to: count, by: BlockContent.blockSize).allSatisfy { offset in
            let piece = expected.piece(at: offset)
            return Data(content[offset..<(offset + piece.count)]) == Data(piece)
        }
    }

    /// Collects large content in this process, and checks its peak memory.
    private static func measure(announced: Bool) async throws {
        let session = ClientSession(.ephemeral)
        let small = try peer(100_000, announced: announced)
        _ = try await session.data(for: ClientRequest(.get, small.url()))
        let peer = try peer(size, announced: announced)
        let before = Files.residentBytes()
        let (content, _) = try await session.data(for: ClientRequest(.get, peer.url()))
        let rise = Files.peakBytes() - before
        let limit = size * 13 / 10 + Sanitizers.memory << 10
        #expect(rise < limit, "\(rise >> 20) MiB for \(size >> 20)")
        #expect(isWhole(content, size))
    }

    @Test("S9: Collected content is held once, with and without an announced length")
    func once() async {
        await #expect(processExitsWith: .success) {
            try await CollectingTests.measure(announced: true)
        }
        await #expect(processExitsWith: .success) {
            try await CollectingTests.measure(announced: false)
        }
    }

    @Test(
        "Content of any length is collected completely",
        arguments: [
            0, 1, 65_536, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 2 << 20, (3 << 20) + 7,
        ], [false, true])
    func whole(_ count: Int, announced: Bool) async throws {
        let peer = try Self.peer(count, announced: announced)
        let session = ClientSession(.ephemeral)
        let (content, _) = try await session.data(for: ClientRequest(.get, peer.url()))
        #expect(Self.isWhole(content, count))
        let told = await withCheckedContinuation { continuation in
            session.dataTask(for: ClientRequest(.get, peer.url())) { content, _, error in
                continuation.resume(returning: error == nil ? content : nil)
            }.resume()
        }
        #expect(told.map { Self.isWhole($0, count) } == true)
    }

    @Test("Content that breaks off is an error", arguments: [false, true])
    func brokenOff(announced: Bool) async throws {
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send(
                announced
                    ? "HTTP/1.1 200 OK\r\nContent-Length: 200000000\r\n\r\n"
                    : "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n400000\r\n")
            BlockContent(count: 4 << 20).send(from: 0, to: connection)
        }
        let error = await failure {
            try await ClientSession(.ephemeral).data(for: ClientRequest(.get, peer.url()))
        }
        #expect(error?.kind == .truncated && error?.bytesReceived == 4 << 20)
    }

    @Test("Short content with a huge announced length is truncated, and does not crash")
    func absurdLength() async throws {
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(Int64.max)\r\n\r\n")
            BlockContent(count: 4 << 20).send(from: 0, to: connection)
        }
        var configuration = ClientConfiguration.ephemeral
        configuration.collectLimit = .max
        let session = ClientSession(configuration)
        let error = await failure {
            try await session.data(for: ClientRequest(.get, peer.url()))
        }
        #expect(error?.kind == .truncated && error?.bytesReceived == 4 << 20)
    }
}
