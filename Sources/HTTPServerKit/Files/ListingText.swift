package import HTTPParser

/// Formats names, sizes and times for listings.
package enum ListingText {
    /// A size in binary units, with one decimal below ten: `812 B`, `1.2 KiB`, `34 MiB`.
    ///
    /// Negative sizes count as zero.
    package static func size(_ byteCount: Int64) -> String {
        let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
        guard byteCount >= 1_024 else { return "\(max(0, byteCount)) B" }
        var index = 0
        var (whole, rest) = (byteCount >> 10, byteCount & 1_023)
        // A number that rounds to 1,024 of a unit is shown as 1 of the next unit.
        while whole * 1_024 + rest >= 1_024 * 1_024 - 512, index < units.count - 1 {
            (whole, rest) = (whole >> 10, whole & 1_023)
            index += 1
        }
        let tenths = (whole * 10_240 + rest * 10 + 512) / 1_024
        if tenths < 100 { return "\(tenths / 10).\(tenths % 10) \(units[index])" }
        return "\(whole + (rest >= 512 ? 1 : 0)) \(units[index])"
    }

    /// A time in UTC to the minute, such as `2026-11-21 19:05`.
    package static func time(_ date: HTTPDate) -> String {
        let stamp = CivilTime(secondsSinceEpoch: date.secondsSinceEpoch).rfc3339
        return "\(stamp.prefix(10)) \(stamp.dropFirst(11).prefix(5))"
    }

    /// A name as text that cannot mislead. ASCII control characters become their Unicode symbols.
    /// Other control characters and line separators become escapes, and so do characters that
    /// change the direction of text, which can make `gpj.exe` look like `exe.jpg` (UAX 9 section
    /// 2). Bytes that are not UTF-8 become U+FFFD.
    package static func name(_ bytes: [UInt8]) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        // The first bytes of all characters that are replaced below.
        let mayBeReplaced = bytes.contains { byte in
            switch byte {
            case ..<0x20, 0x7F, 0xC2, 0xD8, 0xE2: true
            default: false
            }
        }
        guard mayBeReplaced else { return text }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isEscaped(scalar) {
                let digits = String(scalar.value, radix: 16, uppercase: true)
                shown.append(contentsOf: "\\u{\(digits)}".unicodeScalars)
            } else {
                shown.append(picture(of: scalar) ?? scalar)
            }
        }
        return String(shown)
    }

    private static func isEscaped(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x80..<0xA0, 0x2028...0x2029: true
        case 0x061C, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    private static func picture(of scalar: Unicode.Scalar) -> Unicode.Scalar? {
        switch scalar.value {
        case 0x00..<0x20: Unicode.Scalar(0x2400 + scalar.value)
        case 0x7F: "\u{2421}"
        default: nil
        }
    }

    /// A number with its noun, such as `1 file` or `12 files`.
    package static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}
