/// Looks for two bytes that stand at a fixed distance from each other, 64 places at a time.
///
/// It finds delimiters in content. A search for a single byte would stop too often, in text as in
/// random bytes, and each stop costs a mispredicted branch.
@safe
package struct BytePairSearch: Sendable {
    /// The byte looked for.
    package let first: UInt8
    /// The byte at the offset `distance` after it.
    package let second: UInt8
    /// 1 to 16.
    package let distance: Int

    package init(_ first: UInt8, _ second: UInt8, distance: Int) {
        precondition((1...16).contains(distance), "distance out of range")
        self.first = first
        self.second = second
        self.distance = distance
    }

    /// The first place of `start..<bytes.count` where the pair stands, or where its first byte
    /// stands so near to the end that the second may yet come; else `bytes.count`.
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
        // One test covers all 64 places, of which most have no pair.
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
