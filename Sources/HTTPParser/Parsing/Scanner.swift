#if arch(x86_64)
    internal import CHTTPParserShims
#endif

/// Classification of many bytes at once. This file and `HeadParser` are the hot path of the
/// module: denser than the rest, and checked byte for byte against the plain reference by tests
/// and by the fuzzer.
///
/// Loads are unaligned and always inside the input: the last window overlaps the one before it
/// instead of asking the caller for padding.
enum Scanner {
    typealias Vector = SIMD16<UInt8>

    @inline(__always)
    static func load16(_ base: UnsafeRawPointer, _ offset: Int) -> Vector {
        unsafe base.loadUnaligned(fromByteOffset: offset, as: Vector.self)
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
        let lanes = unsafe unsafeBitCast(mask, to: SIMD16<Int8>.self)
        #if arch(x86_64)
            return http_parser_movemask(lanes)
        #else
            // Each lane keeps the bit of its place in a byte; three pairwise sums, each of
            // which is one instruction on arm64, gather eight lanes.
            let weights = SIMD16<UInt8>(1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128)
            let placed = unsafe unsafeBitCast(lanes, to: SIMD16<UInt8>.self) & weights
            let pairs = placed.evenHalf &+ placed.oddHalf
            let fours = pairs.evenHalf &+ pairs.oddHalf
            let eights = fours.evenHalf &+ fours.oddHalf
            return UInt32(eights[0]) | UInt32(eights[1]) << 8
        #endif
    }

    /// The bytes that end or may spoil a line: CTL, DEL and obs-text. Below SP as a signed byte
    /// covers the controls and everything from 0x80 in one compare.
    @inline(__always)
    static func lineStops(_ vector: Vector) -> UInt32 {
        let signed = unsafe unsafeBitCast(vector, to: SIMD16<Int8>.self)
        let low = signed .< SIMD16<Int8>(repeating: 0x20)
        let delete = signed .== SIMD16<Int8>(repeating: 0x7F)
        return bits(low .| delete)
    }

    /// The bytes that no request target has (`ByteClass.isTarget`), SP among them.
    @inline(__always)
    static func targetStops(_ vector: Vector) -> UInt32 {
        let signed = unsafe unsafeBitCast(vector, to: SIMD16<Int8>.self)
        let low = signed .< SIMD16<Int8>(repeating: 0x21)
        let delete = signed .== SIMD16<Int8>(repeating: 0x7F)
        let hash = signed .== SIMD16<Int8>(repeating: 0x23)
        return bits(low .| delete .| hash)
    }

    /// The bytes that are not letters, digits or `-`, of which nearly all field names are made.
    /// Setting bit 5 folds the cases; it also moves CR onto `-`, which cannot matter because the
    /// dash is compared unfolded.
    @inline(__always)
    static func nameStops(_ vector: Vector) -> UInt32 {
        let folded = vector | Vector(repeating: 0x20)
        let letter = (folded &- Vector(repeating: 0x61)) .< Vector(repeating: 26)
        let digit = (vector &- Vector(repeating: 0x30)) .< Vector(repeating: 10)
        let dash = vector .== Vector(repeating: 0x2D)
        return ~bits(letter .| digit .| dash) & 0xFFFF
    }

    /// A place to load `width` bytes from so that the load stays below `end`, and the number of
    /// bits by which what it finds has to be shifted to begin at `offset`.
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
        let first = unsafe UInt64(lineStops(load16(base, place.offset)))
        let second = unsafe UInt64(lineStops(load16(base, place.offset &+ 16)))
        let third = unsafe UInt64(lineStops(load16(base, place.offset &+ 32)))
        let fourth = unsafe UInt64(lineStops(load16(base, place.offset &+ 48)))
        return ((first | second << 16) | (third << 32 | fourth << 48)) &>> place.shift
    }

    /// The bytes of the 16 from `offset` on that names of letters, digits and `-` do not have;
    /// bits for what is beyond `end` are clear.
    @inline(__always)
    static func nameStops16(
        _ base: UnsafeRawPointer, _ offset: Int, end: Int, _ mayPassEnd: Bool = true
    ) -> UInt32 {
        guard mayPassEnd else { return unsafe nameStops(load16(base, offset)) }
        let place = placed(offset, width: 16, end: end)
        return unsafe nameStops(load16(base, place.offset))
            &>> UInt32(truncatingIfNeeded: place.shift)
    }

    /// Whether CRLF stands at `offset`.
    @inline(__always)
    static func isLineEnd(_ base: UnsafeRawPointer, _ offset: Int) -> Bool {
        unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt16.self)
            == UInt16(littleEndian: 0x0A0D)
    }

    /// The bytes of the 64 from `offset` on that no target has; bits beyond `end` are clear.
    @inline(__always)
    static func targetStops64(_ base: UnsafeRawPointer, _ offset: Int, end: Int) -> UInt64 {
        let place = placed(offset, width: 64, end: end)
        let first = unsafe UInt64(targetStops(load16(base, place.offset)))
        let second = unsafe UInt64(targetStops(load16(base, place.offset &+ 16)))
        let third = unsafe UInt64(targetStops(load16(base, place.offset &+ 32)))
        let fourth = unsafe UInt64(targetStops(load16(base, place.offset &+ 48)))
        return ((first | second << 16) | (third << 32 | fourth << 48)) &>> place.shift
    }

    /// The bytes of the 16 from `offset` on that are not letters, digits, `-` or `.`, of which
    /// nearly all hosts are made.
    @inline(__always)
    static func hostStops16(_ base: UnsafeRawPointer, _ offset: Int, end: Int) -> UInt32 {
        let place = placed(offset, width: 16, end: end)
        let vector = unsafe load16(base, place.offset)
        let stops = nameStops(vector) & ~bits(vector .== Vector(repeating: 0x2E))
        return stops &>> UInt32(truncatingIfNeeded: place.shift)
    }

    /// Whether there is a byte among the 16 from `offset` on, all readable, that could spoil a
    /// field value.
    @inline(__always)
    static func hasLineStop16(_ base: UnsafeRawPointer, _ offset: Int) -> Bool {
        unsafe lineStops(load16(base, offset)) != 0
    }
}
