/// The natural order of names: `a2` before `A10`, regardless of case.
///
/// Runs of ASCII digits of any length compare as numbers, all other bytes as lower-case UTF-8.
/// Names that are equal in this sense compare by their bytes, so that the order is total.
package struct NaturalOrderKey: Comparable {
    private let folded: [UInt8]
    private let name: [UInt8]

    package init(_ name: [UInt8]) {
        self.name = name
        folded =
            name.allSatisfy { $0 < 0x80 }
            ? name.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
            : Array(String(decoding: name, as: UTF8.self).lowercased().utf8)
    }

    package static func < (left: NaturalOrderKey, right: NaturalOrderKey) -> Bool {
        let order = compare(left.folded, right.folded)
        return order == 0 ? left.name.lexicographicallyPrecedes(right.name) : order < 0
    }

    /// Negative if `left` comes first, positive if `right` comes first, zero if they are equal.
    private static func compare(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var (leftIndex, rightIndex) = (0, 0)
        while leftIndex < left.count, rightIndex < right.count {
            let order: Int
            if isDigit(left[leftIndex]), isDigit(right[rightIndex]) {
                order = compareNumbers(number(in: left, &leftIndex), number(in: right, &rightIndex))
            } else {
                order = Int(left[leftIndex]) - Int(right[rightIndex])
                leftIndex += 1
                rightIndex += 1
            }
            if order != 0 { return order }
        }
        return (left.count - leftIndex) - (right.count - rightIndex)
    }

    /// The digits from the index on, without leading zeros; the index moves past them.
    private static func number(in bytes: [UInt8], _ index: inout Int) -> ArraySlice<UInt8> {
        let start = index
        while index < bytes.count, isDigit(bytes[index]) {
            index += 1
        }
        return bytes[start..<index].drop { $0 == 0x30 }
    }

    private static func compareNumbers(
        _ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>
    ) -> Int {
        guard left.count == right.count else { return left.count - right.count }
        let difference = zip(left, right).first { $0 != $1 }
        return difference.map { Int($0) - Int($1) } ?? 0
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        0x30...0x39 ~= byte
    }
}
