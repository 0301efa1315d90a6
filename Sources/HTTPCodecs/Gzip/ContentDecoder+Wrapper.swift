internal import HTTPParser

// The header and trailer around the compressed data of gzip and zlib.
extension ContentDecoder {
    /// Reads the head of a gzip member.
    /// - Returns: false if more input is needed.
    mutating func takeHead(
        _ bytes: Span<UInt8>, _ position: inout Int
    ) throws(CodecError) -> Bool {
        while let byte = takeByte(bytes, &position) {
            do throws(GzipHead.Fault) {
                guard try !head.take(byte) else {
                    stage = .body
                    return true
                }
            } catch {
                throw headError(error)
            }
            guard head.length < limits.memberHeadBytes else {
                throw CodecError(.invalidCompressedData, at: readCount, "gzip head too long")
            }
        }
        return false
    }

    private func headError(_ fault: GzipHead.Fault) -> CodecError {
        let last = readCount - 1
        switch fault {
        // Only another member may follow a member.
        case .magic where memberStart > 0: return CodecError(.trailingGarbage, at: memberStart)
        case .magic: return CodecError(.invalidCompressedData, at: last, "no gzip head")
        case .method: return CodecError(.invalidCompressedData, at: last, "unknown method")
        case .flags: return CodecError(.invalidCompressedData, at: last, "unknown flags")
        case .check: return CodecError(.checksumMismatch, at: last, "gzip head")
        }
    }

    /// Continues after the end, where only another gzip member is allowed (RFC 1952, 2.2).
    mutating func beginMember() throws(CodecError) {
        guard format == .gzip else { throw CodecError(.trailingGarbage, at: readCount) }
        stage = .head
        head = GzipHead()
        memberStart = readCount
        memberLength = 0
        checksum = .crc
        trailer = 0
        trailerCount = 0
        stream?.reset()
    }

    /// Distinguishes the zlib format from raw DEFLATE.
    ///
    /// A zlib head is a multiple of 31, and the lowest bits of its first byte are 8 (RFC 1950,
    /// 2.2). Raw data with these bytes would begin with a stored block whose padding is not zero,
    /// which no compressor writes (RFC 1951, 3.2.4). Data that looks like zlib is therefore read as
    /// zlib, the format that the RFC requires.
    /// - Returns: false if more input is needed.
    mutating func takeChoice(
        _ bytes: Span<UInt8>, _ position: inout Int
    ) throws(CodecError) -> Bool {
        guard position < bytes.count else { return false }
        guard let first = firstByte else {
            if bytes[position] & 0x8F == 0x08 {
                firstByte = takeByte(bytes, &position)
            } else {
                (format, stage) = (.raw, .body)
            }
            return true
        }
        stage = .body
        guard (Int(first) << 8 | Int(bytes[position])) % 31 == 0 else {
            format = .raw
            return try giveBack(first)
        }
        // HTTP has no way to agree on a dictionary.
        guard let second = takeByte(bytes, &position), second & 0x20 == 0 else {
            throw CodecError(.dictionaryNeeded, at: readCount - 1)
        }
        return true
    }

    /// Passes a byte that was not part of a head to the decompressor. The byte is never a complete
    /// symbol.
    private mutating func giveBack(_ byte: UInt8) throws(CodecError) -> Bool {
        readCount -= 1
        var (position, nothing) = (0, [UInt8]())
        _ = try inflate([byte].span, &position, into: &nothing, room: 0)
        return true
    }

    /// Reads the check value and, in gzip, the length modulo 2^32, and compares them.
    /// - Returns: false if more input is needed.
    mutating func takeTrailer(
        _ bytes: Span<UInt8>, _ position: inout Int
    ) throws(CodecError) -> Bool {
        let count = format == .gzip ? 8 : 4
        while trailerCount < count {
            guard let byte = takeByte(bytes, &position) else { return false }
            trailer |= UInt64(byte) << UInt64(8 * trailerCount)
            trailerCount += 1
        }
        let check = UInt32(truncatingIfNeeded: trailer)
        guard (format == .gzip ? check : check.byteSwapped) == checksum.value else {
            throw CodecError(.checksumMismatch, at: readCount - Int64(count))
        }
        guard format == .zlib || UInt32(trailer >> 32) == memberLength else {
            throw CodecError(.checksumMismatch, at: readCount - 4, "length")
        }
        stage = .end
        return true
    }
}
