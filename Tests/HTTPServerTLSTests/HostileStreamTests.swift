import HTTPParser
import HTTPServerCore
import Synchronization
import TestSupport
import Testing
import ToolkitSystem

@testable import HTTPServerTLS

@Suite("RFC 8446 section 6: streams that are cut or changed in transit")
struct HostileStreamTests {
    /// Records the paths of the requests that a handler gets.
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

    /// The result of a client's handshake and request.
    private struct Course {
        /// The number of bytes that the client sent.
        var wanted = 0
        var answer: [UInt8] = []
    }

    /// Runs a client over a connection in memory until it is closed, or has a response.
    /// - Parameter change: returns the changed bytes of the client, and whether its stream ends
    ///   after them. It gets the bytes and the offset of the first.
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
                // The client has a response.
                connection.end()
                try await connection.closed()
                return course
            }
            if record.isClosed { return course }
        }
    }

    @Test(
        "If the stream is cut after any byte, no handler runs before the request is complete",
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
        "If any byte is changed, handlers get only the original request",
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
                // Without an end, the server would wait for the rest of a longer record.
                return (bytes, true)
            }
            #expect(calls.all.isEmpty || calls.all == ["/whole"], "\(place)")
            answered += calls.all.count
        }
        // The versions of the first records, and of a record without effect, are not checked.
        #expect(answered <= 10, "\(answered)")
    }

    @Test("Random bytes end the connection")
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

/// Random bytes that differ for each seed.
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
