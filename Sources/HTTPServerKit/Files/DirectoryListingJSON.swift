internal import HTTPParser

extension DirectoryListing {
    /// The beginning of the listing as a JSON array, in UTF-8, with one object per line.
    ///
    /// Each object has `name`, `type` (`directory` or `file`), `size` (bytes; null for a folder),
    /// `modified` (RFC 3339, UTC) and `href`, the percent-encoded link relative to the folder,
    /// which is exact even if the name is not UTF-8.
    func jsonStart() -> [UInt8] { Array((entries.isEmpty ? "[" : "[\n").utf8) }

    /// The objects of some members.
    func json(_ range: Range<Int>) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(range.count * 160)
        for index in range {
            if index > 0 { output += ",\n".utf8 }
            entries[index].appendJSON(to: &output)
        }
        return output
    }

    /// The text after the members.
    func jsonEnd() -> [UInt8] { Array((entries.isEmpty ? "]\n" : "\n]\n").utf8) }
}

extension DirectoryEntry {
    fileprivate func appendJSON(to output: inout [UInt8]) {
        let time = CivilTime(secondsSinceEpoch: modified.secondsSinceEpoch).rfc3339
        output += "{\"name\":".utf8
        JSONText.append(String(decoding: name, as: UTF8.self), to: &output)
        output += ",\"type\":\"\(isDirectory ? "directory" : "file")\"".utf8
        output += ",\"size\":\(isDirectory ? "null" : String(max(0, size)))".utf8
        output += ",\"modified\":\"\(time)\",\"href\":".utf8
        JSONText.append(PathEncoding.link(to: name, isDirectory: isDirectory), to: &output)
        output += "}".utf8
    }
}

/// Writes JSON strings that are also safe in a script element. RFC 8259, section 7.
package enum JSONText {
    /// Appends the text as a JSON string, with its quotes.
    package static func append(_ text: String, to output: inout [UInt8]) {
        output.append(0x22)
        for scalar in text.unicodeScalars {
            if let escape = escape(scalar) {
                output += escape.utf8
            } else {
                output += UTF8.encode(scalar).map { Array($0) } ?? []
            }
        }
        output.append(0x22)
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "\"": "\\\""
        case "\\": "\\\\"
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        // `</script>` and `<!--` would end or hide the script around the text. U+2028 and U+2029
        // end a line in older versions of JavaScript.
        case "<", "\u{2028}", "\u{2029}", "\u{0}"..<"\u{20}", "\u{7F}": unicodeEscape(scalar)
        default: nil
        }
    }

    private static func unicodeEscape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
