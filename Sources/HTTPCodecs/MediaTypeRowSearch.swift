/// An extension of 1 to 16 bytes in lower case, packed into two words so that a lookup allocates
/// nothing.
struct ExtensionKey: Hashable, Sendable {
    private var high: UInt64 = 0
    private var low: UInt64 = 0

    init?(_ bytes: some Collection<UInt8>) {
        guard !bytes.isEmpty else { return nil }
        var shift: UInt64 = 128
        for byte in bytes {
            // A NUL would be lost in the packing, and extensions contain neither a dot nor a slash.
            guard byte != 0, byte != 0x2E, byte != 0x2F, shift > 0 else { return nil }
            shift -= 8
            let letter = UInt64(0x41...0x5A ~= byte ? byte | 0x20 : byte)
            if shift < 64 { low |= letter << shift } else { high |= letter << (shift - 64) }
        }
    }

    /// The first six bytes of the extension, followed by two zero bytes.
    var firstSix: UInt64 { high & ~0xFFFF }
}

extension MediaTypeRows {
    /// A word for each entry, in the order of the extensions: the first six bytes of the extension,
    /// then two bytes with the number of its text and its offset there. The index has 14 KiB and is
    /// built by the first look-up. A binary search in the rows themselves would take three times as
    /// long.
    private static let index: [UInt64] = {
        var index: [UInt64] = []
        for (number, text) in texts.enumerated() {
            text.withUTF8Buffer { rows in
                precondition(rows.count < 1 << 15, "places of rows have 15 bits")
                var isStart = true
                for place in 0..<rows.count {
                    let isSpace = unsafe isSpace(rows[place])
                    if isStart, !isSpace, let key = unsafe key(rows, at: place) {
                        index.append(key.firstSix | UInt64(number) << 15 | UInt64(place))
                    }
                    isStart = isSpace
                }
            }
        }
        return index
    }()

    /// The value of `Content-Type` for an extension, with `charset=utf-8` for text types; `nil` for
    /// an unknown extension.
    static func contentType(of key: ExtensionKey) -> String? {
        var place = lowerBound(of: key.firstSix)
        while place < index.count, index[place] & ~0xFFFF == key.firstSix {
            let text = texts[Int(index[place] >> 15 & 1)]
            let start = Int(index[place] & 0x7FFF)
            if let type = text.withUTF8Buffer({ unsafe contentType(of: key, $0, at: start) }) {
                return type
            }
            place += 1
        }
        return nil
    }

    /// The position of the first word in the index that is not less than `word`.
    private static func lowerBound(of word: UInt64) -> Int {
        var low = 0
        var high = index.count
        while low < high {
            let middle = low + (high - low) / 2
            if index[middle] < word { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func contentType(
        of key: ExtensionKey, _ rows: UnsafeBufferPointer<UInt8>, at start: Int
    ) -> String? {
        guard unsafe self.key(rows, at: start) == key else { return nil }
        let colon = unsafe end(of: rows, from: start) { $0 == UInt8(ascii: ":") }
        let end = unsafe end(of: rows, from: colon, where: isSpace)
        let letter = unsafe rows[colon + 1]
        let charset: StaticString = letter == UInt8(ascii: "t") ? "; charset=utf-8" : ""
        // The subtype follows the colon, the letter and the slash.
        let subtype = unsafe UnsafeBufferPointer(rebasing: rows[(colon + 3)..<end])
        return unsafe joined(type(of: letter), subtype, charset)
    }

    /// Joins the parts with one allocation; adding strings would need several.
    private static func joined(
        _ type: StaticString, _ subtype: UnsafeBufferPointer<UInt8>, _ charset: StaticString
    ) -> String {
        let count = type.utf8CodeUnitCount + subtype.count + charset.utf8CodeUnitCount
        return unsafe String(unsafeUninitializedCapacity: count) { output in
            var end = type.withUTF8Buffer { unsafe output.update(fromContentsOf: $0) }
            end = unsafe output[end...].update(fromContentsOf: subtype)
            return charset.withUTF8Buffer { unsafe output[end...].update(fromContentsOf: $0) }
        }
    }

    private static func key(
        _ rows: UnsafeBufferPointer<UInt8>, at start: Int
    ) -> ExtensionKey? {
        let colon = unsafe end(of: rows, from: start) { $0 == UInt8(ascii: ":") }
        return unsafe ExtensionKey(rows[start..<colon])
    }

    private static func end(
        of rows: UnsafeBufferPointer<UInt8>, from start: Int, where isEnd: (UInt8) -> Bool
    ) -> Int {
        var end = start
        while end < rows.count, unsafe !isEnd(rows[end]) { end += 1 }
        return end
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n")
    }
}
