internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import Synchronization

/// Decodes the content coding of a request while its content is read (RFC 9110 section 8.4).
///
/// The next coded piece is read only after the reader has taken all output of the last one. A
/// decompression bomb therefore costs no memory, and a slow reader applies back-pressure.
final class BodyDecoding: ContentDecoding, @unchecked Sendable {
    /// The most decoded bytes of a piece.
    private static let pieceBytes = 64 << 10

    let codings: String
    private let limits: ContentDecodingLimits
    private let pool: ContentCodingPool
    /// Whether a call of `next` is running. It has exclusive access to the properties below.
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

    /// The next piece of decoded content, never empty; `nil` after the last.
    ///
    /// An unknown coding is refused before any content is read, and so before 100 Continue is sent.
    /// - Throws: `RequestBodyError.alreadyRead` while another call runs, `CodecError`, and errors
    ///   of `source`.
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
        // A few bytes must not keep a large buffer alive.
        if content.count < content.capacity / 2 { content = Array(content[...]) }
        return content.isEmpty ? nil : content
    }

    /// Accepts empty content: some clients send Content-Encoding with it.
    private func finish() throws(CodecError) -> [UInt8]? {
        guard decoder?.readCount ?? 0 > 0 else { return nil }
        var content: [UInt8] = []
        try decoder?.finish(into: &content)
        return content.isEmpty ? nil : content
    }
}
