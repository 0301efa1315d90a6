// The only file that imports zlib.
internal import CHTTPCodecsShims
internal import CZlib

/// A stream of zlib that compresses or decompresses raw DEFLATE data (RFC 1951).
///
/// Swift code reads and writes the heads and trailers of gzip and zlib, so that errors have an
/// offset and one kind of stream serves every coding. zlib's state points back to its `z_stream`,
/// which therefore lives on the heap. Setting up a compressor costs 256 KiB of fresh memory, so the
/// state of a stream that was made with a pool returns to the pool at the stream's end.
@safe
package struct ZStream: ~Copyable, @unchecked Sendable {
    /// The state on the heap.
    @safe
    struct Storage {
        var stream = unsafe z_stream()
        /// 1...9, or 0 in a stream that decompresses.
        var level: CInt
    }

    /// The flush mode once the input is used up.
    package enum Flush {
        case none, sync, finish
    }

    /// How a step ended.
    enum Outcome: Equatable {
        /// All input was read, or the output space is full.
        case paused
        case end
        case invalid(String)
        case outOfMemory
    }

    private let storage: UnsafeMutablePointer<Storage>
    private let pool: ContentCodingPool?

    /// A stream that decompresses.
    init(inflatingWith pool: ContentCodingPool?) throws(CodecError) {
        if let idle = unsafe pool?.inflaters.take() {
            unsafe storage = idle
        } else {
            unsafe storage = try Self.makeInflater()
        }
        self.pool = pool
    }

    /// A stream that compresses.
    /// - Parameter level: 1 (fast) to 9 (small).
    package init(deflatingAt level: Int, with pool: ContentCodingPool?) throws(CodecError) {
        self.pool = pool
        if let idle = unsafe pool?.deflaters.take() {
            if unsafe Self.set(CInt(level), of: idle) {
                unsafe storage = idle
                return
            }
            unsafe Self.destroy(idle)
        }
        unsafe storage = try Self.makeDeflater(CInt(level))
    }

    /// Changes the level of a reset stream; its next output has the new level.
    /// - Returns: `false` if zlib refuses: version 1.2.11 may, once the stream was used.
    private static func set(_ level: CInt, of storage: UnsafeMutablePointer<Storage>) -> Bool {
        guard unsafe storage.pointee.level != level else { return true }
        let code = unsafe deflateParams(&storage.pointee.stream, level, Z_DEFAULT_STRATEGY)
        guard code == Z_OK else { return false }
        unsafe storage.pointee.level = level
        return true
    }

    deinit {
        if let pool, unsafe Self.park(storage, in: pool) { return }
        unsafe Self.destroy(storage)
    }

    /// A stream that compresses with a window of another size than the 32 KiB of the others; it
    /// belongs to no pool.
    /// - Parameters:
    ///   - level: 1 (fast) to 9 (small).
    ///   - windowBits: 8...15: a match begins at most 2 to the power of this many bytes back.
    package init(deflatingAt level: Int, windowBits: Int) throws(CodecError) {
        precondition(8...15 ~= windowBits, "a window has 8 to 15 bits")
        // zlib has no raw window of 8 bits. With the strategy RLE the distance of every match is 1,
        // which is valid in any window.
        unsafe storage = try Self.makeDeflater(
            CInt(level), windowBits: CInt(max(windowBits, 9)),
            strategy: windowBits == 8 ? Z_RLE : Z_DEFAULT_STRATEGY)
        pool = nil
    }

    /// Resets the stream to its initial state.
    package mutating func reset() {
        unsafe Self.reset(storage)
    }

    /// Lets a decompressor continue after the end of the data; its window keeps the content so far.
    mutating func continueAfterEnd() {
        _ = unsafe inflateResetKeep(&storage.pointee.stream)
        // `inflate` itself leaves this value between two blocks; see `isBetweenBlocks`.
        unsafe storage.pointee.stream.data_type = 0x80
    }

    /// Whether a decompressor is between two blocks, and at the start of a byte.
    var isBetweenBlocks: Bool {
        // zlib adds 128 between blocks and 64 in the last one; the low bits count unused bits.
        unsafe storage.pointee.stream.data_type & 0xBF == 0x80
    }

    /// Compresses all of `bytes` and appends the result to `output`, which grows as needed.
    package mutating func deflateAll(
        _ bytes: Span<UInt8>, _ flush: Flush, into output: inout [UInt8]
    ) {
        var position = 0
        while true {
            // Spare capacity of 4 KiB or more is filled before the array grows.
            let room = min(max(output.capacity - output.count, 4 << 10), Self.stepLimit)
            let step = deflate(bytes.extracting(position...), flush, into: &output, room: room)
            position += step.read
            if step.written < room, position == bytes.count { return }
        }
    }

    /// Decompresses `bytes` and appends at most `room` bytes to `output`.
    /// - Returns: how many bytes were read and written, and why the step ended.
    mutating func inflate(
        _ bytes: Span<UInt8>, into output: inout [UInt8], room: Int
    ) -> (read: Int, written: Int, outcome: Outcome) {
        var result = (read: 0, written: 0, code: Z_OK)
        let storage = unsafe storage
        unsafe withRoom(room, in: &output) { room in
            unsafe bytes.withUnsafeBufferPointer { bytes in
                result = unsafe Self.run(storage, bytes, room) { stream in
                    unsafe CZlib.inflate(stream, Z_NO_FLUSH)
                }
            }
            return result.written
        }
        return (result.read, result.written, outcome(result.code))
    }

    /// Compresses `bytes` and appends at most `room` bytes to `output`.
    /// - Returns: how many bytes were read and written. If output space is left and all of `bytes`
    ///   were read, the flush is complete, too.
    mutating func deflate(
        _ bytes: Span<UInt8>, _ flush: Flush, into output: inout [UInt8], room: Int
    ) -> (read: Int, written: Int) {
        var result = (read: 0, written: 0, code: Z_OK)
        let storage = unsafe storage
        // Of input that needs several steps, only the last step flushes.
        let flush = bytes.count > Self.stepLimit ? Flush.none : flush
        unsafe withRoom(room, in: &output) { room in
            unsafe bytes.withUnsafeBufferPointer { bytes in
                result = unsafe Self.run(storage, bytes, room) { stream in
                    unsafe CZlib.deflate(stream, flush.code)
                }
            }
            return result.written
        }
        return (result.read, result.written)
    }

    private func outcome(_ code: CInt) -> Outcome {
        switch code {
        case Z_STREAM_END: return .end
        case Z_MEM_ERROR: return .outOfMemory
        // Z_BUF_ERROR: no progress is possible without more input or more output space.
        case Z_OK, Z_BUF_ERROR: return .paused
        default:
            let message = unsafe storage.pointee.stream.msg
            return .invalid(unsafe message.map { unsafe String(cString: $0) } ?? "")
        }
    }
}

