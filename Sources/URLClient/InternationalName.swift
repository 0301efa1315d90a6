/// Converts host names beyond ASCII to the ASCII form for lookup (RFC 5891 section 4).
///
/// libcurl's own conversion depends on the locale of the process, and Foundation's is missing on
/// some systems. Characters that keyboards produce are mapped: capitals, full-width forms, and
/// other full stops.
package enum InternationalName {
    /// The longest label of a name, in bytes (RFC 1035 section 2.3.4).
    private static let labelLimit = 63
    private static let nameLimit = 253

    /// The name in ASCII; nil if it cannot be a host name.
    package static func ascii(_ name: String) -> String? {
        guard name.utf8.count <= nameLimit * 4 else { return nil }
        var labels: [[Unicode.Scalar]] = [[]]
        for scalar in name.lowercased().unicodeScalars {
            switch scalar.value {
            case 0x2E, 0x3002, 0xFF0E, 0xFF61: labels.append([])
            case 0xFF01...0xFF5E:
                // Full-width forms of ASCII; the letters are already in lower case.
                guard let plain = Unicode.Scalar(scalar.value - 0xFEE0) else { return nil }
                labels[labels.count - 1].append(plain)
            // Soft hyphens, joiners and other invisible characters: with them, two different names
            // could look the same.
            case 0xAD, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFE00...0xFE0F, 0xFEFF:
                return nil
            default: labels[labels.count - 1].append(scalar)
            }
        }
        var encoded: [String] = []
        for label in labels {
            guard let text = ascii(label) else { return nil }
            encoded.append(text)
        }
        let text = encoded.joined(separator: ".")
        return text.isEmpty || text.utf8.count > nameLimit ? nil : text
    }

    private static func ascii(_ label: [Unicode.Scalar]) -> String? {
        guard label.contains(where: { !$0.isASCII }) else {
            return String(String.UnicodeScalarView(label))
        }
        guard label.count <= labelLimit, let code = punycode(label) else { return nil }
        let text = "xn--" + code
        return text.utf8.count <= labelLimit ? text : nil
    }

    // MARK: RFC 3492

    private static let (base, tMin, tMax) = (UInt32(36), UInt32(1), UInt32(26))

    /// The label as Punycode: ASCII letters, digits and hyphens (section 6.3).
    private static func punycode(_ label: [Unicode.Scalar]) -> String? {
        var output = label.filter(\.isASCII).map { UInt8($0.value) }
        let basicCount = UInt32(output.count)
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }
        var (next, delta, bias) = (UInt32(0x80), UInt32(0), UInt32(72))
        var handled = basicCount
        while handled < label.count {
            guard let least = label.map(\.value).filter({ $0 >= next }).min() else { return nil }
            let (product, overflow) = (least - next).multipliedReportingOverflow(by: handled + 1)
            let (sum, overflowsSum) = delta.addingReportingOverflow(product)
            guard !overflow, !overflowsSum else { return nil }
            (delta, next) = (sum, least)
            for scalar in label {
                if scalar.value < next { delta += 1 }
                guard scalar.value == next else { continue }
                append(delta, bias, &output)
                bias = adapted(delta, handled + 1, isFirst: handled == basicCount)
                delta = 0
                handled += 1
            }
            delta += 1
            next += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Appends a number of variable length (section 3.3).
    private static func append(_ delta: UInt32, _ bias: UInt32, _ output: inout [UInt8]) {
        var (rest, k) = (delta, base)
        while true {
            let threshold = k <= bias ? tMin : min(k - bias, tMax)
            guard rest >= threshold else { return output.append(digit(rest)) }
            output.append(digit(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
            k += base
        }
    }

    private static func digit(_ value: UInt32) -> UInt8 {
        UInt8(value < 26 ? value + 0x61 : value - 26 + 0x30)
    }

    /// The adapted bias (section 6.1).
    private static func adapted(_ delta: UInt32, _ count: UInt32, isFirst: Bool) -> UInt32 {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var k: UInt32 = 0
        while delta > (base - tMin) * tMax / 2 {
            delta /= base - tMin
            k += base
        }
        return k + (base - tMin + 1) * delta / (delta + 38)
    }
}
