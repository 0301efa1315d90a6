import ArgumentParser
import HTTPParser

/// A number of bytes on the command line: `1000`, `100M`, `5GiB`. K, M, G and T, alone or with `iB`,
/// are powers of 1,024; with `B` alone, as in `MB`, they are powers of 1,000.
struct ByteCount: ExpressibleByArgument, Equatable {
    let bytes: Int64

    init?(argument: String) {
        let digits = argument.utf8.prefix { 0x30...0x39 ~= $0 }
        guard let number = FieldValues.parseDecimal(String(decoding: digits, as: UTF8.self)),
            let unit = Self.unit(argument.utf8.dropFirst(digits.count))
        else { return nil }
        let (product, overflow) = Int64(number).multipliedReportingOverflow(by: unit)
        guard !overflow else { return nil }
        bytes = product
    }

    private static func unit(_ text: Substring.UTF8View) -> Int64? {
        guard let first = text.first else { return 1 }
        let rest = String(decoding: text.dropFirst(), as: UTF8.self).lowercased()
        if first | 0x20 == UInt8(ascii: "b") { return rest.isEmpty ? 1 : nil }
        guard rest.isEmpty || rest == "ib" || rest == "b",
            let power = "kmgt".utf8.enumerated().first(where: { $0.element == first | 0x20 })?
                .offset
        else { return nil }
        return (0...power).reduce(1) { size, _ in size * (rest == "b" ? 1_000 : 1_024) }
    }
}