// Making, resetting and keeping streams.
extension ZStream {
    private static func makeInflater() throws(CodecError) -> UnsafeMutablePointer<Storage> {
        let storage = unsafe makeStorage(level: 0)
        let code = unsafe inflateInit2_(
            &storage.pointee.stream, -MAX_WBITS, ZLIB_VERSION,
            CInt(MemoryLayout<z_stream>.size))
        return unsafe try checked(storage, code)
    }

    private static func makeDeflater(
        _ level: CInt, windowBits: CInt = MAX_WBITS, strategy: CInt = Z_DEFAULT_STRATEGY
    ) throws(CodecError) -> UnsafeMutablePointer<Storage> {
        let storage = unsafe makeStorage(level: level)
        let code = unsafe deflateInit2_(
            &storage.pointee.stream, level, Z_DEFLATED, -windowBits, 8, strategy, ZLIB_VERSION,
            CInt(MemoryLayout<z_stream>.size))
        return unsafe try checked(storage, code)
    }

    private static func makeStorage(level: CInt) -> UnsafeMutablePointer<Storage> {
        let storage = UnsafeMutablePointer<Storage>.allocate(capacity: 1)
        unsafe storage.initialize(to: Storage(level: level))
        return unsafe storage
    }

    private static func checked(
        _ storage: UnsafeMutablePointer<Storage>, _ code: CInt
    ) throws(CodecError) -> UnsafeMutablePointer<Storage> {
        guard code == Z_OK else {
            unsafe storage.deallocate()
            throw CodecError(.outOfMemory)
        }
        return unsafe storage
    }

    private static func reset(_ storage: UnsafeMutablePointer<Storage>) {
        if unsafe storage.pointee.level > 0 {
            _ = unsafe deflateReset(&storage.pointee.stream)
        } else {
            _ = unsafe inflateReset2(&storage.pointee.stream, -MAX_WBITS)
        }
    }

    private static func park(
        _ storage: UnsafeMutablePointer<Storage>, in pool: ContentCodingPool
    ) -> Bool {
        unsafe reset(storage)
        if unsafe storage.pointee.level > 0 { return unsafe pool.deflaters.put(storage) }
        return unsafe pool.inflaters.put(storage)
    }

