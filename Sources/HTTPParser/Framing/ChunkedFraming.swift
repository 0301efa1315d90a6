/// The chunked transfer coding (RFC 9112 section 7.1) as a value: bytes in, data ranges out.
///
/// Chunk data is neither copied nor examined; only the lines around it are read byte by byte. CRLF
/// is the only line end accepted here, even with the leniency that accepts a lone LF in heads.
package struct ChunkedFraming: Sendable {
    private enum State {
        case size, afterBlank, extensionName, afterName, value, token, quoted, escaped, afterQuote
        case sizeLineFeed, data, dataReturn, dataLineFeed, trailers
    }

    package enum Step {
        case more
        case content(Range<Int>)
        /// The last chunk is read; the trailer section begins.
        case trailers
    }

    private var state = State.size
    private var digits = 0
    private var remaining: UInt64 = 0
    private var extensionBytes = 0
    private var extensionLimit: Int
    private var total: UInt64 = 0
    private var contentLimit: UInt64

    package init(limits: ParserLimits) {
        extensionLimit = limits.chunkExtensionBytes
        contentLimit = UInt64(max(limits.contentBytes, 0))
    }

    /// Reads from `position` on, and moves `position` past the bytes that were read.
    package mutating func next(
        _ bytes: UnsafeRawBufferPointer, from position: inout Int
    ) throws(HTTPParseError) -> Step {
        while state != .trailers {
            if state == .data {
                guard position < bytes.count else { return .more }
                let taken = Int(min(remaining, UInt64(bytes.count - position)))
                let start = position
                position += taken
                remaining -= UInt64(taken)
                if remaining == 0 { state = .dataReturn }
                return .content(start..<position)
            }
            guard position < bytes.count else { return .more }
            state = try readFrame(unsafe bytes[position], at: position)
            position += 1
        }
        return .trailers
    }

    private mutating func readFrame(
        _ byte: UInt8, at offset: Int
    ) throws(HTTPParseError) -> State {
        switch state {
        case .size: return try readSize(byte, at: offset)
        case .sizeLineFeed:
            guard byte == UInt8(ascii: "\n") else {
                throw HTTPParseError(.invalidChunkSize, at: offset)
            }
            digits = 0
            return remaining == 0 ? .trailers : .data
        case .dataReturn:
            guard byte == UInt8(ascii: "\r") else {
                throw HTTPParseError(.missingChunkEnd, at: offset)
            }
            return .dataLineFeed
        case .dataLineFeed:
            guard byte == UInt8(ascii: "\n") else {
                throw HTTPParseError(.missingChunkEnd, at: offset)
            }
            return .size
        default:
            // The CR that ends the line is not part of the extensions.
            if byte != UInt8(ascii: "\r") { extensionBytes += 1 }
            guard extensionBytes <= extensionLimit else {
                throw HTTPParseError(.chunkExtensionsTooLong, at: offset)
            }
            return try readExtension(byte, at: offset)
        }
    }

    /// chunk-size = 1*HEXDIG. The overflow check comes before the shift. Every size fits into 16
    /// digits, and the limit of 16 also bounds a run of zeros.
    private mutating func readSize(
        _ byte: UInt8, at offset: Int
    ) throws(HTTPParseError) -> State {
        if let digit = ByteClass.hexValue(byte) {
            guard digits < 16, remaining >> 59 == 0 else {
                throw HTTPParseError(.invalidChunkSize, at: offset)
            }
            remaining = remaining << 4 | UInt64(digit)
            digits += 1
            return .size
        }
        guard digits > 0 else { throw HTTPParseError(.invalidChunkSize, at: offset) }
        let (sum, overflow) = total.addingReportingOverflow(remaining)
        guard !overflow, sum <= contentLimit else {
            throw HTTPParseError(.contentTooLong, at: offset)
        }
        total = sum
        switch byte {
        case UInt8(ascii: "\r"): return .sizeLineFeed
        case UInt8(ascii: ";"): return try countedExtension(at: offset, .extensionName)
        case _ where ByteClass.isBlank(byte): return try countedExtension(at: offset, .afterBlank)
        default: throw HTTPParseError(.invalidChunkSize, at: offset)
        }
    }

    private mutating func countedExtension(
        at offset: Int, _ next: State
    ) throws(HTTPParseError) -> State {
        extensionBytes += 1
        nameLength = 0
        guard extensionBytes <= extensionLimit else {
            throw HTTPParseError(.chunkExtensionsTooLong, at: offset)
        }
        return next
    }

    private var nameLength = 0

    /// chunk-ext = *( BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] )
    /// (RFC 9112 section 7.1.1).
    private mutating func readExtension(
        _ byte: UInt8, at offset: Int
    ) throws(HTTPParseError) -> State {
        let isBlank = ByteClass.isBlank(byte)
        switch (state, byte) {
        case (.afterBlank, UInt8(ascii: ";")), (.afterName, UInt8(ascii: ";")),
            (.afterQuote, UInt8(ascii: ";")), (.token, UInt8(ascii: ";")):
            nameLength = 0
            return .extensionName
        case (.extensionName, UInt8(ascii: ";")) where nameLength > 0:
            nameLength = 0
            return .extensionName
        case (.afterBlank, _) where isBlank: return .afterBlank
        case (.extensionName, _) where isBlank: return nameLength > 0 ? .afterName : .extensionName
        case (.extensionName, _) where ByteClass.isToken(byte):
            nameLength += 1
            return .extensionName
        case (.extensionName, UInt8(ascii: "=")) where nameLength > 0,
            (.afterName, UInt8(ascii: "=")):
            return .value
        case (.afterName, _) where isBlank: return .afterName
        case (.value, _) where isBlank: return .value
        case (.value, UInt8(ascii: "\"")): return .quoted
        case (.value, _) where ByteClass.isToken(byte), (.token, _) where ByteClass.isToken(byte):
            return .token
        case (.token, _) where isBlank, (.afterQuote, _) where isBlank: return .afterBlank
        case (.quoted, UInt8(ascii: "\"")): return .afterQuote
        case (.quoted, UInt8(ascii: "\\")): return .escaped
        case (.quoted, _) where ByteClass.isFieldContent(byte): return .quoted
        case (.escaped, _) where ByteClass.isFieldContent(byte): return .quoted
        case (.extensionName, UInt8(ascii: "\r")) where nameLength > 0,
            (.token, UInt8(ascii: "\r")), (.afterQuote, UInt8(ascii: "\r")):
            return .sizeLineFeed
        default: throw HTTPParseError(.invalidChunkExtension, at: offset)
        }
    }
}
