/// Compresses content, piece by piece.
///
/// ```swift
/// var encoder = try ContentEncoder(.gzip, level: 6, pool: pool)
/// var compressed: [UInt8] = []
/// encoder.encode(Array("hello".utf8).span, into: &compressed)
/// encoder.finish(into: &compressed)
/// ```
///
/// Equal content, cut and flushed equally, gives equal bytes: the head of gzip has no time, no
/// name, and 255 (unknown) for the system. `.deflate` is written in the zlib format, as RFC 9110
/// section 8.4.1.2 has it; `.identity` copies.
///
/// RFC 1950, RFC 1951, RFC 1952.
public struct ContentEncoder: ~Copyable, Sendable {
    /// The coding that is applied.
    public let coding: ContentCoding
    /// 1 (fast) to 9 (small).
    public let level: Int
    private var stream: ZStream?
    private var checksum: ZChecksum
    private var length: UInt32 = 0
    private var stage = Stage.new
    /// Whether the compressor may hold bytes back.
    private var holdsBytes = false

    private enum Stage { case new, open, finished }

    /// Creates an encoder.
    /// - Parameters:
    ///   - coding: what is put on.
    ///   - level: 1 (fast) to 9 (small).
    ///   - pool: where to take the compressor from, and where it goes in the end.
    /// - Throws: `.outOfMemory`.
    public init(
        _ coding: ContentCoding, level: Int = 6, pool: ContentCodingPool? = nil
    ) throws(CodecError) {
        precondition(1...9 ~= level, "a level of compression is 1 to 9")
        self.coding = coding
        self.level = level
        checksum = coding == .gzip ? .crc : .adler
        stream = coding == .identity ? nil : try ZStream(deflatingAt: level, with: pool)
    }

    /// Compresses bytes and appends what is ready, which is often nothing.
    public mutating func encode(_ bytes: Span<UInt8>, into output: inout [UInt8]) {
        begin(into: &output)
        guard bytes.count > 0 else { return }
        guard coding != .identity else { return output.append(contentsOf: bytes) }
        checksum.update(bytes)
        length &+= UInt32(truncatingIfNeeded: bytes.count)
        holdsBytes = true
        deflate(bytes, .none, into: &output)
    }

    /// Appends all that is held back, so that the recipient can read what was given so far.
    ///
    /// Each use costs some compression. Without new bytes nothing but the head is appended.
    public mutating func flush(into output: inout [UInt8]) {
        begin(into: &output)
        guard holdsBytes else { return }
        holdsBytes = false
        deflate(Span(), .sync, into: &output)
    }

    /// Compresses the last bytes and appends the rest; the encoder is used up then.
    ///
    /// Content at hand as a whole is best given here.
    public mutating func finish(_ bytes: Span<UInt8> = Span(), into output: inout [UInt8]) {
        begin(into: &output)
        stage = .finished
        guard coding != .identity else { return output.append(contentsOf: bytes) }
        checksum.update(bytes)
        length &+= UInt32(truncatingIfNeeded: bytes.count)
        deflate(bytes, .finish, into: &output)
        appendTrailer(to: &output)
    }

    /// Makes the encoder ready for other content, as if it were new.
    public mutating func reset() {
        stream?.reset()
        checksum = coding == .gzip ? .crc : .adler
        length = 0
        holdsBytes = false
        stage = .new
    }

    private mutating func deflate(
        _ bytes: Span<UInt8>, _ flush: ZStream.Flush, into output: inout [UInt8]
    ) {
        stream?.deflateAll(bytes, flush, into: &output)
    }
}

// The header and trailer around the compressed data.
extension ContentEncoder {
    private mutating func begin(into output: inout [UInt8]) {
        precondition(stage != .finished, "an encoder that is finished")
        guard stage == .new else { return }
        stage = .open
        switch coding {
        case .gzip: appendGzipHead(to: &output)
        case .deflate: appendZlibHead(to: &output)
        case .identity: break
        }
    }

    /// RFC 1952, section 2.3.1: deflate, no flags, no time, how hard it was tried, any system.
    private func appendGzipHead(to output: inout [UInt8]) {
        let effort: UInt8 = level == 9 ? 2 : level == 1 ? 4 : 0
        output.append(contentsOf: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, effort, 0xFF])
    }

    /// RFC 1950, section 2.2: deflate with a window of 32 KiB; the level makes the second byte,
    /// whose lowest bits make the number a multiple of 31.
    private func appendZlibHead(to output: inout [UInt8]) {
        let second: UInt8 =
            switch level {
            case 1: 0x01
            case 2...5: 0x5E
            case 6: 0x9C
            default: 0xDA
            }
        output.append(contentsOf: [0x78, second])
    }

    private func appendTrailer(to output: inout [UInt8]) {
        if coding == .gzip {
            output.appendLittleEndian(checksum.value)
            output.appendLittleEndian(length)
        } else {
            output.appendLittleEndian(checksum.value.byteSwapped)
        }
    }
}

extension [UInt8] {
    fileprivate mutating func appendLittleEndian(_ number: UInt32) {
        for shift in stride(from: UInt32(0), through: 24, by: 8) {
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    fileprivate mutating func append(contentsOf bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}