    /// Ends a stream and frees its memory.
    static func destroy(_ storage: UnsafeMutablePointer<Storage>) {
        if unsafe storage.pointee.level > 0 {
            _ = unsafe deflateEnd(&storage.pointee.stream)
        } else {
            _ = unsafe inflateEnd(&storage.pointee.stream)
        }
        unsafe storage.deallocate()
    }
}

// One step of zlib.
extension ZStream {
    /// The most bytes of one step: zlib counts them in 32 bits.
    static let stepLimit = 1 << 30

    private static func run(
        _ storage: UnsafeMutablePointer<Storage>, _ bytes: UnsafeBufferPointer<UInt8>,
        _ room: UnsafeMutableBufferPointer<UInt8>,
        _ body: (UnsafeMutablePointer<z_stream>) -> CInt
    ) -> (read: Int, written: Int, code: CInt) {
        let input = min(bytes.count, stepLimit)
        let space = min(room.count, stepLimit)
        // zlib reads through this pointer and never writes.
        unsafe storage.pointee.stream.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
        unsafe storage.pointee.stream.avail_in = UInt32(input)
        unsafe storage.pointee.stream.next_out = room.baseAddress
        unsafe storage.pointee.stream.avail_out = UInt32(space)
        let code = unsafe body(&storage.pointee.stream)
        let read = input - Int(unsafe storage.pointee.stream.avail_in)
        let written = space - Int(unsafe storage.pointee.stream.avail_out)
        // The pointers are invalid once the caller's bytes are gone.
        unsafe storage.pointee.stream.next_in = nil
        unsafe storage.pointee.stream.next_out = nil
        return (read, written, code)
    }

    /// Passes the memory after the end of `output` to `body`, which returns how much it wrote.
    private func withRoom(
        _ room: Int, in output: inout [UInt8],
        _ body: (UnsafeMutableBufferPointer<UInt8>) -> Int
    ) {
        // zlib requires a valid pointer even if it must not write there.
        output.append(addingCapacity: max(room, 1)) { span in
            unsafe span.withUnsafeMutableBufferPointer { buffer, count in
                count = unsafe body(
                    UnsafeMutableBufferPointer(start: buffer.baseAddress, count: room))
            }
        }
    }
}

extension ZStream.Flush {
    fileprivate var code: CInt {
        switch self {
        case .none: Z_NO_FLUSH
        case .sync: Z_SYNC_FLUSH
        case .finish: Z_FINISH
        }
    }
}

/// The check values of gzip (CRC-32) and zlib (Adler-32).
struct ZChecksum: Sendable {
    private(set) var value: UInt32
    private let isAdler: Bool

    static var crc: ZChecksum { ZChecksum(value: 0, isAdler: false) }
    static var adler: ZChecksum { ZChecksum(value: 1, isAdler: true) }

    private init(value: UInt32, isAdler: Bool) {
        (self.value, self.isAdler) = (value, isAdler)
    }

    /// Continues a CRC-32 from its value so far.
    init(crc: UInt32) {
        self.init(value: crc, isAdler: false)
    }

    /// Adds a byte to the checked data.
    mutating func update(_ byte: UInt8) {
        unsafe withUnsafePointer(to: byte) { unsafe update(Span(_unsafeStart: $0, count: 1)) }
    }

    /// Adds bytes to the checked data.
    mutating func update(_ bytes: Span<UInt8>) {
        let (value, isAdler) = (UInt(value), isAdler)
        self.value = unsafe bytes.withUnsafeBufferPointer { bytes in
            // For a null pointer zlib returns the initial value.
            guard let start = bytes.baseAddress else { return UInt32(truncatingIfNeeded: value) }
            return UInt32(
                truncatingIfNeeded: isAdler
                    ? unsafe adler32_z(value, start, bytes.count)
                    : unsafe Self.crc(of: start, bytes.count, after: value))
        }
    }

    /// Folds as many bytes as possible into 16 bytes with the same CRC, which is four times as fast
    /// as zlib's tables. The tables process those 16 bytes and the rest.
    private static func crc(
        of start: UnsafePointer<UInt8>, _ count: Int, after value: UInt
    ) -> UInt {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { folded in
            guard let room = folded.baseAddress else { return value }
            let done = unsafe http_crc32_fold(
                UInt32(truncatingIfNeeded: value), start, count, room)
            let sum = unsafe done > 0 ? crc32_z(0xFFFF_FFFF, room, 16) : value
            return unsafe crc32_z(sum, start + done, count - done)
        }
    }
}
