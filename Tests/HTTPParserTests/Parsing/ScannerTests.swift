import HTTPParser
import Testing

@Suite("Bits of a vector, without a special instruction")
struct ScannerTests {
    @Test("All 65,536 masks are converted to the right bits")
    func masks() {
        var wrong: [UInt32] = []
        for bits in 0..<UInt32(65_536) {
            var mask = SIMDMask<SIMD16<Int8>>(repeating: false)
            for lane in 0..<16 { mask[lane] = bits >> UInt32(lane) & 1 == 1 }
            if Scanner.portableBits(mask) != bits { wrong.append(bits) }
        }
        #expect(wrong.isEmpty)
    }
}
