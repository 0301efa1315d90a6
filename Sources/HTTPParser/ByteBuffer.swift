internal import CHTTPParserShims

/// A growing buffer of bytes that is written at its end and consumed at its front.
///
/// The buffer owns one block of memory, which it never shares. A write therefore checks only
/// whether enough free space is left.
@safe
public struct ByteBuffer: ~Copyable, @unchecked Sendable {
    @usableFromInline
    var base: UnsafeMutableRawPointer
    @usableFromInline
    var start = 0
    @usableFromInline
    var end = 0
    @usableFromInline
    var capacity: Int

    /// Creates an empty buffer with memory for `capacity` bytes.
    public init(capacity: Int = 0) {
        self.capacity = capacity
        unsafe base = capacity > 0 ? http_parser_allocate(UInt64(capacity)) : Self.nowhere
    }

    deinit {
        if capacity > 0 { unsafe http_parser_release(base, UInt64(capacity)) }
    }

    /// The address of a buffer without memory; it is never read from or written to.
    private static var nowhere: UnsafeMutableRawPointer {
        unsafe UnsafeMutableRawPointer(bitPattern: 8).unsafelyUnwrapped
    }

    /// The number of bytes that are not consumed yet.
    @inlinable
    public var count: Int { end - start }

    /// Whether all bytes are consumed.
    @inlinable
    public var isEmpty: Bool { end == start }

    /// The bytes that are not consumed yet.
    @inlinable
    public var bytes: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            let span = unsafe Span<UInt8>(
                _unsafeStart: (base + start).assumingMemoryBound(to: UInt8.self), count: count)
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// Whether the buffer's memory has grown beyond 256 KiB, far more than usual.
    package var isOversized: Bool { capacity > 256 << 10 }

    @inlinable
    package var unsafeBytes: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: base + start, count: count)
    }

    /// Drops the first bytes.
    /// - Parameter count: the number of bytes, 0...`self.count`; any other number traps.
    @inlinable
    public mutating func consume(_ count: Int) {
        precondition(count >= 0 && count <= self.count, "more consumed than there is")
        start += count
        if start == end {
            start = 0
            end = 0
        }
    }

    /// Drops all bytes and keeps the memory.
    @inlinable
    public mutating func removeAll() {
        start = 0
        end = 0
    }

    /// Frees the memory beyond `capacity` bytes. Does nothing if the buffer is not empty.
    public mutating func shrink(to capacity: Int) {
        guard isEmpty, self.capacity > capacity else { return }
        self = ByteBuffer(capacity: capacity)
    }

    /// Reserves memory for `count` more bytes; a negative number counts as 0.
    @inlinable
    public mutating func reserve(_ count: Int) {
        if capacity - end < count { makeRoom(count) }
    }

    @usableFromInline
    mutating func makeRoom(_ room: Int) {
        let used = count
        if start > 0, capacity - used >= room, start >= used {
            unsafe base.copyMemory(from: base + start, byteCount: used)
        } else {
            let grown = max(capacity * 2, used + room, 64)
            let fresh = unsafe http_parser_allocate(UInt64(grown))
            unsafe fresh.copyMemory(from: base + start, byteCount: used)
            if capacity > 0 { unsafe http_parser_release(base, UInt64(capacity)) }
            unsafe base = fresh
            capacity = grown
        }
        start = 0
        end = used
    }

    /// Lends at least `count` free bytes at the end to `body`, which returns how many it has
    /// written.
    @inlinable
    package mutating func withRoom<Failure: Error>(
        _ count: Int, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        reserve(count)
        let room = unsafe UnsafeMutableRawBufferPointer(start: base + end, count: capacity - end)
        end += try unsafe body(room)
    }

    /// Adds one byte.
    @inlinable
    public mutating func append(_ byte: UInt8) {
        reserve(1)
        unsafe base.storeBytes(of: byte, toByteOffset: end, as: UInt8.self)
        end += 1
    }

    @inlinable
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        reserve(bytes.count)
        unsafe (base + end).copyMemory(from: source, byteCount: bytes.count)
        end += bytes.count
    }

    /// Adds bytes.
    @inlinable
    public mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBytes { unsafe append($0) }
    }

    /// Adds bytes.
    @inlinable
    public mutating func append(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { unsafe append($0) }
    }

    /// Adds the UTF-8 bytes of a text.
    @inlinable
    public mutating func append(_ text: String) {
        let isDone: Void? = unsafe text.utf8.withContiguousStorageIfAvailable {
            unsafe append(UnsafeRawBufferPointer($0))
        }
        guard isDone == nil else { return }
        // A string bridged from Foundation on Apple platforms.
        var copy = text
        copy.withUTF8 { unsafe append(UnsafeRawBufferPointer($0)) }
    }

    /// Adds the bytes of a literal.
    @inlinable
    public mutating func append(literal text: StaticString) {
        unsafe append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Adds a number in decimal digits.
    public mutating func append(decimal number: Int64) {
        var digits = number.magnitude
        var length = 1
        var bound: UInt64 = 10
        while length < 19, digits >= bound {
            length += 1
            bound &*= 10
        }
        if length == 19, digits >= bound { length = 20 }
        if number < 0 { append(UInt8(ascii: "-")) }
        reserve(length)
        var position = end + length
        end = position
        for _ in 0..<length {
            position -= 1
            let digit = UInt8(truncatingIfNeeded: digits % 10)
            unsafe base.storeBytes(of: 0x30 + digit, toByteOffset: position, as: UInt8.self)
            digits /= 10
        }
    }

    /// Adds a number in lower-case hexadecimal digits, without leading zeros.
    public mutating func append(hexadecimal number: UInt64) {
        var shift = number == 0 ? 0 : (63 - number.leadingZeroBitCount) & ~3
        while shift >= 0 {
            let digit = UInt8(truncatingIfNeeded: number >> UInt64(shift)) & 15
            append(digit < 10 ? 0x30 + digit : 0x57 + digit)
            shift -= 4
        }
    }
}
