/// A plain, slow SHA-256 for tests that check a hash constant. FIPS 180-4.
enum TestSHA256 {
    static func hash(_ message: [UInt8]) -> [UInt8] {
        var state = initial
        let padded = padded(message)
        for start in stride(from: 0, to: padded.count, by: 64) {
            compress(padded[start..<start + 64], into: &state)
        }
        return state.flatMap { bigEndian($0) }
    }

    private static func padded(_ message: [UInt8]) -> [UInt8] {
        var padded = message + [0x80]
        while padded.count % 64 != 56 { padded.append(0) }
        let bitCount = UInt64(message.count) * 8
        return padded + bigEndian(UInt32(bitCount >> 32))
            + bigEndian(UInt32(truncatingIfNeeded: bitCount))
    }

    private static func bigEndian(_ word: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) }
    }

    private static func compress(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
        let schedule = schedule(Array(block))
        var work = state
        for index in 0..<64 {
            let sum1 = rotated(work[4], 6) ^ rotated(work[4], 11) ^ rotated(work[4], 25)
            let choice = (work[4] & work[5]) ^ (~work[4] & work[6])
            let first = work[7] &+ sum1 &+ choice &+ constants[index] &+ schedule[index]
            let sum0 = rotated(work[0], 2) ^ rotated(work[0], 13) ^ rotated(work[0], 22)
            let majority = (work[0] & work[1]) ^ (work[0] & work[2]) ^ (work[1] & work[2])
            work.removeLast()
            work[3] &+= first
            work.insert(first &+ sum0 &+ majority, at: 0)
        }
        for index in 0..<8 { state[index] &+= work[index] }
    }

    private static func schedule(_ block: [UInt8]) -> [UInt32] {
        var words = stride(from: 0, to: 64, by: 4).map { start in
            block[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        for index in 16..<64 {
            let (early, late) = (words[index - 15], words[index - 2])
            let sigma0 = rotated(early, 7) ^ rotated(early, 18) ^ (early >> 3)
            let sigma1 = rotated(late, 17) ^ rotated(late, 19) ^ (late >> 10)
            words.append(words[index - 16] &+ sigma0 &+ words[index - 7] &+ sigma1)
        }
        return words
    }

    private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word >> count | word << (32 - count)
    }

    /// The first 32 bits of the fractions of the square roots of the first eight primes.
    private static let initial = primes.prefix(8).map { fraction(of: Double($0).squareRoot()) }
    /// The same of the cube roots of the first 64 primes.
    private static let constants = primes.map { fraction(of: cubeRoot($0)) }
    private static let primes = (2...311).filter { number in
        !(2..<number).contains { number % $0 == 0 }
    }

    private static func fraction(of number: Double) -> UInt32 {
        UInt32((number - number.rounded(.down)) * 4_294_967_296)
    }

    /// Newton's method, as the standard library has no cube root.
    private static func cubeRoot(_ number: Int) -> Double {
        var root = Double(number)
        for _ in 0..<100 { root -= (root * root * root - Double(number)) / (3 * root * root) }
        return root
    }

    /// RFC 4648, section 4.
    static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let missing = 3 - group.count
            let value = group.reduce(0) { $0 << 8 | Int($1) } << (8 * missing)
            for index in 0..<4 - missing { text.append(alphabet[value >> (18 - 6 * index) & 63]) }
            text += String(repeating: "=", count: missing)
        }
        return text
    }
}
