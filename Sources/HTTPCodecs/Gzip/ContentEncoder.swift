/// Compresses content piece by piece.
///
/// ```swift
/// var encoder = try ContentEncoder(.gzip, level: 6, pool: pool)
/// var compressed: [UInt8] = []
/// encoder.encode(Array("hello".utf8).span, into: &compressed)
/// encoder.finish(into: &compressed)
/// ```
///
/// Equal content that is split and flushed equally gives equal bytes: the gzip head has no time, no
/// name, and 255 (unknown) as the system. `.deflate` is written in the zlib format, as RFC 9110
/// section 8.4.1.2 requires; `.identity` copies.
///
/// RFC 1950, RFC 1951, RFC 1952.
public struct ContentEncoder: ~Copyable, Sendable {
    /// The coding that is applied.
    public let coding: ContentCoding
    /// The compression level, 1 (fast) to 9 (small).
    public let level: Int
    private var stream: ZStream?
    private var checksum: ZChecksum
    private var length: UInt32 = 0
    private var stage = Stage.new
    /// Whether the compressor may have unwritten bytes.
    private var holdsBytes = false

    private enum Stage { case new, open, finished }

    /// Creates an encoder.
    /// - Parameters:
    ///   - coding: the coding to apply.
    ///   - level: 1 (fast) to 9 (small).
    ///   - pool: the pool that the compressor is taken from and returned to.
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

    /// Compresses bytes and appends the output that is ready, which is often nothing.
    public mutating func encode(_ bytes: Span<UInt8>, into output: inout [UInt8]) {
        begin(into: &output)
        guard bytes.count > 0 else { return }
        guard coding != .identity else { return output.append(contentsOf: bytes) }
        checksum.update(bytes)
        length &+= UInt32(truncatingIfNeeded: bytes.count)
        holdsBytes = true
        deflate(bytes, .none, into: &output)
    }

    /// Appends all pending output, so that the recipient can read all content so far.
    ///
    /// Each flush makes the output a little longer. Without new bytes only the head is appended, if
    /// it is missing.
    public mutating func flush(into output: inout [UInt8]) {
        begin(into: &output)
        guard holdsBytes else { return }
        holdsBytes = false
        deflate(Span(), .sync, into: &output)
    }

    /// Compresses the last bytes and appends the rest of the output. The encoder cannot be used
    /// again until ``reset()``.
    ///
    /// For complete content, a single call of this method is the fastest.
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
        precondition(stage != .finished, "the encoder is finished")
        guard stage == .new else { return }
        stage = .open
        switch coding {
        case .gzip: appendGzipHead(to: &output)
        case .deflate: appendZlibHead(to: &output)
        case .identity: break
        }
    }

    /// RFC 1952, section 2.3.1: deflate, no flags, no time, the effort, unknown system.
    private func appendGzipHead(to output: inout [UInt8]) {
        let effort: UInt8 = level == 9 ? 2 : level == 1 ? 4 : 0
        output.append(contentsOf: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, effort, 0xFF])
    }

    /// RFC 1950, section 2.2: deflate with a window of 32 KiB. The second byte encodes the level,
    /// and its lowest bits make the head a multiple of 31.
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
