internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import Synchronization

/// Decodes the content coding of a request while its content is read (RFC 9110 section 8.4).
///
/// Coded pieces are only asked for when all that the last one stands for was taken, so a few
/// bytes that expand to many cost no memory, and a slow reader slows the client down.
final class BodyDecoding: ContentDecoding, @unchecked Sendable {
    /// The most bytes of a piece.
    private static let pieceBytes = 64 << 10

    let codings: String
    private let limits: ContentDecodingLimits
    private let pool: ContentCodingPool
    /// Whether a reader is active. It has exclusive access to the rest.
    private let isBusy = Atomic<Bool>(false)
    private var decoder: ContentDecoder?
    private var piece: [UInt8] = []
    private var position = 0
    private var wantsInput = true

    /// - Parameter codings: the lines of Content-Encoding, joined by commas.
    init(_ codings: String, limits: ContentDecodingLimits, pool: ContentCodingPool) {
        self.codings = codings
        self.limits = limits
        self.pool = pool
    }

    /// The next piece of content, never empty; `nil` after the last.
    ///
    /// An unknown coding is refused before anything is asked from the client, 100 Continue
    /// included.
    func next(from source: () async throws -> [UInt8]?) async throws -> [UInt8]? {
        guard !isBusy.exchange(true, ordering: .acquiring) else {
            throw RequestBodyError.alreadyRead
        }
        defer { isBusy.store(false, ordering: .releasing) }
        if decoder == nil {
            let coding = try ContentCoding(applied: codings)
            decoder = try ContentDecoder(coding, limits: limits, pool: pool)
        }
        while true {
            if wantsInput {
                guard let next = try await source() else { return try finish() }
                (piece, position) = (next, 0)
            }
            if let content = try decode() { return content }
        }
    }

    private func decode() throws(CodecError) -> [UInt8]? {
        var content: [UInt8] = []
        wantsInput =
            try decoder?.decode(
                piece.span, from: &position, into: &content, upTo: Self.pieceBytes) ?? true
        // A few bytes must not keep the room of many.
        if content.count < content.capacity / 2 { content = Array(content[...]) }
        return content.isEmpty ? nil : content
    }

    /// No bytes at all are no content: some clients name a coding all the same.
    private func finish() throws(CodecError) -> [UInt8]? {
        guard decoder?.readCount ?? 0 > 0 else { return nil }
        var content: [UInt8] = []
        try decoder?.finish(into: &content)
        return content.isEmpty ? nil : content
    }
}
