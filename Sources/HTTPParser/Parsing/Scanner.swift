// HTTPParserPortable selects the portable code on x86-64, so that tests can run it there.
#if arch(x86_64) && !HTTPParserPortable
    internal import CHTTPParserShims
#endif

/// Classifies many bytes in one step. This file and `HeadParser` are the hot path of the module:
/// denser than the rest, and checked byte for byte against the reference path by tests and by the
/// fuzzer.
///
/// Loads are unaligned and always inside the input: callers need no padding, because the last
/// window overlaps the one before it.
package enum Scanner {
    typealias Vector = SIMD16<UInt8>

    @inline(__always)
    static func vector(_ base: UnsafeRawPointer, _ offset: Int) -> Vector {
        unsafe base.loadUnaligned(fromByteOffset: offset, as: Vector.self)
    }

    @inline(__always)
    static func load16(_ base: UnsafeRawPointer, _ offset: Int) -> UInt16 {
        unsafe UInt16(
            littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    @inline(__always)
    static func load64(_ base: UnsafeRawPointer, _ offset: Int) -> UInt64 {
        unsafe UInt64(
            littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    @inline(__always)
    static func byte(_ base: UnsafeRawPointer, _ offset: Int) -> UInt8 {
        unsafe base.load(fromByteOffset: offset, as: UInt8.self)
    }

    /// Bit `i` is set if lane `i` of the mask is set.
    @inline(__always)
    static func bits(_ mask: SIMDMask<SIMD16<Int8>>) -> UInt32 {
        #if arch(x86_64) && !HTTPParserPortable
            return http_parser_movemask(unsafe unsafeBitCast(mask, to: SIMD16<Int8>.self))
        #else
            return portableBits(mask)
        #endif
    }

    /// `bits` for processors without a movemask instruction.
    @inline(__always)
    package static func portableBits(_ mask: SIMDMask<SIMD16<Int8>>) -> UInt32 {
        // Each lane keeps the bit of its position in a byte. Three pairwise sums, each one
        // instruction on arm64, gather eight lanes into one byte.
        let weights = SIMD16<UInt8>(1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128)
        let placed = unsafe unsafeBitCast(mask, to: SIMD16<UInt8>.self) & weights
        let pairs = placed.evenHalf &+ placed.oddHalf
        let fours = pairs.evenHalf &+ pairs.oddHalf
        let eights = fours.evenHalf &+ fours.oddHalf
        return UInt32(eights[0]) | UInt32(eights[1]) << 8
    }

    /// The bytes that cannot end or invalidate a line: 0x20...0x7E. Incremented, only these are
    /// greater than 0x20 as signed bytes; CTL, DEL and obs-text are not.
    @inline(__always)
    private static func plain(_ vector: Vector) -> UInt32 {
        let next = unsafe unsafeBitCast(vector &+ Vector(repeating: 1), to: SIMD16<Int8>.self)
        return bits(next .> SIMD16<Int8>(repeating: 0x20))
    }

    /// The bytes other than letters, digits and `-`, which make up nearly all field names.
    ///
    /// A range is moved to the top of the signed bytes, where one compare finds it. Setting bit 5
    /// folds the cases; it also maps CR to `-`, which is harmless because the dash is compared
    /// unfolded.
    @inline(__always)
    static func nameStops(_ vector: Vector) -> UInt32 {
        stops(vector, vector .== Vector(repeating: 0x2D))
    }

    /// The bytes other than letters, digits and those in `mark`.
    @inline(__always)
    private static func stops(_ vector: Vector, _ mark: SIMDMask<SIMD16<Int8>>) -> UInt32 {
        let folded = vector | Vector(repeating: 0x20)
        let letter = greater(folded &+ Vector(repeating: 0x7F - 0x7A), than: 0x7F - 26)
        let digit = greater(vector &+ Vector(repeating: 0x7F - 0x39), than: 0x7F - 10)
        return ~bits(letter .| digit .| mark) & 0xFFFF
    }

    @inline(__always)
    private static func greater(_ vector: Vector, than bound: Int8) -> SIMDMask<SIMD16<Int8>> {
        unsafe unsafeBitCast(vector, to: SIMD16<Int8>.self) .> SIMD16<Int8>(repeating: bound)
    }

    /// An offset at which `width` bytes can be loaded before `end`, and how far to shift the
    /// resulting bits right so that the lowest bit stands for `offset`.
    @inline(__always)
    static func placed(
        _ offset: Int, width: Int, end: Int
    ) -> (offset: Int, shift: UInt64) {
        let start = min(offset, end &- width)
        return (start, UInt64(truncatingIfNeeded: offset &- start))
    }

    /// The line stops of the 64 bytes from `offset` on. Bits for bytes beyond `end` are clear.
    /// - Parameter end: the end of readable memory, at least 64.
    @inline(__always)
    static func lineStops64(_ base: UnsafeRawPointer, _ offset: Int, end: Int) -> UInt64 {
        let place = placed(offset, width: 64, end: end)
        let first = unsafe UInt64(plain(vector(base, place.offset)))
        let second = unsafe UInt64(plain(vector(base, place.offset &+ 16)))
        let third = unsafe UInt64(plain(vector(base, place.offset &+ 32)))
        let fourth = unsafe UInt64(plain(vector(base, place.offset &+ 48)))
        return ~((first | second << 16) | (third << 32 | fourth << 48)) &>> place.shift
    }

    /// Finds bytes other than letters, digits and `-` in the 16 bytes from `offset` on. Bits for
    /// bytes beyond `end` are clear.
    @inline(__always)
    static func nameStops16(_ base: UnsafeRawPointer, _ offset: Int, end: Int) -> UInt32 {
        let place = placed(offset, width: 16, end: end)
        return unsafe nameStops(vector(base, place.offset))
            &>> UInt32(truncatingIfNeeded: place.shift)
    }

    /// Whether the two bytes at `offset` are CRLF.
    @inline(__always)
    static func isLineEnd(_ base: UnsafeRawPointer, _ offset: Int) -> Bool {
        unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt16.self)
            == UInt16(littleEndian: 0x0A0D)
    }

    /// Finds SP and `#` in the 32 bytes from `offset` on: bytes that are invalid in a request
    /// target but do not stop a line. Bits for bytes beyond `end` are clear.
    @inline(__always)
    static func spaceOrHash32(_ base: UnsafeRawPointer, _ offset: Int, end: Int) -> UInt32 {
        let place = placed(offset, width: 32, end: end)
        let first = unsafe spaceOrHash(vector(base, place.offset))
        let second = unsafe spaceOrHash(vector(base, place.offset &+ 16))
        return (first | second << 16) &>> UInt32(truncatingIfNeeded: place.shift)
    }

    @inline(__always)
    private static func spaceOrHash(_ vector: Vector) -> UInt32 {
        bits((vector .== Vector(repeating: 0x20)) .| (vector .== Vector(repeating: 0x23)))
    }

    /// Finds bytes other than letters, digits, `-` and `.`, which make up nearly all hosts, in the
    /// 16 bytes from `offset` on. Bits for bytes beyond `end` are clear.
    @inline(__always)
    static func hostStops16(_ base: UnsafeRawPointer, _ offset: Int, end: Int) -> UInt32 {
        let place = placed(offset, width: 16, end: end)
        let vector = unsafe Self.vector(base, place.offset)
        let mark = greater(vector &+ Vector(repeating: 0x7F - 0x2E), than: 0x7F - 2)
        return stops(vector, mark) &>> UInt32(truncatingIfNeeded: place.shift)
    }

    /// The line stops of the 16 bytes from `offset` on, which must all be readable.
    @inline(__always)
    static func lineStops16(_ base: UnsafeRawPointer, _ offset: Int) -> UInt32 {
        unsafe ~plain(vector(base, offset)) & 0xFFFF
    }
}
