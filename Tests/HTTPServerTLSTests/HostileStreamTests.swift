import HTTPParser
import HTTPServerCore
import Synchronization
import TestSupport
import Testing
import ToolkitSystem

@testable import HTTPServerTLS

@Suite("RFC 8446 section 6: streams that are cut or changed on their way")
struct HostileStreamTests {
    /// The paths that a handler has seen.
    private final class Calls: Sendable {
        private let paths = Locked<[String]>([])
        var all: [String] { paths.withLock { $0 } }
        var handler: SyncHandler {
            SyncHandler { [self] request in
                paths.withLock { $0.append(request.originalTarget.text) }
                return Response(.ok, body: .text("answer\n"))
            }
        }
    }

    private static let request = "POST /whole HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nfour"

    /// How a client went through its handshake and request.
    private struct Course {
        /// The bytes that it had to send.
        var wanted = 0
        var answer: [UInt8] = []
    }

    /// Plays a client over a connection in memory until it is closed, or answered.
    /// - Parameter change: what becomes of the next bytes of the client, and whether its stream ends
    ///   behind them. It gets the offset of the first.
    private func play(
        _ context: TLSContext, _ calls: Calls, version: CInt,
        change: (_ bytes: [UInt8], _ offset: Int) -> (bytes: [UInt8], isEnd: Bool)
    ) async throws -> Course {
        let client = TLSClient(version: version)
        let connection = MemoryConnection(calls.handler, layers: [context])
        var course = Course()
        var seen = 0
        var hasAsked = false
        while true {
            let state = client.shakeHands()
            if state == .complete, !hasAsked {
                client.write(Self.request)
                hasAsked = true
            }
            let next = client.take()
            if !next.isEmpty {
                let (bytes, isEnd) = change(next, course.wanted)
                course.wanted += next.count
                if !bytes.isEmpty { connection.feed([.bytes(bytes)]) }
                if isEnd { connection.end() }
            }
            if state == .failed { connection.end() }
            let known = seen
            let record = try await connection.wait(for: "more or the end") {
                $0.output.count > known || $0.isClosed
            }
            client.feed(Array(record.output[known...]))
            seen = record.output.count
            if hasAsked { course.answer += client.read() ?? [] }
            if !course.answer.isEmpty {
                // The answer to the last byte: the client has what it wanted.
                connection.end()
                try await connection.closed()
                return course
            }
            if record.isClosed { return course }
        }
    }

    @Test(
        "Cut after any byte, no handler runs before the request is whole",
        arguments: [TLSClient.tls12, TLSClient.tls13])
    func cuts(_ version: CInt) async throws {
        let context = try TLSContext.test()
        let all = Calls()
        let whole = try await play(context, all, version: version) { bytes, _ in (bytes, false) }
        #expect(all.all == ["/whole"])
        #expect(whole.wanted > 250)
        // The lengths of two handshakes may differ by the length of a signature.
        for cut in 0..<(whole.wanted - 8) {
            let calls = Calls()
            let course = try await play(context, calls, version: version) { bytes, offset in
                let rest = max(0, cut - offset)
                return (Array(bytes.prefix(rest)), rest < bytes.count)
            }
            #expect(calls.all.isEmpty && course.answer.isEmpty, "\(cut)")
        }
    }

    @Test(
        "Changed at any byte, no handler sees anything else than the request",
        arguments: [TLSClient.tls12, TLSClient.tls13])
    func changes(_ version: CInt) async throws {
        let context = try TLSContext.test()
        let whole = try await play(context, Calls(), version: version) { bytes, _ in (bytes, false)
        }
        var answered = 0
        for place in 0..<(whole.wanted - 8) {
            let calls = Calls()
            _ = try await play(context, calls, version: version) { bytes, offset in
                guard place >= offset, place < offset + bytes.count else { return (bytes, false) }
                var bytes = bytes
                bytes[place - offset] ^= 1 << (place % 8)
                // A longer record would be waited for.
                return (bytes, true)
            }
            #expect(calls.all.isEmpty || calls.all == ["/whole"], "\(place)")
            answered += calls.all.count
        }
        // The versions of the first records and of a record that says nothing are not looked at.
        #expect(answered <= 10, "\(answered)")
    }

    @Test("Bytes without any sense end the connection")
    func nonsense() async throws {
        let context = try TLSContext.test()
        let calls = Calls()
        for seed in 0..<200 {
            var random = SeededBytes(seed: UInt64(seed))
            let connection = MemoryConnection(calls.handler, layers: [context])
            connection.feed([.bytes([22, 3, 1] + random.next(60 + seed * 5))])
            connection.end()
            try await connection.closed()
        }
        #expect(calls.all.isEmpty)
    }
}

/// Bytes that differ for each seed.
private struct SeededBytes {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state)
        }
    }
}
