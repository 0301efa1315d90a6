import HTTPCodecs

/// Content of many kinds, the same in each run.
enum GzipSamples {
    /// Numbers that look random (SplitMix64).
    struct Numbers: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    private static let words = [
        "field", "content", "coding", "target", "method", "status", "GET", "\r\n", " ", "ü", "0",
        "gzip", "{\"name\":", "\"value\"}", "<p>", "</p>", "the", "of", "and", "200 OK",
    ]

    static func random(_ count: Int, seed: UInt64) -> [UInt8] {
        var numbers = Numbers(state: seed)
        let words = (0..<(count + 7) / 8).map { _ in numbers.next() }
        return unsafe words.withUnsafeBytes { unsafe Array($0.prefix(count)) }
    }

    static func text(_ count: Int, seed: UInt64) -> [UInt8] {
        var numbers = Numbers(state: seed)
        let words = words.map { Array($0.utf8) + [0x20] }
        var text: [UInt8] = []
        while text.count < count {
            text += words[Int(numbers.next() % UInt64(words.count))]
        }
        return Array(text.prefix(count))
    }

    static func runs(_ count: Int, seed: UInt64) -> [UInt8] {
        var numbers = Numbers(state: seed)
        var bytes: [UInt8] = []
        while bytes.count < count {
            let length = Int.random(in: 1...40_000, using: &numbers)
            let byte = UInt8.random(in: 0...255, using: &numbers)
            bytes.append(contentsOf: repeatElement(byte, count: length))
        }
        return Array(bytes.prefix(count))
    }

    /// Text, random bytes and runs in turn.
    static func mixed(_ count: Int, seed: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        var seed = seed
        while bytes.count < count {
            bytes += text(5_000, seed: seed) + random(3_000, seed: seed) + runs(9_000, seed: seed)
            seed += 1
        }
        return Array(bytes.prefix(count))
    }

    /// 200 samples: every kind in every size, and a few of 2 MiB.
    static var all: [[UInt8]] {
        get throws { try made.get() }
    }

    private static let made = Result { try (0..<200).map(sample) }

    private static func sample(_ number: Int) throws -> [UInt8] {
        let sizes = [
            0, 1, 2, 3, 100, 257, 258, 259, 1_000, 4_096, 20_480, 32_767, 32_768, 32_769, 65_535,
            65_536, 65_537, 100_000, 262_144, 300_001,
        ]
        let (kind, place) = number.quotientAndRemainder(dividingBy: sizes.count)
        let count = number % 40 == 39 ? 2 << 20 : sizes[place]
        let seed = UInt64(number)
        switch kind % 5 {
        case 0: return text(count, seed: seed)
        case 1: return random(count, seed: seed)
        case 2: return runs(count, seed: seed)
        case 3: return mixed(count, seed: seed)
        default: return try text(count, seed: seed).gzipped(level: 1 + number % 9)
        }
    }
}
