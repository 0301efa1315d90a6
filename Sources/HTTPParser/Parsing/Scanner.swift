// HTTPParserPortable selects the portable code on x86-64, so that tests can run it there.
#if arch(x86_64) && !HTTPParserPortable
    internal import CHTTPParserShims
#endif

/// Classification of many bytes at once. This file and `HeadParser` are the hot path of the
/// module: denser than the rest, and checked byte for byte against the plain reference by tests
/// and by the fuzzer.
///
/// Loads are unaligned and always inside the input: the last window overlaps the one before it
/// instead of asking the caller for padding.
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

    /// Bit `i` is set where lane `i` of the mask is.
    @inline(__always)
    static func bits(_ mask: SIMDMask<SIMD16<Int8>>) -> UInt32 {
        #if arch(x86_64) && !HTTPParserPortable
            return http_parser_movemask(unsafe unsafeBitCast(mask, to: SIMD16<Int8>.self))
        #else
            return portableBits(mask)
        #endif
    }

    /// The same as `bits`, on processors without an instruction that does it.
    @inline(__always)
    package static func portableBits(_ mask: SIMDMask<SIMD16<Int8>>) -> UInt32 {
        // Each lane keeps the bit of its place in a byte; three pairwise sums, each of which is one
        // instruction on arm64, gather eight lanes.
        let weights = SIMD16<UInt8>(1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128)
        let placed = unsafe unsafeBitCast(mask, to: SIMD16<UInt8>.self) & weights
        let pairs = placed.evenHalf &+ placed.oddHalf
        let fours = pairs.evenHalf &+ pairs.oddHalf
        let eights = fours.evenHalf &+ fours.oddHalf
        return UInt32(eights[0]) | UInt32(eights[1]) << 8
    }

    /// The bytes that cannot end or spoil a line: those of 0x20...0x7E. One more than these is
    /// greater than 0x20 as a signed byte, and for CTL, DEL and obs-text it is not.
    @inline(__always)
    private static func plain(_ vector: Vector) -> UInt32 {
        let next = unsafe unsafeBitCast(vector &+ Vector(repeating: 1), to: SIMD16<Int8>.self)
        return bits(next .> SIMD16<Int8>(repeating: 0x20))
    }

    /// The bytes that are not letters, digits or `-`, of which nearly all field names are made.
    ///
    /// A range is moved to the top of the signed bytes, where one compare finds it. Setting bit 5
    /// folds the cases; it also moves CR onto `-`, which cannot matter because the dash is
    /// compared unfolded.
    @inline(__always)
    static func nameStops(_ vector: Vector) -> UInt32 {
        stops(vector, vector .== Vector(repeating: 0x2D))
    }

    /// The bytes that are not letters, digits or what `mark` has.
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

    /// An offset at which `width` bytes can be loaded below `end`, and how far to shift the resulting
    /// bits right so that the lowest one stands for `offset`.
    @inline(__always)
    static func placed(
        _ offset: Int, width: Int, end: Int
    ) -> (offset: Int, shift: UInt64) {
        let start = min(offset, end &- width)
        return (start, UInt64(truncatingIfNeeded: offset &- start))
    }

    /// The line stops of the 64 bytes from `offset` on; bits for what is beyond `end` are clear.
    /// - Parameter end: where readable memory ends, at least 64.
    @inline(__always)
    static func lineStops64(_ base: UnsafeRawPointer, _ offset: Int, end: Int) -> UInt64 {
        let place = placed(offset, width: 64, end: end)
        let first = unsafe UInt64(plain(vector(base, place.offset)))
        let second = unsafe UInt64(plain(vector(base, place.offset &+ 16)))
        let third = unsafe UInt64(plain(vector(base, place.offset &+ 32)))
        let fourth = unsafe UInt64(plain(vector(base, place.offset &+ 48)))
        return ~((first | second << 16) | (third << 32 | fourth << 48)) &>> place.shift
    }

    /// The bytes of the 16 from `offset` on that names of letters, digits and `-` do not have;
    /// bits for what is beyond `end` are clear.
    @inline(__always)
    static func nameStops16(_ base: UnsafeRawPointer, _ offset: Int, end: Int) -> UInt32 {
        let place = placed(offset, width: 16, end: end)
        return unsafe nameStops(vector(base, place.offset))
            &>> UInt32(truncatingIfNeeded: place.shift)
    }

    /// Whether CRLF stands at `offset`.
    @inline(__always)
    static func isLineEnd(_ base: UnsafeRawPointer, _ offset: Int) -> Bool {
        unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt16.self)
            == UInt16(littleEndian: 0x0A0D)
    }

    /// Finds SP and `#` in the 32 bytes from `offset` on: bytes that no request target has, and that
    /// do not stop a line. Bits for bytes beyond `end` are clear.
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

    /// The bytes of the 16 from `offset` on that are not letters, digits, `-` or `.`, of which
    /// nearly all hosts are made. Bits for what is beyond `end` are clear.
    @inline(__always)
    static func hostStops16(_ base: UnsafeRawPointer, _ offset: Int, end: Int) -> UInt32 {
        let place = placed(offset, width: 16, end: end)
        let vector = unsafe Self.vector(base, place.offset)
        let mark = greater(vector &+ Vector(repeating: 0x7F - 0x2E), than: 0x7F - 2)
        return stops(vector, mark) &>> UInt32(truncatingIfNeeded: place.shift)
    }

    /// The bytes among the 16 from `offset` on, all readable, that could spoil a field value.
    @inline(__always)
    static func lineStops16(_ base: UnsafeRawPointer, _ offset: Int) -> UInt32 {
        unsafe ~plain(vector(base, offset)) & 0xFFFF
    }
}
