internal import HTTPParser

/// The parts of multipart content, in the order of the wire.
public enum MultipartEvent: ~Copyable, ~Escapable {
    /// A part begins.
    case part(PartHead)
    /// A piece of the part's content, valid until the parser is used again.
    case content(Span<UInt8>)
    /// The part is complete.
    case partEnd
    /// No part follows. Any further bytes are skipped.
    case end
}

/// Parses multipart content that arrives in pieces, without streams and callbacks.
///
/// ```swift
/// guard let type = MediaType("multipart/form-data; boundary=x") else { return }
/// var parser = try MultipartParser(of: type)
/// let form = "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x--\r\n"
/// parser.append(Array(form.utf8).span)
/// while let event = try parser.next() {
///     switch event {
///     case .part(let head): print(head.name ?? "-", head.fileName ?? "-")
///     case .content(let bytes): print(bytes.count)
///     case .partEnd: print("end of the part")
///     case .end: break
///     }
/// }
/// try parser.finish()
/// ```
///
/// The bytes may be split anywhere; the events are the same except for the sizes of content pieces.
/// Memory is bounded by the limit of a part head and the bytes that were appended but not yet
/// returned. ``PartParser``, which works on the caller's bytes, documents the accepted grammar.
///
/// RFC 2046, section 5.1; RFC 7578.
public struct MultipartParser: ~Copyable, Sendable {
    private var input = ByteBuffer()
    private var parts: PartParser

    /// Creates a parser for content of a media type.
    /// - Throws: `.unsupportedMediaType` or `.invalidBoundary`.
    public init(
        of mediaType: MediaType, limits: MultipartLimits = .standard,
        leniency: MultipartLeniency = []
    ) throws(CodecError) {
        parts = try PartParser(of: mediaType, limits: limits, leniency: leniency)
    }

    /// Creates a parser.
    public init(
        _ kind: MultipartKind, boundary: MultipartBoundary, limits: MultipartLimits = .standard,
        leniency: MultipartLeniency = []
    ) {
        parts = PartParser(kind, boundary: boundary, limits: limits, leniency: leniency)
    }

    /// Adds bytes to the input.
    public mutating func append(_ bytes: Span<UInt8>) {
        input.append(bytes)
    }

    /// The next event; `nil` if more bytes are needed.
    /// - Throws: the error that makes the input invalid. It is final: later calls throw it again.
    @_lifetime(&self)
    public mutating func next() throws(CodecError) -> MultipartEvent? {
        let bytes = unsafe input.unsafeBytes
        var position = 0
        let step = try unsafe parts.next(bytes, from: &position)
        input.consume(position)
        switch step {
        case .more: return nil
        case .part(let head): return .part(head)
        case .partEnd: return .partEnd
        case .end: return .end
        case .content(let range):
            // Consumed bytes stay in place until the buffer is written to.
            let piece = unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
            let bytes = unsafe piece.assumingMemoryBound(to: UInt8.self)
            let span = unsafe Span<UInt8>(_unsafeElements: bytes)
            return unsafe _overrideLifetime(.content(span), mutating: &self)
        }
    }

    /// Ends the input. Call `next()` for the last events before.
    /// - Throws: `.truncated` if the closing delimiter is missing.
    public mutating func finish() throws(CodecError) {
        try parts.finish()
    }
}
