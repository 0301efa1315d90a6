/// A QR code (ISO/IEC 18004) of bytes, to be read by a phone's camera.
///
/// Only versions 1 to 5 with error correction L, which hold 106 bytes: addresses are shorter, and a
/// larger code hardly fits on a terminal.
struct QRCode: Sendable {
    /// How many modules each side has.
    let size: Int
    /// The modules, row by row; `true` for dark ones.
    private(set) var modules: [Bool]
    /// Whether each module belongs to a pattern and has no data.
    private var isReserved: [Bool]

    /// Codewords for data and for error correction, by version.
    private static let capacities = [(19, 7), (34, 10), (55, 15), (80, 20), (108, 26)]

    /// - Returns: `nil` for a text of more than 106 bytes.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        // The mode and the count take 12 bits, and the end 4.
        guard let index = Self.capacities.firstIndex(where: { bytes.count <= $0.0 - 2 }) else {
            return nil
        }
        let (dataCount, checkCount) = Self.capacities[index]
        size = 21 + 4 * index
        modules = Array(repeating: false, count: size * size)
        isReserved = modules
        drawPatterns(version: index + 1)
        let data = Self.codewords(bytes, count: dataCount)
        place(data + GaloisField.remainder(of: data, degree: checkCount))
        mask()
    }

    subscript(column: Int, row: Int) -> Bool { modules[row * size + column] }

    private mutating func reserve(_ column: Int, _ row: Int, _ isDark: Bool) {
        modules[row * size + column] = isDark
        isReserved[row * size + column] = true
    }

    // MARK: Data (section 7.4)

    /// Byte mode, the count, the bytes, the end, and the padding.
    private static func codewords(_ bytes: [UInt8], count: Int) -> [UInt8] {
        let count8 = UInt8(bytes.count)
        var words: [UInt8] = [0x40 | count8 >> 4]
        var rest = count8 << 4
        for byte in bytes {
            words.append(rest | byte >> 4)
            rest = byte << 4
        }
        words.append(rest)
        var filler: UInt8 = 0xEC
        while words.count < count {
            words.append(filler)
            filler ^= 0xEC ^ 0x11
        }
        return words
    }

    /// Fills two columns at a time from the right, upwards and downwards in turn (section 7.7.3).
    private mutating func place(_ words: [UInt8]) {
        var bit = 0
        var isUpward = true
        var right = size - 1
        while right > 0 {
            // The column of the timing pattern belongs to no pair.
            if right == 6 { right -= 1 }
            for step in 0..<size {
                let row = isUpward ? size - 1 - step : step
                for column in [right, right - 1] where !isReserved[row * size + column] {
                    // The last modules have no data.
                    let isDark = bit < words.count * 8 && words[bit / 8] << (bit % 8) & 0x80 != 0
                    modules[row * size + column] = isDark
                    bit += 1
                }
            }
            isUpward.toggle()
            right -= 2
        }
    }

    // MARK: Patterns (section 6.3)

    private mutating func drawPatterns(version: Int) {
        for (column, row) in [(3, 3), (size - 4, 3), (3, size - 4)] {
            drawSquares(column, row, radius: 4) { $0 != 2 && $0 != 4 }
        }
        if version > 1 { drawSquares(size - 7, size - 7, radius: 2) { $0 != 1 } }
        for place in 8..<(size - 8) {
            reserve(place, 6, place % 2 == 0)
            reserve(6, place, place % 2 == 0)
        }
        drawFormat(mask: 0)
    }

    /// Squares around a middle, as far as they are in the code.
    private mutating func drawSquares(
        _ column: Int, _ row: Int, radius: Int, isDark: (_ distance: Int) -> Bool
    ) {
        for down in -radius...radius {
            for right in -radius...radius {
                guard 0..<size ~= column + right, 0..<size ~= row + down else { continue }
                reserve(column + right, row + down, isDark(max(abs(right), abs(down))))
            }
        }
    }

    /// The level of error correction and the mask, twice (section 7.9).
    private mutating func drawFormat(mask: Int) {
        // Level L is 01; the remainder is that of a BCH code.
        let data = 0b01000 | mask
        var remainder = data
        for _ in 0..<10 { remainder = remainder << 1 ^ (remainder >> 9) * 0x537 }
        let bits = (data << 10 | remainder) ^ 0x5412
        func isDark(_ bit: Int) -> Bool { bits >> bit & 1 != 0 }
        for bit in 0..<15 {
            switch bit {
            case 0..<6: reserve(8, bit, isDark(bit))
            case 6: reserve(8, 7, isDark(bit))
            case 7: reserve(8, 8, isDark(bit))
            case 8: reserve(7, 8, isDark(bit))
            default: reserve(14 - bit, 8, isDark(bit))
            }
            if bit < 8 {
                reserve(size - 1 - bit, 8, isDark(bit))
            } else {
                reserve(8, size - 15 + bit, isDark(bit))
            }
        }
        reserve(8, size - 8, true)
    }

    // MARK: Masks (section 7.8)

    private static func isInverted(_ mask: Int, _ column: Int, _ row: Int) -> Bool {
        let product = column * row
        return switch mask {
        case 0: (column + row) % 2 == 0
        case 1: row % 2 == 0
        case 2: column % 3 == 0
        case 3: (column + row) % 3 == 0
        case 4: (column / 3 + row / 2) % 2 == 0
        case 5: product % 2 + product % 3 == 0
        case 6: (product % 2 + product % 3) % 2 == 0
        default: ((column + row) % 2 + product % 3) % 2 == 0
        }
    }

    /// Applies the mask with the lowest penalty, which leaves the fewest patterns that could
    /// mislead readers.
    private mutating func mask() {
        let candidates = (0..<8).map { mask in
            var candidate = self
            for row in 0..<size {
                for column in 0..<size where !isReserved[row * size + column] {
                    if Self.isInverted(mask, column, row) {
                        candidate.modules[row * size + column].toggle()
                    }
                }
            }
            candidate.drawFormat(mask: mask)
            return candidate
        }
        guard let best = candidates.min(by: { $0.penalty < $1.penalty }) else { return }
        self = best
    }

    private var penalty: Int {
        var penalty = 0
        let lines =
            (0..<size).map { row in (0..<size).map { self[$0, row] } }
            + (0..<size).map { column in (0..<size).map { self[column, $0] } }
        for line in lines { penalty += Self.penalty(line) }
        for row in 1..<size {
            for column in 1..<size {
                let isBlock =
                    self[column, row] == self[column - 1, row]
                    && self[column, row] == self[column, row - 1]
                    && self[column, row] == self[column - 1, row - 1]
                if isBlock { penalty += 3 }
            }
        }
        let dark = modules.count(where: { $0 })
        return penalty + abs(dark * 20 - modules.count * 10) / modules.count * 10
    }

    /// The penalty of a row or column: for runs of five and more, and for the middle of a finder
    /// pattern next to four light modules.
    private static func penalty(_ line: [Bool]) -> Int {
        var penalty = 0
        var run = 0
        for index in line.indices {
            run = index > 0 && line[index] == line[index - 1] ? run + 1 : 1
            if run == 5 { penalty += 3 } else if run > 5 { penalty += 1 }
        }
        let finder = [true, false, true, true, true, false, true]
        let light = [false, false, false, false]
        for start in 0...(line.count - 11) {
            let part = line[start..<(start + 11)]
            if part.elementsEqual(finder + light) || part.elementsEqual(light + finder) {
                penalty += 40
            }
        }
        return penalty
    }

    // MARK: The terminal

    /// The code with two rows a line and the light border that readers need, dark on light
    /// regardless of the terminal's colours.
    var terminalText: String {
        let border = 4
        func isDark(_ column: Int, _ row: Int) -> Bool {
            0..<size ~= column && 0..<size ~= row && self[column, row]
        }
        var text = ""
        for row in stride(from: -border, to: size + border, by: 2) {
            text += "\u{1B}[30;107m"
            for column in -border..<(size + border) {
                switch (isDark(column, row), isDark(column, row + 1)) {
                case (false, false): text += " "
                case (true, false): text += "\u{2580}"
                case (false, true): text += "\u{2584}"
                case (true, true): text += "\u{2588}"
                }
            }
            text += "\u{1B}[0m\n"
        }
        return text
    }
}

/// Arithmetic on bytes as polynomials modulo x^8 + x^4 + x^3 + x^2 + 1 (ISO/IEC 18004 section 7.5).
private enum GaloisField {
    static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var product: UInt8 = 0
        for bit in (0..<8).reversed() {
            product = product << 1 ^ (product >> 7) * 0x1D
            if right >> bit & 1 != 0 { product ^= left }
        }
        return product
    }

    /// The codewords of error correction: the remainder by the product of (x - 2^i) for each `i`
    /// below `degree`.
    static func remainder(of data: [UInt8], degree: Int) -> [UInt8] {
        var divisor = [UInt8](repeating: 0, count: degree)
        divisor[degree - 1] = 1
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in 0..<degree {
                divisor[index] = product(divisor[index], root)
                if index + 1 < degree { divisor[index] ^= divisor[index + 1] }
            }
            root = product(root, 2)
        }
        var remainder = [UInt8](repeating: 0, count: degree)
        for byte in data {
            let factor = byte ^ remainder.removeFirst()
            remainder.append(0)
            for index in 0..<degree { remainder[index] ^= product(divisor[index], factor) }
        }
        return remainder
    }
}
