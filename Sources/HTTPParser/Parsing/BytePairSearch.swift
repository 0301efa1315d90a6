/// Searches for two bytes at a fixed distance from each other, 64 positions at a time.
///
/// The search finds delimiters in content. A search for a single byte would stop too often, in text
/// and in random bytes, and each stop costs a mispredicted branch.
@safe
package struct BytePairSearch: Sendable {
    /// The first byte of the pair.
    package let first: UInt8
    /// The byte `distance` bytes after the first.
    package let second: UInt8
    /// The distance of the two bytes, 1 to 16.
    package let distance: Int

    package init(_ first: UInt8, _ second: UInt8, distance: Int) {
        precondition((1...16).contains(distance), "distance out of range")
        self.first = first
        self.second = second
        self.distance = distance
    }

    /// The first position in `start..<bytes.count` of the pair, or of its first byte if the second
    /// may follow after the end of `bytes`; otherwise `bytes.count`.
    package func firstPlace(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        guard let base = bytes.baseAddress else { return 0 }
        let end = bytes.count
        var place = start
        while place &+ 64 &+ distance <= end {
            let found = unsafe pairs64(base, place)
            if found != 0 { return place &+ found.trailingZeroBitCount }
            place &+= 64
        }
        while place < end {
            if unsafe Scanner.byte(base, place) == first,
                unsafe place &+ distance >= end
                    || Scanner.byte(base, place &+ distance) == second
            {
                return place
            }
            place &+= 1
        }
        return end
    }

    @inline(__always)
    private func pairs64(_ base: UnsafeRawPointer, _ place: Int) -> UInt64 {
        let zeroth = unsafe pairs16(base, place)
        let sixteenth = unsafe pairs16(base, place &+ 16)
        let middle = unsafe pairs16(base, place &+ 32)
        let last = unsafe pairs16(base, place &+ 48)
        // One test covers all 64 positions, because most windows have no pair.
        guard Scanner.bits(zeroth .| sixteenth .| middle .| last) != 0 else { return 0 }
        let low = UInt64(Scanner.bits(zeroth) | Scanner.bits(sixteenth) << 16)
        let high = UInt64(Scanner.bits(middle) | Scanner.bits(last) << 16)
        return low | high << 32
    }

    @inline(__always)
    private func pairs16(_ base: UnsafeRawPointer, _ place: Int) -> SIMDMask<SIMD16<Int8>> {
        let left = unsafe Scanner.vector(base, place)
        let right = unsafe Scanner.vector(base, place &+ distance)
        return (left .== Scanner.Vector(repeating: first))
            .& (right .== Scanner.Vector(repeating: second))
    }
}
