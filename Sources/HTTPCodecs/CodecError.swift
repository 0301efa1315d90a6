public import HTTPParser

/// The reason why a codec refuses content, and the place of the fault.
///
/// `offset` counts from the codec's very first byte of input, so it does not depend on how the
/// input was split.
public struct CodecError: Error, Hashable, Sendable {
    /// The kind of an error.
    @nonexhaustive
    public enum Kind: String, Sendable, CaseIterable {
        /// The input ended before its format did.
        case truncated
        /// Bytes follow the end of the format, or stand between its parts.
        case trailingGarbage
        /// Compressed data is ill-formed (RFC 1950, 1951 and 1952).
        case invalidCompressedData
        /// The check value of compressed data differs from that of the content.
        case checksumMismatch
        /// Compressed data needs a dictionary, which HTTP does not transmit.
        case dictionaryNeeded
        /// The output is longer than the limit.
        case outputTooLong
        /// The ratio of output to input is above the limit.
        case ratioTooHigh
        /// The content coding is unknown (RFC 9110 section 8.4).
        case unsupportedContentCoding
        /// zlib could not allocate memory.
        case outOfMemory
        /// The media type is not a media type of the format (RFC 9110 section 8.3).
        case unsupportedMediaType
        /// The format does not allow the charset.
        case unsupportedCharset
        /// Two hexadecimal digits do not follow a `%`.
        case invalidPercentEncoding
        /// The text is not UTF-8.
        case invalidText
        /// A form has more pairs than the limit.
        case tooManyPairs
        /// Chunked content is ill-formed (RFC 9112 section 7.1).
        case invalidChunkedCoding
        /// Trailers or chunk extensions are longer than the limit.
        case chunkMetadataTooLong
        /// The boundary is missing or invalid (RFC 2046 section 5.1.1).
        case invalidBoundary
        /// A delimiter line is ill-formed (RFC 2046 section 5.1.1).
        case invalidDelimiter
        /// The head of a part is ill-formed.
        case invalidPartHead
        /// The head of a part is longer, or has more fields, than the limit.
        case partHeadTooLong
        /// There are more parts than the limit.
        case tooManyParts
        /// A part's content is longer than the limit.
        case partTooLong
        /// The bytes outside of all parts, a preamble or an epilogue, are longer than the limit.
        case fillerTooLong
        /// A part of a form has no name (RFC 7578 section 4.2).
        case missingPartName
        /// Parts are nested deeper than the limit.
        case nestedTooDeeply
        /// The input is longer than the limit.
        case inputTooLong
        /// The input is not JSON (RFC 8259).
        case invalidJSON
        /// The input is JSON, but does not fit the requested type.
        case unexpectedJSON
        /// The file for the content cannot be written.
        case fileNotWritable
        /// A name is not allowed in an archive.
        case invalidArchiveName
        /// An archive has more members than its directory can list, or a file in it has more bytes
        /// than announced.
        case archiveTooLong
    }

    /// The kind of the error.
    public let kind: Kind
    /// The offset of the first faulty byte, or of the first byte beyond a limit.
    public let offset: Int64
    /// Further details, such as the name of a missing key; may be empty. May contain input of the
    /// peer.
    public let detail: String

    /// Creates an error.
    public init(_ kind: Kind, at offset: Int64 = 0, _ detail: String = "") {
        self.kind = kind
        self.offset = offset
        self.detail = detail
    }

    /// The status that a server answers with when a client's content has this fault.
    public var suggestedStatus: HTTPStatus {
        switch kind {
        case .outputTooLong, .ratioTooHigh, .tooManyPairs, .tooManyParts, .partTooLong,
            .inputTooLong, .chunkMetadataTooLong, .fillerTooLong:
            .contentTooLarge
        case .unsupportedContentCoding, .unsupportedMediaType, .unsupportedCharset:
            .unsupportedMediaType
        case .partHeadTooLong: .requestHeaderFieldsTooLarge
        case .unexpectedJSON: .unprocessableContent
        case .fileNotWritable: .insufficientStorage
        case .outOfMemory: .serviceUnavailable
        default: .badRequest
        }
    }
}

extension CodecError: CustomStringConvertible {
    /// The kind, place and detail in one line, such as `checksum mismatch at byte 17`.
    ///
    /// An error without a place in the content has a line such as
    /// `unexpected JSON: the field "text" is missing`. If the fault is in a field of the message,
    /// such as a wrong media type, the line is only the detail.
    public var description: String {
        let start = hasPlace ? "\(reason) at byte \(offset)" : reason
        if detail.isEmpty { return start }
        return hasPlace || suggestedStatus != .unsupportedMediaType ? "\(start): \(detail)" : detail
    }

    /// Whether the offset is the offset of a byte. The kinds below usually have an offset only if
    /// the content is a part or a line of other content: the offset where that part or line begins.
    private var hasPlace: Bool {
        switch kind {
        case .unsupportedMediaType, .unsupportedCharset, .unsupportedContentCoding,
            .invalidBoundary,
            .unexpectedJSON, .outOfMemory, .fileNotWritable:
            offset > 0
        default: true
        }
    }

    /// The kind in plain words.
    public var reason: String {
        switch kind {
        case .invalidJSON: "invalid JSON"
        case .unexpectedJSON: "unexpected JSON"
        default: lowercaseWords(of: kind.rawValue)
        }
    }
}

extension CodecError {
    /// `.invalidText` at the first byte that is not UTF-8.
    /// - Parameter start: the offset of the first of the bytes.
    package static func invalidUTF8(
        in bytes: [UInt8], from start: Int64 = 0, _ detail: String = ""
    ) -> CodecError {
        var (decoder, iterator, offset) = (UTF8(), bytes.makeIterator(), start)
        while case .scalarValue(let scalar) = decoder.decode(&iterator) {
            offset += Int64(UTF8.width(scalar))
        }
        return CodecError(.invalidText, at: offset, detail)
    }
}
