internal import HTTPCodecs
internal import HTTPParser

/// A content coding that this client decodes.
enum TakenCoding: Sendable {
    case standard(ContentCoding)
    /// br (RFC 7932), if its library was found.
    case brotli

    /// Finds a coding by its token, ignoring case; nil for an unknown one.
    init?(token: String) {
        if let coding = ContentCoding(token: token) {
            self = .standard(coding)
        } else if token.utf8.count == 2, token.lowercased() == "br", BrotliDecoder.isAvailable {
            self = .brotli
        } else {
            return nil
        }
    }

    /// The value of `Accept-Encoding`.
    static let accepted =
        ContentCoding.acceptedByDecoders + (BrotliDecoder.isAvailable ? ", br" : "")
}

/// Decodes the content codings of a response, beginning with the one that was applied last.
final class Decoding {
    /// The most codings of one response. More codings do not make content smaller, but let few
    /// bytes expand to many.
    static let codingLimit = 4

    private var decoder: ContentDecoder
    /// Used instead of `decoder`.
    private let brotli: BrotliDecoder?
    /// Decodes the codings that were applied before this one.
    private let inner: Decoding?
    /// The decoded form of the last piece.
    private var decoded: [UInt8] = []

    /// - Parameters:
    ///   - codings: in the order in which they were applied, at least one.
    ///   - limits: the limits of the output of each coding.
    init(
        _ codings: some BidirectionalCollection<TakenCoding>, _ limits: ContentDecodingLimits,
        _ pool: ContentCodingPool
    ) throws(CodecError) {
        let others = codings.dropLast()
        inner = others.isEmpty ? nil : try Decoding(others, limits, pool)
        // Compressed content hardly gets smaller when it is compressed again; a higher ratio is an attack.
        let own =
            others.isEmpty
            ? limits
            : ContentDecodingLimits(
                outputBytes: limits.outputBytes, ratio: min(4, limits.ratio),
                ratioFloor: min(64 << 10, limits.ratioFloor))
        var coding = ContentCoding.identity
        if case .standard(let last) = codings.last { coding = last }
        decoder = try ContentDecoder(coding, limits: own, pool: pool)
        if case .brotli = codings.last { brotli = try BrotliDecoder(own) } else { brotli = nil }
    }

    /// Decodes a piece of content. The result is valid until the next call.
    func decode(_ bytes: Span<UInt8>) throws(CodecError) -> [UInt8] {
        decoded.removeAll(keepingCapacity: true)
        if let brotli {
            try brotli.decode(bytes, into: &decoded)
        } else {
            try decoder.decode(bytes, into: &decoded)
        }
        guard let inner else { return decoded }
        return try inner.decode(decoded)
    }

    private func decode(_ bytes: [UInt8]) throws(CodecError) -> [UInt8] {
        let end = unsafe bytes.withUnsafeBufferPointer { buffer -> Result<[UInt8], CodecError> in
            do throws(CodecError) {
                return .success(try unsafe decode(Span(_unsafeElements: buffer)))
            } catch {
                return .failure(error)
            }
        }
        return try end.get()
    }

    /// Finishes decoding, and returns the rest of the content.
    func finish() throws(CodecError) -> [UInt8] {
        decoded.removeAll(keepingCapacity: true)
        if let brotli { try brotli.finish() } else { try decoder.finish(into: &decoded) }
        guard let inner else { return decoded }
        let last = try inner.decode(decoded)
        return last + (try inner.finish())
    }

    /// The codings of a response in the order in which they were applied; nil if one is unknown, or the
    /// fields are not a list. The application handles such content.
    static func codings(of response: ClientResponse) -> [TakenCoding]? {
        let lines = response.fields.values(of: .contentEncoding).joined(separator: ",")
        guard let tokens = FieldValues.tokens(lines) else { return nil }
        var codings: [TakenCoding] = []
        for token in tokens {
            guard let coding = TakenCoding(token: token) else { return nil }
            if case .standard(.identity) = coding { continue }
            codings.append(coding)
        }
        return codings
    }
}
