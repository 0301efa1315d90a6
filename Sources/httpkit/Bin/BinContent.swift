import HTTPCodecs
import HTTPParser
import HTTPServerCore
internal import HTTPServerKit

/// Generated content: noise, patterns and streams.
extension BinRouter {
    mutating func addGeneratedContent() {
        group("Content of any length")
        answer(
            [.get], "/bytes/:n", "n random bytes, at most 100 MiB; ?seed makes them repeatable.",
            example: "/bytes/1024?seed=1"
        ) { request in
            let count = min(try request.number("n"), Self.generatedLimit)
            var noise = Noise(seed: try request.number(inQuery: "seed"))
            // Long content is produced while it is sent.
            guard count > 64 << 10 else {
                return Response(.ok, body: .bytes(noise.next(count)))
            }
            return Response(.ok, body: Self.noise(count, piece: 64 << 10, noise, isChunked: false))
        }
        answer(
            [.get], "/stream-bytes/:n", "n random bytes without a length, in pieces of chunk_size.",
            example: "/stream-bytes/1024?chunk_size=100"
        ) { request in
            let count = min(try request.number("n"), Self.generatedLimit)
            let piece = try request.number(inQuery: "chunk_size") ?? 10 << 10
            let noise = Noise(seed: try request.number(inQuery: "seed"))
            return Response(
                .ok,
                body: Self.noise(count, piece: min(max(piece, 1), 1 << 20), noise, isChunked: true))
        }
        answer(
            [.get], "/range/:n",
            "The alphabet, repeated, with ETag and ranges; ?duration spreads it over time.",
            example: "/range/1024"
        ) { request in
            try Self.range(request)
        }
        answer(
            [.get], "/stream/:n", "n JSON values, at most 100, one per line.",
            example: "/stream/3"
        ) { request in
            let count = min(try request.number("n"), 100)
            let head = Self.head(of: request)
            return .stream(mediaType: .json) { writer in
                for id in 0..<count {
                    var members = head
                    members["id"] = .integer(id)
                    try await writer.write(JSONValue.object(members).line)
                }
            }
        }
    }

    /// Bytes that look random.
    private struct Noise: Sendable {
        private var state: UInt64

        init(seed: Int?) {
            state = seed.map { UInt64($0) } ?? UInt64.random(in: .min ... .max)
        }

        /// SplitMix64 by Steele, Lea and Flood: one step for eight bytes.
        mutating func next(_ count: Int) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(count + 8)
            while bytes.count < count {
                state &+= 0x9E37_79B9_7F4A_7C15
                var word = state
                word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
                word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
                word ^= word >> 31
                for shift in stride(from: UInt64(0), to: 64, by: 8) {
                    bytes.append(UInt8(truncatingIfNeeded: word >> shift))
                }
            }
            bytes.removeLast(bytes.count - count)
            return bytes
        }
    }

    private static func noise(
        _ count: Int, piece: Int, _ noise: Noise, isChunked: Bool
    ) -> ResponseBody {
        .stream(
            mediaType: "application/octet-stream", length: isChunked ? nil : Int64(count)
        ) { writer in
            var noise = noise
            var left = count
            while left > 0 {
                // If a piece is not a multiple of 8 bytes, the rest of its last word is dropped, so
                // a seed gives the same bytes only with the same piece size.
                let bytes = noise.next(min(piece, left))
                try await writer.write(bytes)
                left -= bytes.count
            }
        }
    }

    private static func range(_ request: Request) throws -> Response {
        let count = try request.number("n")
        let tag = EntityTag(opaque: "range\(count)")
        guard (1...16 << 20).contains(count) else {
            throw HTTPError(
                .notFound, "expected a length of 1 to \(16 << 20) bytes",
                fields: [.acceptRanges: "bytes", .eTag: tag?.description ?? ""])
        }
        let seconds = try request.seconds(inQuery: "duration") ?? 0
        let size = try request.number(inQuery: "chunk_size")
        var response = Response(.ok, body: .bytes([], mediaType: "application/octet-stream"))
        response.entityTag = tag
        let content = ContentGenerator(length: Int64(count)) { range, writer in
            let pieces = PacedWriting(
                seconds: seconds, size: size ?? (seconds > 0 ? 10 << 10 : 64 << 10),
                total: Int(range.count))
            try await pieces.write(Int(range.count), to: writer) { offset, count in
                let first = Int(range.first) + offset
                return (first..<first + count).map { UInt8(ascii: "a") + UInt8($0 % 26) }
            }
        }
        return try response.conditional(for: request, generating: content)
    }
}

/// Writes content in pieces that are spread over time.
struct PacedWriting: Sendable {
    private let size: Int
    private let pause: Duration

    /// - Parameters:
    ///   - seconds: the duration of writing all bytes.
    ///   - size: the bytes of a piece; raised to a thousandth of `total` if it is smaller.
    ///   - total: the number of all bytes.
    init(seconds: Double, size: Int, total: Int) {
        let size = min(max(size, 1, total / 1000), 1 << 20)
        self.size = size
        let pieces = max(1, (total + size - 1) / size)
        pause = .seconds(seconds / Double(pieces))
    }

    /// Writes `count` bytes; each piece is made only after the previous one was written.
    /// - Parameter make: makes a piece from its offset and length.
    func write(
        _ count: Int, to writer: ResponseWriter, make: (_ offset: Int, _ count: Int) -> [UInt8]
    ) async throws {
        var start = 0
        while start < count {
            if pause > .zero { try await Task.sleep(for: pause) }
            let part = min(size, count - start)
            try await writer.write(make(start, part))
            start += part
        }
    }
}
