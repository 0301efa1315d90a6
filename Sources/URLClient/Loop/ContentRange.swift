internal import HTTPCodecs
internal import HTTPParser

/// The range of a partial response: `bytes FIRST-LAST/LENGTH`, with `*` for an unknown length (RFC
/// 9110 section 14.4).
struct ContentRange {
    let first: Int64
    let last: Int64
    let total: Int64?

    /// The length in bytes.
    var length: Int64 { last - first + 1 }

    init?(_ value: String?) {
        guard let value, value.utf8.count <= 80, value.lowercased().hasPrefix("bytes ") else {
            return nil
        }
        let ends = value.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        let range = ends[0].split(separator: "-", omittingEmptySubsequences: false)
        guard range.count == 2, let first = Self.number(range[0]),
            let last = Self.number(range[1]), first <= last
        else { return nil }
        let length = ends[1].utf8.elementsEqual("*".utf8) ? nil : Self.number(ends[1])
        guard length != nil || ends[1].utf8.elementsEqual("*".utf8), last < length ?? .max else {
            return nil
        }
        (self.first, self.last, total) = (first, last, length)
    }

    /// The length in `bytes */LENGTH`, the Content-Range of a 416 response; nil for another value.
    static func unsatisfied(_ value: String?) -> Int64? {
        guard let value, value.utf8.count <= 32, value.lowercased().hasPrefix("bytes */") else {
            return nil
        }
        return number(value.dropFirst(8))
    }

    /// A number of at most 18 digits, so that sums of two fit into the type.
    private static func number(_ text: Substring) -> Int64? {
        guard text.utf8.count <= 18 else { return nil }
        return FieldValues.parseDecimal(String(text))
    }
}

// Whether a response fits a partial file.
extension ResumeData {
    /// Whether the response belongs to another version of the file. A server that sends such a part
    /// has ignored If-Range, or compared it wrongly.
    func isOutdated(by response: ClientResponse) -> Bool {
        let fields = response.fields
        let isTag = validator.begins(with: "\"")
        if let current = fields[isTag ? .eTag : .lastModified],
            !current.hasBytes(of: validator)
        {
            return true
        }
        guard let expectedLength, let total = ContentRange(fields[.contentRange])?.total else {
            return false
        }
        return total != expectedLength
    }

    /// Whether the partial file is already complete: the client has asked for bytes after the last
    /// one, and the server answers 416 (RFC 9110 section 15.5.17). This happens when the connection
    /// broke after the content, but before the end of its framing.
    func isWhole(by response: ClientResponse) -> Bool {
        guard response.status == .rangeNotSatisfiable, !isOutdated(by: response),
            // If an earlier response announced another length, the server's content has changed.
            expectedLength ?? offset == offset
        else { return false }
        return offset == ContentRange.unsatisfied(response.fields[.contentRange]) ?? expectedLength
    }
}
